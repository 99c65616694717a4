import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "./definition/define.ts";
import { client, META, modern, modernHeaders, modernParams } from "./test_exchange.ts";
import { newServer } from "./test_server.ts";

const test = suite("mcp/modern");
const { server } = newServer();
const REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const SERVER = { [META + "serverInfo"]: { name: "test", version: "1.2.3" } };

test("server/discover returns revisions, capabilities, instructions and cache hints", async () => {
  const { status, headers, answer } = await modern(server, "server/discover");
  assert.is(status, 200);
  assert.is(headers.get("content-type"), "application/json");
  assert.is(headers.get("mcp-protocol-version"), "2026-07-28");
  assert.equal(answer, {
    jsonrpc: "2.0",
    id: 1,
    result: {
      resultType: "complete",
      _meta: SERVER,
      supportedVersions: REVISIONS,
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
      },
      instructions: "Be brief.",
      ttlMs: 60_000,
      cacheScope: "public",
    },
  });
});

test("server/discover is answered without a revision in the request", async () => {
  const { status, answer } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "server/discover" });
  assert.is(status, 200);
  assert.equal(answer.result.supportedVersions, REVISIONS);
});

test("a result has its type and the server info", async () => {
  const { status, answer } = await modern(server, "tools/call", { name: "add", arguments: { a: 1, b: 2 } });
  assert.is(status, 200);
  assert.equal(answer.result, {
    resultType: "complete",
    _meta: SERVER,
    content: [{ type: "text", text: "3" }],
  });
});

test("the _meta of a tool is merged with the server's", async () => {
  const { server } = newServer({
    definitions: [tool({
      name: "own",
      description: "Has metadata",
      run: () => ({ content: [], _meta: { "example.com/x": 1 } }),
    })],
  });
  const { answer } = await modern(server, "tools/call", { name: "own" });
  assert.equal(answer.result, {
    resultType: "complete",
    content: [],
    _meta: { "example.com/x": 1, ...SERVER },
  });
});

test("only lists and resources have cache hints", async () => {
  for (const method of ["tools/list", "prompts/list", "resources/templates/list"]) {
    const { result } = (await modern(server, method)).answer;
    assert.is(result.ttlMs, 60_000, method);
    assert.is(result.cacheScope, method === "tools/list" ? "private" : "public", method);
  }
  const { result } = (await modern(server, "resources/read", { uri: "test://text" })).answer;
  assert.is(result.ttlMs, 0);
  assert.is(result.cacheScope, "private");
  const prompt = (await modern(server, "prompts/get", { name: "plain" })).answer.result;
  assert.not.ok(prompt && "ttlMs" in prompt);
});

const discover = (
  params: unknown,
  headers: Record<string, string> = modernHeaders("server/discover"),
  id: unknown = 1,
) => client(server).send({ jsonrpc: "2.0", id, method: "server/discover", params }, headers);

for (
  const [what, params, key] of [
    ["no params", undefined, "protocolVersion"],
    ["no _meta", {}, "protocolVersion"],
    ["an empty _meta", { _meta: {} }, "protocolVersion"],
    ["_meta that is not an object", { _meta: 7 }, "protocolVersion"],
    [
      "a version that is not a string",
      modernParams({}, {}, { [META + "protocolVersion"]: 7 }),
      "protocolVersion",
    ],
    ["no capabilities", { _meta: { [META + "protocolVersion"]: "2026-07-28" } }, "clientCapabilities"],
    ["capabilities that are a list", modernParams({}, [] as never), "clientCapabilities"],
    [
      "client info that is not an object",
      modernParams({}, {}, { [META + "clientInfo"]: "me" }),
      "clientInfo",
    ],
  ] as const
) {
  test(`${what} is refused with 400 and -32602, naming the key`, async () => {
    const { status, answer } = await discover(params);
    assert.is(status, 400);
    assert.is(answer.id, 1);
    assert.is(answer.error.code, -32602);
    assert.ok(answer.error.message.includes(key), answer.error.message);
  });
}

test("client info may be omitted", async () => {
  const { [META + "clientInfo"]: _, ...meta } = modernParams()._meta as Record<string, unknown>;
  assert.is((await discover({ _meta: meta })).status, 200);
});

test("an unknown revision is refused with 400, -32022 and the supported revisions", async () => {
  for (const version of ["2099-01-01", "v999.0.0", ""]) {
    const params = modernParams({}, {}, { [META + "protocolVersion"]: version });
    const headers = { ...modernHeaders("server/discover"), "mcp-protocol-version": version };
    const { status, answer } = await discover(params, headers);
    assert.is(status, 400);
    assert.is(answer.error.code, -32022);
    assert.equal(answer.error.data, { supported: REVISIONS, requested: version });
  }
});

test("an older revision in _meta is served in its own shape", async () => {
  for (const version of REVISIONS.slice(1)) {
    const params = modernParams({}, {}, { [META + "protocolVersion"]: version });
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params };
    const { status, answer } = await client(server).send(body, { "mcp-protocol-version": version });
    assert.is(status, 200);
    assert.equal(Object.keys(answer.result), ["tools"]);
  }
});

for (
  const [what, headers] of [
    ["MCP-Protocol-Version is missing", { "mcp-protocol-version": undefined }],
    ["MCP-Protocol-Version differs", { "mcp-protocol-version": "2025-11-25" }],
    ["Mcp-Method is missing", { "mcp-method": undefined }],
    ["Mcp-Method differs", { "mcp-method": "tools/list" }],
    ["Mcp-Method differs in case", { "mcp-method": "TOOLS/CALL" }],
    ["Mcp-Name is missing", { "mcp-name": undefined }],
    ["Mcp-Name differs", { "mcp-name": "sub" }],
    ["Mcp-Name has an invalid encoding", { "mcp-name": "=?base64?YWRk=?=" }],
  ] as const
) {
  test(`if ${what} the request is refused with 400 and -32020`, async () => {
    const params = { name: "add", arguments: { a: 1 } };
    const all: Record<string, string | undefined> = { ...modernHeaders("tools/call", params), ...headers };
    const given = Object.entries(all).filter(([, value]) => value !== undefined) as [string, string][];
    const body = { jsonrpc: "2.0", id: "a", method: "tools/call", params: modernParams(params) };
    const { status, answer } = await client(server).send(body, Object.fromEntries(given));
    assert.is(status, 400);
    assert.is(answer.id, "a");
    assert.is(answer.error.code, -32020);
  });
}

test("Mcp-Name may be base64, and must match the body when decoded", async () => {
  const uri = "test://ü";
  const encoded = `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(uri)))}?=`;
  const { status, answer } = await modern(server, "resources/read", { uri }, {
    headers: { "mcp-name": encoded },
  });
  assert.is(status, 200);
  assert.is(answer.error.code, -32602);
  assert.equal(answer.error.data, { uri });
  const bad = await modern(server, "resources/read", {}, { headers: { "mcp-name": "=?base64?eA?=" } });
  assert.is(bad.answer.error.code, -32020, "an invalid field does not match a missing URI");
});

for (
  const method of [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/list",
    "notifications/cancelled",
    "no/such",
    "constructor",
  ]
) {
  test(`${method} is refused with 404 and -32601`, async () => {
    const { status, answer } = await modern(server, method, { level: "info", uri: "test://text" }, {
      headers: { "mcp-name": "test://text" },
    });
    assert.is(status, 404);
    assert.is(answer.error.code, -32601);
  });
}

for (
  const [what, id] of [["null", null], ["a fraction", 1.5], ["an object", {}], ["a list", [1]]] as const
) {
  test(`an id that is ${what} is refused with 400 and -32600`, async () => {
    const { status, answer } = await discover(modernParams(), undefined, id);
    assert.is(status, 400);
    assert.is(answer.error.code, -32600);
    assert.is("id" in answer, typeof id === "number", "an invalid id is not repeated");
  });
}

test("a batch, a response and invalid JSON are refused with 400 and without id", async () => {
  const headers = modernHeaders("tools/list");
  const one = { jsonrpc: "2.0", id: 1, method: "tools/list", params: modernParams() };
  for (const body of [[one], { jsonrpc: "2.0", id: 1, result: {} }, "{"]) {
    const { status, answer } = await client(server).send(body, headers);
    assert.is(status, 400);
    assert.not.ok("id" in answer);
    assert.is(answer.error.code, body === "{" ? -32700 : -32600);
  }
});

test("a notification gets 202 without a body", async () => {
  const body = { jsonrpc: "2.0", method: "notifications/x", params: modernParams() };
  const { status, messages } = await client(server).send(body, modernHeaders("notifications/x"));
  assert.is(status, 202);
  assert.equal(messages, []);
});

test("a session id is ignored, and no session starts", async () => {
  const { status, headers } = await modern(server, "tools/list", {}, {
    headers: { "mcp-session-id": "made-up" },
  });
  assert.is(status, 200);
  assert.is(headers.get("mcp-session-id"), null);
});

test("GET and DELETE are refused with 405, also with Last-Event-ID", async () => {
  for (const method of ["GET", "DELETE"]) {
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-session-id": "x", "last-event-id": "y.1" };
    const response = await server.fetch(new Request("http://127.0.0.1:8787/mcp", { method, headers }));
    assert.is(response.status, 405);
    assert.is(response.headers.get("allow"), "POST, OPTIONS");
  }
});

test("a missing client capability is refused with 400, -32021 and its name", async () => {
  const { server } = newServer({
    definitions: [tool({
      name: "asks",
      description: "Needs a model",
      run: (_, call) => call.sample({ messages: [], maxTokens: 10 }),
    })],
  });
  const { status, answer } = await modern(server, "tools/call", { name: "asks" });
  assert.is(status, 400);
  assert.is(answer.error.code, -32021);
  assert.equal(answer.error.data, { requiredCapabilities: { sampling: {} } });
});

test("a call without scopes is refused with 401 or 403, and codes outside the reserved range", async () => {
  const anonymous = await modern(server, "tools/call", { name: "secret" });
  assert.is(anonymous.status, 401);
  assert.is(anonymous.answer.error.code, 401);
  const headers = { authorization: "Bearer reader" };
  const reader = await modern(server, "tools/call", { name: "secret" }, { headers });
  assert.is(reader.status, 403);
  assert.is(reader.answer.error.code, 403);
  assert.match(reader.headers.get("www-authenticate")!, /error="insufficient_scope", scope="read write"/);
});

test("invalid arguments and an unknown tool get 200", async () => {
  const bad = await modern(server, "tools/call", { name: "add", arguments: { a: "one" } });
  assert.is(bad.status, 200);
  assert.is(bad.answer.result.isError, true);
  assert.is(bad.answer.result.resultType, "complete");
  const unknown = await modern(server, "tools/call", { name: "nothing" });
  assert.is(unknown.status, 200);
  assert.is(unknown.answer.error.code, -32602);
});

test.run();
