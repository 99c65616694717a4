/**
 * Large requests to the tool server, of the kind that attackers send to make it slow.
 *
 * @module
 */
import type { Heavy, HeavyKind } from "./heavy_kind.ts";
import { createArray, createBody, createText } from "./heavy_text.ts";
import type { Random } from "./random.ts";

const MODERN = "2026-07-28";
const STREAMABLE = "application/json, text/event-stream";

/** Creates a message of 2026-07-28 with its header fields. */
function createModern(
  method: string,
  params: Record<string, unknown>,
): { text: string; fields: HeadersInit } {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": { name: "f", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, sampling: {}, roots: {} },
  };
  const name = params.name ?? params.uri;
  return {
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    fields: {
      accept: STREAMABLE,
      "mcp-protocol-version": MODERN,
      "mcp-method": method,
      ...(typeof name === "string" && name.length < 8000 && { "mcp-name": name }),
    },
  };
}

const rpc = (method: string, params: unknown, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

const TEXTS: readonly ((random: Random, size: number) => string)[] = [
  // Batches of requests, responses and invalid values.
  (_, size) => createArray(size, '{"jsonrpc":"2.0","id":"x","result":0}'),
  (_, size) => createArray(size, '{"jsonrpc":"2.0","id":1,"method":"ping"}'),
  (_, size) => createArray(size, '{"jsonrpc":"2.0","method":"notifications/initialized"}'),
  (_, size) =>
    createArray(
      size,
      rpc("tools/call", { name: "compute", arguments: { a: "x".repeat(900), list: [1, 2, 3] } }),
    ),
  (_, size) =>
    createArray(size, (i) => rpc("resources/subscribe", { uri: `doc://${i}/` + "u".repeat(8000) }, i)),
  (_, size) => createArray(size, (i) => rpc("resources/subscribe", { uri: `doc://${i}/a` }, i)),
  (_, size) => createArray(size, (i) => rpc("resources/read", { uri: `doc://${i}/` + "a/".repeat(200) }, i)),
  (_, size) =>
    createArray(size, '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'),
  (random, size) => createArray(size, random.pick(["1", "[]", "{}", "null", '""', '{"a":{}}'])),
  // One large message.
  (random, size) => "[".repeat(size) + random.pick(["", "]".repeat(size)]),
  (_, size) => '{"a":'.repeat(size / 5) + "1" + "}".repeat(size / 5),
  (random, size) => rpc("tools/call", { name: "compute", arguments: { a: createText(random, size) } }),
  (_, size) =>
    `{"jsonrpc":"2.0","id":1,"method":"ping","params":{${createArray(size, (i) => `"${i}":0`, "")}}}`,
  (_, size) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compute","arguments":{"list":${
      createArray(size, (i) => String(i))
    }}}}`,
  (_, size) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compute","arguments":{"set":${
      createArray(size, (i) => `{"k":${i}}`)
    }}}}`,
  (_, size) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compute","arguments":{${
      createArray(size, (i) => `"x${i}":0`, "")
    }}}}`,
  (random, size) => rpc("tools/call", { name: "compute", arguments: { word: createText(random, size) } }),
  (random, size) => rpc("ping", {}, createText(random, size)),
  (random, size) => rpc(createText(random, size), {}),
  (random, size) => rpc("tools/call", { name: createText(random, size) }),
  (random, size) => rpc("tools/list", { cursor: createText(random, size) }),
  (random, size) => rpc("resources/read", { uri: "doc://" + createText(random, size) }),
  (_, size) => rpc("resources/read", { uri: "doc://" + "a/".repeat(size / 2) }),
  (random, size) =>
    rpc("completion/complete", {
      ref: { type: "ref/resource", uri: "doc://{name}/{+path}" },
      argument: { name: "name", value: createText(random, size) },
    }),
  (random, size) =>
    rpc("initialize", {
      protocolVersion: random.pick(["2025-11-25", "2025-06-18", "2025-03-26"]),
      capabilities: { experimental: { x: createText(random, size) } },
      clientInfo: { name: createText(random, 1000), version: "1" },
    }),
  (random, size) =>
    rpc("tools/call", { name: "compute", arguments: {}, _meta: { progressToken: createText(random, size) } }),
  (random, size) => rpc("logging/setLevel", { level: createText(random, size) }),
  (random, size) =>
    JSON.stringify({ jsonrpc: "2.0", id: createText(random, size), result: createText(random, 10) }),
];

const MODERN_TEXTS: readonly ((random: Random, size: number) => [string, Record<string, unknown>])[] = [
  (_, size) => ["subscriptions/listen", {
    notifications: { resourceSubscriptions: createMany(size, (i) => `doc://${i}/` + "a/".repeat(2000)) },
  }],
  (_, size) => ["subscriptions/listen", {
    notifications: { resourceSubscriptions: createMany(size, (i) => `doc://${i}/a`) },
  }],
  (random, size) => ["tools/call", { name: "compute", arguments: { a: createText(random, size) } }],
  (
    random,
    size,
  ) => ["tools/call", { name: "compute", arguments: {}, requestState: createText(random, size) }],
  (random, size) => ["tools/call", {
    name: "compute",
    arguments: {},
    inputResponses: { k: { action: "accept", content: { x: createText(random, size) } } },
  }],
  (_, size) => ["tools/call", {
    name: "compute",
    arguments: {},
    inputResponses: Object.fromEntries(
      createMany(size, (i) => `${i}`).map((key) => [key, { action: "cancel" }]),
    ),
  }],
  (random, size) => ["resources/read", { uri: "doc://" + createText(random, Math.min(size, 60_000)) }],
  (random, size) => ["tasks/get", { taskId: createText(random, size) }],
  (random, size) => ["tools/list", { cursor: createText(random, size) }],
  (random, size) => ["server/discover", { x: createText(random, size) }],
  (random, size) => ["prompts/get", { name: "plan", arguments: { what: createText(random, size) } }],
];

function createMany(size: number, make: (index: number) => string): string[] {
  const all: string[] = [];
  for (let bytes = 0, i = 0; bytes < size; i++) {
    all.push(make(i));
    bytes += all.at(-1)!.length + 3;
  }
  return all;
}

export const heavyMcp: HeavyKind = {
  async next(random, { origin, fetch }): Promise<Heavy> {
    const size = random.pick([1000, 20_000, 200_000, 1_000_000, 4_100_000]);
    const isModern = random.oneIn(3);
    const headers = new Headers({ "content-type": "application/json" });
    let text: string;
    let label: string;
    if (isModern) {
      const index = random.below(MODERN_TEXTS.length);
      const [method, params] = MODERN_TEXTS[index]!(random, size);
      const modern = createModern(method, params);
      for (const [name, value] of Object.entries(modern.fields)) {
        headers.set(name, value.replace(/[^\x20-\x7e]/g, "?").trim());
      }
      text = modern.text;
      label = `modern ${index} ${method}`;
    } else {
      const index = random.below(TEXTS.length);
      text = TEXTS[index]!(random, size);
      label = `legacy ${index}`;
      headers.set("accept", random.pick([STREAMABLE, "application/json"]));
      if (random.oneIn(2)) {
        const revision = random.pick(["2025-11-25", "2025-06-18", "2025-03-26", "2025-03-26", "2025-03-26"]);
        const opened = await fetch(
          new Request(`${origin}/mcp`, {
            method: "POST",
            headers: { "content-type": "application/json", accept: STREAMABLE },
            body: rpc("initialize", {
              protocolVersion: revision,
              capabilities: {},
              clientInfo: { name: "f", version: "1" },
            }),
          }),
        );
        await opened.text();
        const id = opened.headers.get("mcp-session-id");
        if (id !== null) headers.set("mcp-session-id", id);
        headers.set("mcp-protocol-version", revision);
        label += ` in ${revision}`;
      }
    }
    return {
      endpoint: "/mcp",
      label: `${label}, ${text.length} bytes`,
      bytes: text.length,
      members: Math.max(1, text.split('"jsonrpc"').length - 1),
      request: () =>
        new Request(
          `${origin}/mcp`,
          { method: "POST", headers, ...createBody(random, text) } as RequestInit,
        ),
    };
  },
};
