import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { RpcError } from "../jsonrpc/error.ts";
import { circle } from "../jsonrpc/test_circle.ts";
import type { Json } from "../store/store.ts";
import { countingStore } from "../store/test_counting_store.ts";
import { resourceTemplate, tool } from "./definition/define.ts";
import { REQUEST_BUDGET } from "./request_budget.ts";
import { client, from, modernHeaders, modernParams, session } from "./test_exchange.ts";
import { DEFINITIONS, newServer, request } from "./test_server.ts";

const test = suite("mcp/request_budget");
const MB = 1_000_000;
const definitions = [
  ...DEFINITIONS,
  resourceTemplate({ uriTemplate: "doc://{id}/{+path}", name: "doc", read: ({ id }) => id }),
  resourceTemplate({ uriTemplate: "db://{a}/{b}{?x,y,z}{#f}", name: "row", read: ({ a }) => a }),
  tool({
    name: "takes",
    description: "Has arguments of many types",
    input: {
      type: "object",
      properties: {
        set: { type: "array", uniqueItems: true },
        word: { type: "string", pattern: "(a|b)*c", maxLength: 4 * MB },
        text: { type: "string", maxLength: MB, pattern: "^[a-z]*$" },
        prices: { type: "array", items: { multipleOf: 0.01 } },
        rows: {
          type: "array",
          items: { anyOf: [{ required: ["x"] }, { required: ["y"] }, { type: "number" }] },
        },
      },
      additionalProperties: { type: "number" },
    },
    run: () => "done",
  }),
  tool({ name: "task", description: "Is a task", task: "required", run: () => "done" }),
  tool({ name: "data", description: "Returns a circle as data", run: () => circle() }),
  tool({
    name: "result",
    description: "Returns a circle in a result",
    run: () => ({ content: [], _meta: { circle: circle() } }),
  }),
  tool({
    name: "structured",
    description: "Returns structured content with a circle",
    output: { type: "object" },
    run: () => circle(),
  }),
  tool({
    name: "error",
    description: "Throws an error with a circle",
    run() {
      throw new RpcError(42, "Forty-two", circle());
    },
  }),
  tool({
    name: "once",
    description: "Keeps a circle",
    run: (_, { once }) => once("key", () => circle() as Json),
  }),
];

/** A list with items of `size` characters in total. */
function fill(size: number, write: (i: number) => string, open = "[", close = "]"): string {
  const items: string[] = [];
  for (let length = 0, i = 0; length < size; i++) length += items[items.push(write(i)) - 1]!.length + 1;
  return open + items.join(",") + close;
}

const call = (name: string, args: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
const rpc = (method: string, params: unknown, id: unknown = 1) => JSON.stringify(request(method, params, id));
const uri = "doc://a/" + "b/".repeat(4000);

const LARGE: readonly [what: string, body: string][] = [
  ["a batch of responses", fill(4 * MB, () => '{"jsonrpc":"2.0","id":"x","result":0}')],
  [
    "a batch of a hundred subscriptions",
    fill(0.7 * MB, (i) => rpc("resources/subscribe", { uri: uri.slice(0, 7000) + i })),
  ],
  ["many members", call("takes", fill(4 * MB, (i) => `"x${i}":0`, "{", "}"))],
  ["the maximum of members", call("takes", fill(0.2 * MB, (i) => `"x${i}":0`, "{", "}"))],
  ["the maximum of unique numbers", call("takes", `{"set":${fill(2 * MB, String)}}`)],
  ["unique objects", call("takes", `{"set":${fill(0.2 * MB, (i) => `{"k":${i}}`)}}`)],
  ["unique lists", call("takes", `{"set":${fill(0.5 * MB, (i) => `[${i},[[${i}]]]`)}}`)],
  ["decimals", call("takes", `{"prices":${fill(MB, (i) => `${i}.99e-30`)}}`)],
  ["alternatives", call("takes", `{"rows":${fill(0.2 * MB, (i) => `{"z":${i}}`)}}`)],
  ["a string for a pattern with backtracking", call("takes", `{"word":"${"ab".repeat(2 * MB - 100)}"}`)],
  ["a string for a simple pattern", call("takes", `{"text":"${"a".repeat(4 * MB - 200)}"}`)],
  ["nested lists", "[".repeat(4 * MB)],
  ["white space", `${" ".repeat(4 * MB)}1`],
  ["colons", ":".repeat(4 * MB)],
  ["closing brackets", `[${"]".repeat(4 * MB - 1)}`],
  ["backslashes", call("takes", `{"text":"${"\\\\".repeat(2 * MB - 100)}"}`)],
  ["an id", rpc("ping", {}, "x".repeat(4 * MB))],
  ["a method", rpc("x".repeat(4 * MB), {})],
  ["a name", rpc("tools/call", { name: "x".repeat(4 * MB) })],
  ["a cursor", rpc("tools/list", { cursor: "x".repeat(4 * MB) })],
  ["a URI", rpc("resources/read", { uri: uri.repeat(500) })],
  ["a URI of the maximum length", rpc("resources/read", { uri: uri.slice(0, 8192) })],
  ["a URI of a template with options", rpc("resources/read", { uri: "db://a/" + "b,".repeat(4000) })],
  ["a URI of resources/unsubscribe", rpc("resources/unsubscribe", { uri: uri.repeat(500) })],
  [
    "a value to complete",
    rpc("completion/complete", {
      ref: { type: "ref/prompt", name: "ask" },
      argument: { name: "x".repeat(4 * MB), value: "" },
    }),
  ],
  ["a level", rpc("logging/setLevel", { level: "x".repeat(4 * MB) })],
  [
    "capabilities",
    rpc("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: { x: "x".repeat(4 * MB) },
      clientInfo: { name: "x".repeat(MB) },
    }),
  ],
];

for (const [what, body] of LARGE) {
  test(`a large request with ${what} shares the event loop`, async () => {
    const { server } = newServer({ definitions, bodyLimit: 4_194_304 });
    const own = await session(server, { revision: "2025-03-26" });
    await own.request("ping");
    await assertLoopIsFree(async () => (await own.fetch(body)).text());
    await assertLoopIsFree(async () => (await client(server).fetch(body)).text());
  });
}

for (
  const [method, params] of [
    ["subscriptions/listen", {
      notifications: { resourceSubscriptions: Array(1000).fill(uri.slice(0, 4000)) },
    }],
    ["subscriptions/listen", {
      notifications: { resourceSubscriptions: Array(8).fill("db://a/" + "b,".repeat(4000)) },
    }],
    ["tasks/get", { taskId: "x".repeat(4 * MB) }],
    ["tools/call", { name: "takes", arguments: {}, requestState: "x".repeat(4 * MB) }],
    ["tools/call", {
      name: "takes",
      arguments: {},
      inputResponses: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [i, {}])),
    }],
    ["tools/call", { name: "task", arguments: { text: "x".repeat(4 * MB - 1000) } }],
  ] as const
) {
  test(`2026-07-28: a large ${method} shares the event loop: ${JSON.stringify(params).slice(0, 60)}`, async () => {
    const { server } = newServer({ definitions, bodyLimit: 4_194_304 });
    const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: modernParams(params, capabilities),
    });
    const headers = modernHeaders(method, "name" in params ? { name: params.name } : {});
    await assertLoopIsFree(async () => {
      const response = await client(server).fetch(body, headers);
      await response.body?.cancel();
    });
  });
}

test("matching a URI with many templates shares the event loop", async () => {
  const many = Array.from(
    { length: 25 },
    (_, i) =>
      resourceTemplate({
        uriTemplate: `many://${"{+a}".repeat(16)}!x${i}`,
        name: `many${i}`,
        read: () => "x",
      }),
  );
  const { server } = newServer({ definitions: many });
  const long = "many://" + "a".repeat(8000);
  const own = await session(server, { revision: "2025-03-26" });
  const read = (id: number) => request("resources/read", { uri: long }, id);
  await assertLoopIsFree(async () => (await own.fetch([1, 2, 3].map(read))).text());
  await assertLoopIsFree(async () => {
    await (await own.fetch(request("resources/subscribe", { uri: long }))).text();
  });
  const params = modernParams({ notifications: { resourceSubscriptions: [long, long + "b"] } });
  await assertLoopIsFree(async () => {
    const listen = request("subscriptions/listen", params);
    await (await client(server).fetch(listen, modernHeaders("subscriptions/listen"))).body?.cancel();
  });
});

test("a circle in a list is refused without holding the event loop", async () => {
  const circular = tool({ name: "circular", description: "Is a circle", _meta: circle(), run: () => "x" });
  const listed = { uri: "row://1", name: "row", _meta: circle() };
  const rows = resourceTemplate({
    uriTemplate: "row://{id}",
    name: "rows",
    list: () => Promise.resolve([listed]),
    read: ({ id }) => id,
  });
  await assertLoopIsFree(() => {
    assert.throws(() => newServer({ definitions: [circular] }), /^Cannot define "circular"/);
    return Promise.resolve();
  });
  const { server } = newServer({ definitions: [rows] });
  await assertLoopIsFree(async () => {
    assert.match(await (await client(server).fetch(rpc("resources/list", {}))).text(), "-32603");
  });
});

for (const name of ["data", "result", "structured", "error", "once"]) {
  test(`a circle is refused without holding the event loop: ${name}`, async () => {
    const { server } = newServer({ definitions });
    await assertLoopIsFree(async () => {
      const legacy = await (await client(server).fetch(call(name, "{}"))).text();
      assert.match(legacy, /-32603|"isError":true/);
      const body = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: modernParams({ name, arguments: {} }),
      };
      const modern = await client(server).fetch(JSON.stringify(body), modernHeaders("tools/call", { name }));
      assert.match(await modern.text(), /-32603|"isError":true/);
    });
  });
}

test("stored bytes and store calls of each request are within the budget", async () => {
  const { store, calls, written } = countingStore();
  const { server } = newServer({ store, definitions, bodyLimit: 4_194_304 });
  const near = from(server, "198.51.100.7");
  const own = await session(near, { revision: "2025-03-26" });
  const { storeCalls, storeCallsPerMember, storedBytesPerMember, storedBytesPerByte } = REQUEST_BUDGET;
  const batch = (write: (i: number) => unknown) => Array.from({ length: 100 }, (_, i) => write(i));
  const subscribe = (i: number) => request("resources/subscribe", { uri: uri.slice(0, 100) + i }, i);
  const post = (body: unknown) => () => own.fetch(body);
  const modernPost = (method: string, params: Record<string, unknown>) => () =>
    client(near).fetch(
      request(method, modernParams(params, { extensions: { "io.modelcontextprotocol/tasks": {} } })),
      modernHeaders(method, params),
    );
  for (
    const [what, members, bytes, send] of [
      ["ping", 1, 100, post(request("ping"))],
      ["a call", 1, 100, post(request("tools/call", { name: "add", arguments: { a: 1 } }))],
      ["subscriptions", 100, 200 * 100, post(batch(subscribe))],
      ["repeated subscriptions", 100, 200 * 100, post(batch(subscribe))],
      [
        "unsubscriptions",
        100,
        200 * 100,
        post(batch((i) => ({ ...subscribe(i), method: "resources/unsubscribe" }))),
      ],
      ["levels", 100, 100 * 100, post(batch((i) => request("logging/setLevel", { level: "info" }, i)))],
      ["responses", 100, 40 * 100, post(batch((i) => ({ jsonrpc: "2.0", id: `${i}`, result: 0 })))],
      [
        "cancellations",
        100,
        80 * 100,
        post(batch((i) => ({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: i } }))),
      ],
      ["a stream", 1, 200, () => own.other("GET")],
      [
        "tasks",
        100,
        4000,
        modernPost("subscriptions/listen", { notifications: { taskIds: batch((i) => "t".repeat(40) + i) } }),
      ],
      [
        "a task",
        1,
        100_000,
        modernPost("tools/call", { name: "task", arguments: { text: "x".repeat(100_000) } }),
      ],
      ["the end", 1, 200, () => own.other("DELETE")],
    ] as const
  ) {
    const before = [calls(), written()] as const;
    const response = await send();
    assert.ok(response.status < 300, `${what}: ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
    await response.body?.cancel();
    const [called, wrote] = [calls() - before[0], written() - before[1]];
    assert.ok(called <= storeCalls + storeCallsPerMember * members, `${what}: ${called} store calls`);
    assert.ok(
      wrote <= storedBytesPerMember * members + storedBytesPerByte * bytes,
      `${what}: ${wrote} bytes stored`,
    );
  }
});

test.run();
