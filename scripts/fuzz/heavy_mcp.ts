/**
 * Large requests to the tool server: what a stranger would send to make it work hard.
 *
 * @module
 */
import type { Heavy, HeavyKind } from "./heavy_kind.ts";
import { fill, long, pieces } from "./heavy_words.ts";
import type { Random } from "./random.ts";

const MODERN = "2026-07-28";
const STREAMABLE = "application/json, text/event-stream";

/** A message of 2026-07-28. */
function modern(method: string, params: Record<string, unknown>): { text: string; fields: HeadersInit } {
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
  // Batches, of requests, answers and garbage.
  (_, size) => fill(size, '{"jsonrpc":"2.0","id":"x","result":0}'),
  (_, size) => fill(size, '{"jsonrpc":"2.0","id":1,"method":"ping"}'),
  (_, size) => fill(size, '{"jsonrpc":"2.0","method":"notifications/initialized"}'),
  (_, size) =>
    fill(size, rpc("tools/call", { name: "compute", arguments: { a: "x".repeat(900), list: [1, 2, 3] } })),
  (_, size) => fill(size, (i) => rpc("resources/subscribe", { uri: `doc://${i}/` + "u".repeat(8000) }, i)),
  (_, size) => fill(size, (i) => rpc("resources/subscribe", { uri: `doc://${i}/a` }, i)),
  (_, size) => fill(size, (i) => rpc("resources/read", { uri: `doc://${i}/` + "a/".repeat(200) }, i)),
  (_, size) => fill(size, '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'),
  (random, size) => fill(size, random.pick(["1", "[]", "{}", "null", '""', '{"a":{}}'])),
  // One message, large.
  (random, size) => "[".repeat(size) + random.pick(["", "]".repeat(size)]),
  (_, size) => '{"a":'.repeat(size / 5) + "1" + "}".repeat(size / 5),
  (random, size) => rpc("tools/call", { name: "compute", arguments: { a: long(random, size) } }),
  (_, size) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{${fill(size, (i) => `"${i}":0`, "")}}}`,
  (_, size) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compute","arguments":{"list":${
      fill(size, (i) => String(i))
    }}}}`,
  (_, size) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compute","arguments":{"set":${
      fill(size, (i) => `{"k":${i}}`)
    }}}}`,
  (_, size) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"compute","arguments":{${
      fill(size, (i) => `"x${i}":0`, "")
    }}}}`,
  (random, size) => rpc("tools/call", { name: "compute", arguments: { word: long(random, size) } }),
  (random, size) => rpc("ping", {}, long(random, size)),
  (random, size) => rpc(long(random, size), {}),
  (random, size) => rpc("tools/call", { name: long(random, size) }),
  (random, size) => rpc("tools/list", { cursor: long(random, size) }),
  (random, size) => rpc("resources/read", { uri: "doc://" + long(random, size) }),
  (_, size) => rpc("resources/read", { uri: "doc://" + "a/".repeat(size / 2) }),
  (random, size) =>
    rpc("completion/complete", {
      ref: { type: "ref/resource", uri: "doc://{name}/{+path}" },
      argument: { name: "name", value: long(random, size) },
    }),
  (random, size) =>
    rpc("initialize", {
      protocolVersion: random.pick(["2025-11-25", "2025-06-18", "2025-03-26"]),
      capabilities: { experimental: { x: long(random, size) } },
      clientInfo: { name: long(random, 1000), version: "1" },
    }),
  (random, size) =>
    rpc("tools/call", { name: "compute", arguments: {}, _meta: { progressToken: long(random, size) } }),
  (random, size) => rpc("logging/setLevel", { level: long(random, size) }),
  (random, size) => JSON.stringify({ jsonrpc: "2.0", id: long(random, size), result: long(random, 10) }),
];

const MODERN_TEXTS: readonly ((random: Random, size: number) => [string, Record<string, unknown>])[] = [
  (_, size) => ["subscriptions/listen", {
    notifications: { resourceSubscriptions: many(size, (i) => `doc://${i}/` + "a/".repeat(2000)) },
  }],
  (_, size) => ["subscriptions/listen", {
    notifications: { resourceSubscriptions: many(size, (i) => `doc://${i}/a`) },
  }],
  (random, size) => ["tools/call", { name: "compute", arguments: { a: long(random, size) } }],
  (random, size) => ["tools/call", { name: "compute", arguments: {}, requestState: long(random, size) }],
  (random, size) => ["tools/call", {
    name: "compute",
    arguments: {},
    inputResponses: { k: { action: "accept", content: { x: long(random, size) } } },
  }],
  (_, size) => ["tools/call", {
    name: "compute",
    arguments: {},
    inputResponses: Object.fromEntries(many(size, (i) => `${i}`).map((key) => [key, { action: "cancel" }])),
  }],
  (random, size) => ["resources/read", { uri: "doc://" + long(random, Math.min(size, 60_000)) }],
  (random, size) => ["tasks/get", { taskId: long(random, size) }],
  (random, size) => ["tools/list", { cursor: long(random, size) }],
  (random, size) => ["server/discover", { x: long(random, size) }],
  (random, size) => ["prompts/get", { name: "plan", arguments: { what: long(random, size) } }],
];

function many(size: number, make: (index: number) => string): string[] {
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
      const made = modern(method, params);
      for (const [name, value] of Object.entries(made.fields)) {
        headers.set(name, value.replace(/[^\x20-\x7e]/g, "?").trim());
      }
      text = made.text;
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
          { method: "POST", headers, ...pieces(random, text) } as RequestInit,
        ),
    };
  },
};
