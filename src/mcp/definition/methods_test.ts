import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RpcError } from "../../jsonrpc/error.ts";
import { prompt, resource, tool } from "./define.ts";
import { ToolError } from "./definition.ts";
import { ScopeError } from "../error.ts";
import { call, DEFINITIONS, newServer, request, STREAMABLE } from "../test_server.ts";

const test = suite("mcp/definition/methods");

for (
  const [requested, negotiated] of [
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-03-26"],
    ["2024-11-05", "2024-11-05"],
    ["2026-07-28", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
    ["", "2025-11-25"],
  ]
) {
  test(`initialize with "${requested}" negotiates ${negotiated}`, async () => {
    const params = { protocolVersion: requested, capabilities: {}, clientInfo: { name: "c", version: "1" } };
    const { body } = await newServer().post(request("initialize", params));
    assert.equal(body.result, {
      protocolVersion: negotiated,
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
      },
      serverInfo: { name: "test", version: "1.2.3" },
      instructions: "Be brief.",
    });
  });
}

test("initialize returns only the capabilities of the definitions", async () => {
  const { post } = newServer({ definitions: DEFINITIONS.slice(0, 1), instructions: undefined });
  const { result } = (await post(request("initialize", { protocolVersion: "2025-11-25" }))).body;
  assert.equal(result.capabilities, { tools: { listChanged: true }, logging: {} });
  assert.not.ok("instructions" in result);
  assert.is((await post(request("resources/list"))).body.error.code, -32601);
  assert.is((await post(request("prompts/list"))).body.error.code, -32601);
});

for (
  const params of [
    undefined,
    {},
    { protocolVersion: 1 },
    { protocolVersion: "2025-11-25", capabilities: [] },
    {
      protocolVersion: "2025-11-25",
      clientInfo: "me",
    },
  ]
) {
  test(`initialize with ${JSON.stringify(params)} is refused with -32602`, async () => {
    assert.is((await newServer().post(request("initialize", params))).body.error.code, -32602);
  });
}

test("a request before initialize is answered", async () => {
  assert.is((await newServer().post(request("tools/list"), STREAMABLE)).status, 200);
});

test("tools/list returns the tools in the order of definition", async () => {
  const { tools } = (await newServer().post(request("tools/list", {}))).body.result;
  assert.equal(tools.map((each: { name: string }) => each.name), [
    "add",
    "greet",
    "no_input",
    "refuse",
    "break",
  ]);
  assert.equal(tools[0], {
    name: "add",
    title: "Add",
    description: "Adds two numbers",
    inputSchema: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number", default: 1 } },
      required: ["a"],
    },
  });
  assert.equal(tools[1].outputSchema.required, ["greeting"]);
  assert.equal(tools[2].inputSchema, { type: "object", additionalProperties: false });
});

test("tools/call applies defaults of the schema, and omitted arguments are an empty object", async () => {
  const { post } = newServer();
  assert.equal((await post(call("add", { a: 1, b: 2 }))).body.result, {
    content: [{ type: "text", text: "3" }],
  });
  assert.equal((await post(call("add", { a: 1 }))).body.result.content[0].text, "2");
  assert.equal((await post(request("tools/call", { name: "no_input" }))).body.result.content[0].text, "done");
});

test("tools/call with an output schema returns structured content and text", async () => {
  const { result } = (await newServer().post(call("greet", { name: "Ann" }))).body;
  assert.equal(result, {
    content: [{ type: "text", text: '{"greeting":"Hello, Ann"}' }],
    structuredContent: { greeting: "Hello, Ann" },
  });
});

for (
  const [name, args, what] of [
    ["add", {}, /\/a/],
    ["add", { a: "1" }, /\/a/],
    ["greet", {}, /name/],
    ["greet", { name: 7 }, /\/name: .*string/],
    ["greet", { name: "x".repeat(11) }, /\/name: .*\b10\b/],
  ] as const
) {
  test(`tools/call: ${name}(${JSON.stringify(args)}) returns isError and the path`, async () => {
    for (const headers of [{}, STREAMABLE]) {
      const { status, body } = await newServer().post(call(name, args), headers as Record<string, string>);
      assert.is(status, 200);
      assert.is(body.result.isError, true);
      assert.match(body.result.content[0].text, what);
    }
  });
}

test("tools/call returns the message of a ToolError, and reports other errors only to the observer", async () => {
  const { post, events } = newServer();
  assert.equal((await post(call("refuse"))).body.result, {
    content: [{ type: "text", text: "Ask for less" }],
    isError: true,
  });
  const broken = await post(call("break"));
  assert.is(broken.status, 200);
  assert.is(broken.body.result.isError, true);
  assert.not.match(JSON.stringify(broken.body), "hunter2");
  const [fault] = events.filter((event) => event.type === "fault");
  assert.match(String(fault && "error" in fault && fault.error), "hunter2");
});

test("the event of a call names the user and the client, or the client alone", async () => {
  const scopes = new Set<string>();
  for (
    const [caller, principal, client] of [
      [{ subject: "user_1", client: "app", workspace: "w", scopes }, "user_1", "app"],
      [{ client: "key_1", workspace: "w", scopes }, "key_1", "key_1"],
    ] as const
  ) {
    const { post, events } = newServer({ identify: () => Promise.resolve(caller) });
    await post(call("add", { a: 1 }));
    const called = events.filter(({ type }) => type === "tool_called");
    assert.equal(called, [{ type: "tool_called", name: "add", principal, client, failed: false }]);
  }
});

test("tools/call: a result that does not match the output schema is a fault", async () => {
  const { post, events } = newServer();
  assert.is((await post(call("greet", { name: "invalid" }))).body.result.isError, true);
  assert.is(events.filter((event) => event.type === "fault").length, 1);
});

test("tools/call refuses names of Object.prototype as unknown tools", async () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    assert.is((await newServer().post(call(name), STREAMABLE)).body.error.code, -32602);
  }
});

test("resources are listed, and read as text or base64", async () => {
  const { post } = newServer();
  assert.equal((await post(request("resources/list"))).body.result.resources, [
    { uri: "test://text", name: "text", description: "Text", mimeType: "text/plain" },
    { uri: "test://bytes", name: "bytes", mimeType: "image/png" },
  ]);
  assert.equal((await post(request("resources/templates/list"))).body.result.resourceTemplates, [
    { uriTemplate: "test://things/{id}/{+path}", name: "thing" },
  ]);
  const read = async (uri: string) => (await post(request("resources/read", { uri }))).body.result.contents;
  assert.equal(await read("test://text"), [{ uri: "test://text", mimeType: "text/plain", text: "hello" }]);
  assert.equal(await read("test://bytes"), [{ uri: "test://bytes", mimeType: "image/png", blob: "AQL/" }]);
  const uri = "test://things/a%20b/c/d%2Fe";
  assert.equal(await read(uri), [{ uri, mimeType: "text/markdown", text: "a b: c/d/e" }]);
});

test("resources/read refuses an unknown resource with -32002 and its URI", async () => {
  for (const uri of ["test://none", "test://things/none/x", "test://things/%ff/x", "", "not a uri"]) {
    const { body } = await newServer().post(request("resources/read", { uri }), STREAMABLE);
    assert.is(body.error.code, -32002);
    assert.is(body.error.data.uri, uri);
  }
});

test("prompts are listed and returned, and a missing or invalid argument is refused with -32602", async () => {
  const { post } = newServer();
  assert.equal((await post(request("prompts/list"))).body.result.prompts, [{
    name: "ask",
    description: "Asks",
    arguments: [{ name: "what", required: true }, { name: "how" }],
  }]);
  assert.equal(
    (await post(request("prompts/get", { name: "ask", arguments: { what: "Why", extra: 1 } }))).body.result,
    {
      description: "Asks",
      messages: [{ role: "user", content: { type: "text", text: "Why plainly" } }],
    },
  );
  for (const args of [undefined, {}, { what: 1 }, { what: null }, []]) {
    assert.is((await post(request("prompts/get", { name: "ask", arguments: args }))).body.error.code, -32602);
  }
});

test("bytes in complete contents are sent as base64", async () => {
  const contents = [
    { uri: "test://folder/a", blob: Uint8Array.of(1, 2), mimeType: "image/png" },
    { uri: "test://folder/b", text: "b" },
    { uri: "test://folder/c", blob: "AQI=" },
  ];
  const folder = resource({ uri: "test://folder", name: "folder", read: () => ({ contents }) });
  const { post } = newServer({ definitions: [folder] });
  assert.equal((await post(request("resources/read", { uri: "test://folder" }))).body.result.contents, [
    { uri: "test://folder/a", blob: "AQI=", mimeType: "image/png" },
    contents[1],
    contents[2],
  ]);
});

test("a prompt or resource that returns something else is a fault that names it", async () => {
  const text = { type: "text", text: "x" };
  const part = { uri: "test://wrong" };
  const cases: [method: string, value: unknown][] = [
    ...[undefined, null, 1, {}, { messages: "x" }, [{ role: "user", content: "x" }], [null], [text]].map((
      value,
    ): [string, unknown] => ["prompts/get", value]),
    ...[
      { role: "system", content: text },
      { content: text },
      { role: "user", content: { ...text, text: 5 } },
      {
        role: "user",
        content: {},
      },
    ].map((message): [string, unknown] => ["prompts/get", [message]]),
    ...[null, { text: "x" }, part, { ...part, text: 5 }, { ...part, blob: 5 }].map(
      (contents): [string, unknown] => ["resources/read", { contents: [contents] }],
    ),
    ...[undefined, null, 1, {}, [], { content: 1 }, { contents: "x" }, new ArrayBuffer(1)].map((
      value,
    ): [string, unknown] => ["resources/read", value]),
  ];
  for (const [method, value] of cases) {
    const { post, events } = newServer({
      definitions: [
        prompt({ name: "wrong", get: () => value as never }),
        resource({ uri: "test://wrong", name: "wrong", read: () => value as never }),
      ],
    });
    const params = method === "prompts/get" ? { name: "wrong" } : { uri: "test://wrong" };
    const what = `${method} ${JSON.stringify(value)}`;
    assert.is((await post(request(method, params), STREAMABLE)).body.error?.code, -32603, what);
    const [fault] = events.filter(({ type }) => type === "fault");
    const error = (fault as { error?: unknown } | undefined)?.error;
    assert.ok(error instanceof TypeError && error.message.includes('wrong"'), `${what}: ${error}`);
  }
});

test("a handler may destructure its context", async () => {
  const { post } = newServer({
    definitions: [tool({
      name: "apart",
      description: "Destructures its context",
      async run(_, { progress, log, can, once, waitUntil, principal, signal, revision }) {
        await progress(1);
        await log("info", "x");
        waitUntil(Promise.resolve());
        return [await once("a", () => 1), can("roots"), principal?.client, signal.aborted, revision];
      },
    })],
  });
  const { body } = await post(call("apart"));
  assert.is(body.result.content[0].text, '[1,false,null,false,"2025-11-25"]');
});

test("a complete result must match the output schema, unless it is an error", async () => {
  const full = (result: unknown) =>
    newServer({
      definitions: [tool({
        name: "full",
        description: "Gives a result in full",
        output: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
        run: () => result as never,
      })],
    }).post(call("full"));
  const content = [{ type: "text", text: "x" }];
  const good =
    (await full({ content, structuredContent: { a: 1 }, _meta: { "example.com/x": 1 } })).body.result;
  assert.equal(good, { content, structuredContent: { a: 1 }, _meta: { "example.com/x": 1 } });
  assert.is((await full({ content, structuredContent: { a: "1" } })).body.result.isError, true);
  assert.is((await full({ content })).body.result.isError, true);
  assert.equal((await full({ content, isError: true })).body.result, { content, isError: true });
});

test("errors of another copy of this package are recognized", async () => {
  class Foreign extends Error {}
  Object.defineProperty(Foreign.prototype, Symbol.for("trivet.ToolError"), { value: true });
  const { post } = newServer({
    definitions: [tool({
      name: "foreign",
      description: "Throws",
      run() {
        throw new Foreign("Seen by the model");
      },
    })],
  });
  assert.is((await post(call("foreign"))).body.result.content[0].text, "Seen by the model");
  assert.ok(new ScopeError(["x"]) instanceof RpcError);
  assert.not.ok(new RpcError(1, "x") instanceof ScopeError);
  assert.not.ok(new ToolError("x") instanceof RpcError);
});

test.run();
