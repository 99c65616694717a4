import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decodeBase64url } from "../../crypto/base64url.ts";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { signText } from "../../crypto/signed_text.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { prompt, resource, tool } from "../definition/definition.ts";
import type { ToolServer } from "../service.ts";
import { client, type Message, readEvents, session } from "../test_exchange.ts";
import { DEFINITIONS, newServer } from "../test_server.ts";
import { watchedStore } from "../instances/test_watched_store.ts";

const test = suite("mcp/session");
const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

/** Two instances on one store. */
function pair(definitions = DEFINITIONS, options = {}): [ToolServer, ToolServer] {
  const store = memoryStore();
  return [
    newServer({ store, definitions, ...options }).server,
    newServer({ store, definitions, ...options }).server,
  ];
}

test("initialize returns a session id that every instance accepts until DELETE", async () => {
  const [a, b] = pair();
  const { id, request, other } = await session(a, {}, b);
  assert.match(id, /^[\x21-\x7e]+$/);
  assert.is((await request("tools/list")).status, 200);
  const ended = await other("DELETE");
  assert.is(ended.status, 204);
  for (const server of [a, b]) {
    const { status, answer } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, {
      "mcp-session-id": id,
      accept: "application/json, text/event-stream",
    });
    assert.is(status, 404);
    assert.is(answer.error.code, -32001);
  }
  assert.is((await other("DELETE")).status, 404);
  assert.is((await other("GET")).status, 404);
});

test("an instance that did not start the session knows what the client said of itself", async () => {
  const who = tool({
    name: "who",
    description: "Who",
    run: (_, { clientInfo }) => JSON.stringify(clientInfo),
  });
  const [a, b] = pair([who]);
  const both = { accept: "application/json, text/event-stream" };
  for (
    const clientInfo of [
      { name: "c", version: "1" },
      { name: "claude-code", version: "2.0.14" },
      { name: "a.b", version: "..1" },
      { name: "", version: "..1" },
      { name: "Visual Studio Code", version: "1.0" },
      { name: "ü \ud800 \u{1d11e}", version: "" },
      { name: "" },
      { version: "1" },
      {},
    ]
  ) {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const { headers } = await client(a).send({ jsonrpc: "2.0", id: 1, method: "initialize", params }, both);
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "who" } };
    const { answer } = await client(b).send(call, { "mcp-session-id": headers.get("mcp-session-id")! });
    assert.equal(JSON.parse(answer.result.content[0].text), clientInfo);
  }
});

test("a session continues with a clock that has fractions of milliseconds", async () => {
  const [a, b] = pair(DEFINITIONS, { now: () => 1_780_000_000_000.25 });
  const { request, other } = await session(a, {}, b);
  assert.is((await request("tools/list")).status, 200);
  assert.is((await other("DELETE")).status, 204);
});

test("GET and DELETE with an unsupported revision get 400, and the session continues", async () => {
  const { request, other } = await session(newServer({}).server);
  for (const version of ["1999-01-01", "2025-11-25, 2025-11-25", "newest"]) {
    for (const method of ["GET", "DELETE"] as const) {
      assert.is(
        (await other(method, { "mcp-protocol-version": version })).status,
        400,
        `${method} ${version}`,
      );
    }
  }
  assert.is((await request("tools/list")).status, 200);
});

test("a changed, invented or expired session id gets 404", async () => {
  let now = Date.now();
  const { server } = newServer({ now: () => now });
  const { id } = await session(server);
  const ask = async (id: string) =>
    (await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-session-id": id })).status;
  assert.is(await ask(id), 200);
  for (
    const changed of [
      "x",
      "",
      id.slice(1),
      id + "A",
      id.replace(/.$/, (last) => last === "A" ? "B" : "A"),
      "A".repeat(9000),
    ]
  ) {
    assert.is(await ask(changed), 404, changed.slice(0, 20));
  }
  now += 3_600_001;
  assert.is(await ask(id), 404);
});

test("an id of an earlier format gets 404 without a fault, although its signature is valid", async () => {
  const secrets = soleSecret(new Uint8Array(32).fill(3));
  const { server, events } = newServer({ secret: () => secrets });
  const both = { accept: "application/json, text/event-stream" };
  const expires = Date.now() + 3_600_000;
  const session = {
    id: "i",
    revision: "2025-11-25",
    capabilities: {},
    clientInfo: {},
    principal: "",
    expires,
  };
  const ids = [
    signText(secrets, "session", JSON.stringify(session)),
    signText(secrets, "session_2", JSON.stringify(["i", expires, "", "2025-11-25", {}, "c", "1"])),
  ];
  for (const id of ids) {
    const { status, answer } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, {
      ...both,
      "mcp-session-id": id,
    });
    assert.is(status, 404);
    assert.is(answer.error.code, -32001);
  }
  assert.equal(events.filter(({ type }) => type === "fault"), []);
});

test("another instance reads the same capabilities from the id", async () => {
  const FEATURES = [
    "elicitation",
    "elicitation.url",
    "sampling",
    "sampling.tools",
    "sampling.context",
    "roots",
  ] as const;
  const features = tool({
    name: "features",
    description: "Features",
    run: (_, { can }) => JSON.stringify(FEATURES.filter((feature) => can(feature))),
  });
  const [a, b] = pair([features]);
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "features" } };
  for (
    const capabilities of [
      {},
      { roots: {} },
      { elicitation: {} },
      { elicitation: { url: {} }, sampling: {} },
      {
        elicitation: { form: {}, url: {} },
        sampling: { tools: {}, context: {} },
        roots: { listChanged: true },
      },
      { elicitation: 1, sampling: null, other: {} },
    ]
  ) {
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "c", version: "1" } };
    const both = { accept: "application/json, text/event-stream" };
    const { headers } = await client(a).send({ jsonrpc: "2.0", id: 1, method: "initialize", params }, both);
    const answers = [];
    for (const server of [a, b]) {
      const { answer } = await client(server).send(call, {
        "mcp-session-id": headers.get("mcp-session-id")!,
      });
      answers.push(answer.result.content[0].text);
    }
    assert.is(answers[0], answers[1], JSON.stringify(capabilities));
  }
});

test("a session is bound to its caller, and an anonymous one may continue with a token", async () => {
  const { server } = newServer();
  const reader = { authorization: "Bearer reader" };
  const own = await session(server, { headers: reader });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  assert.is((await own.send(ping)).status, 200);
  assert.is((await own.send(ping, { authorization: "Bearer writer" })).status, 404);
  assert.is((await client(server).send(ping, { "mcp-session-id": own.id })).status, 404);
  const anonymous = await session(server);
  assert.is((await anonymous.send(ping, reader)).status, 200);
  assert.not.match(own.id, /reader/);
  for (const part of own.id.split(".")) {
    const bytes = decodeBase64url(part);
    if (bytes) assert.not.match(new TextDecoder().decode(bytes), /reader/);
  }
});

test("a session keeps its negotiated revision, and plain callers get no session", async () => {
  const { server } = newServer();
  for (const revision of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
    const { result, id } = await session(server, { revision });
    assert.is(result.protocolVersion, revision);
    const { headers } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, {
      "mcp-session-id": id,
    });
    assert.is(headers.get("mcp-protocol-version"), revision);
  }
  const { id } = await session(server);
  const { headers: fields } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, {
    "mcp-session-id": id,
    "mcp-protocol-version": "2025-03-26",
  });
  assert.is(fields.get("mcp-protocol-version"), "2025-11-25", "the negotiated revision applies");
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const { headers } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  assert.is(headers.get("mcp-session-id"), null);
});

const asking = [
  tool({
    name: "ask",
    description: "Asks for a name",
    async run(_, call) {
      const answer = await call.elicit({ message: "Who?", schema: NAME });
      return answer.action === "accept" ? `Hello, ${answer.content.name}` : answer.action;
    },
  }),
  tool({
    name: "model",
    description: "Asks the model",
    run: async (_, call) => (await call.sample({ messages: [], maxTokens: 5 })).content.text,
  }),
  tool({
    name: "roots",
    description: "Asks for folders",
    run: async (_, call) => [...await call.listRoots()],
  }),
];
const call = (name: string, id: unknown = 7) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name },
});

test("a tool sends a request on the stream of its call, and another instance accepts the response", async () => {
  const [a, b] = pair(asking);
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  for (
    const [name, method, result, text] of [
      ["ask", "elicitation/create", { action: "accept", content: { name: "Ann" } }, "Hello, Ann"],
      ["ask", "elicitation/create", { action: "decline" }, "decline"],
      ["model", "sampling/createMessage", {
        role: "assistant",
        content: { type: "text", text: "Hi" },
        model: "m",
      }, "Hi"],
      ["roots", "roots/list", { roots: [{ uri: "file:///x" }] }, '[{"uri":"file:///x"}]'],
    ] as const
  ) {
    const own = await session(a, { capabilities });
    const events = readEvents(await own.fetch(call(name)));
    const sent: Message = await events.message();
    assert.is(sent.method, method);
    assert.match(sent.id, /^[\w-]{22}$/);
    const posted = { jsonrpc: "2.0", id: sent.id, result };
    const headers = { "mcp-session-id": own.id, accept: "application/json, text/event-stream" };
    assert.is((await client(b).send(posted, headers)).status, 202);
    const { result: { content } } = await events.message();
    assert.is(content[0].text, text);
    assert.is(await events.next(), undefined, "the response ends the stream");
    const repeated = await client(b).send(posted, headers);
    assert.is(repeated.status, 400);
    assert.is(repeated.answer.error.code, -32600);
  }
});

test("an error response is an error for the tool, and another session cannot respond", async () => {
  const [a, b] = pair(asking);
  const own = await session(a, { capabilities: { elicitation: {} } });
  const other = await session(b, { capabilities: { elicitation: {} } });
  const events = readEvents(await own.fetch(call("ask")));
  const { id } = await events.message();
  assert.is(
    (await other.send({ jsonrpc: "2.0", id, result: { action: "accept", content: { name: "Eve" } } })).status,
    400,
  );
  assert.is((await own.send({ jsonrpc: "2.0", id, error: { code: -1, message: "user left" } })).status, 202);
  const { error } = await events.message();
  assert.is(error.code, -1);
  assert.match(error.message, /user left/);
});

for (
  const [what, members, code, name = "ask"] of [
    ["null in place of an error", { error: null }, -32603],
    ["a string in place of an error", { error: "no" }, -32603],
    ["an error whose code is not an integer", { error: { code: 1.5, message: "no" } }, -32603],
    ["an error whose message is not a string", { error: { code: 7, message: { toString: 1 } } }, 7],
    ["a result that is null", { result: null }, -32602],
    ["a result that is a list", { result: [] }, -32602],
    ["roots that are null", { result: { roots: [null] } }, -32602, "roots"],
    ["roots without uri", { result: { roots: [{ uri: 1 }] } }, -32602, "roots"],
  ] as const
) {
  test(`${what} as response gives the call the error ${code}, without a fault`, async () => {
    const { server, events } = newServer({ definitions: asking });
    const own = await session(server, { capabilities: { elicitation: {}, roots: {} } });
    const stream = readEvents(await own.fetch(call(name)));
    const { id } = await stream.message();
    assert.is((await own.send({ jsonrpc: "2.0", id, ...members })).status, 202);
    const { error } = await stream.message();
    assert.is(error.code, code);
    assert.is(events.find(({ type }) => type === "fault"), undefined);
  });
}

test("a cancelled resource or prompt is not a fault", async () => {
  const { server, events } = newServer({
    definitions: [
      resource({ uri: "test://asks", name: "asks", read: async (call) => String(await call.listRoots()) }),
      prompt({ name: "asks", get: async (_, call) => String(await call.listRoots()) }),
    ],
  });
  const own = await session(server, { capabilities: { roots: {} } });
  for (const [id, method] of [[1, "resources/read"], [2, "prompts/get"]] as const) {
    const params = { uri: "test://asks", name: "asks" };
    const stream = readEvents(await own.fetch({ jsonrpc: "2.0", id, method, params }));
    assert.is((await stream.message()).method, "roots/list");
    await own.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    assert.is(await stream.next(), undefined);
  }
  assert.equal(events, []);
});

test("DELETE cancels running calls", async () => {
  const [a, b] = pair(asking);
  const own = await session(a, { capabilities: { elicitation: {} } }, b);
  const events = readEvents(await own.fetch(call("ask")));
  await events.message();
  assert.is((await own.other("DELETE")).status, 204);
  assert.is(await events.next(), undefined);
});

test("tools in a batch, and tools that read their signal after the end, leave no listener", async () => {
  let after: Promise<void> | undefined;
  const watches = tool({
    name: "watches",
    description: "Reads its signal",
    run(_, call) {
      void call.signal;
    },
  });
  const late = tool({
    name: "late",
    description: "Reads its signal after the end",
    run(_, call) {
      after = new Promise((resolve) => setTimeout(() => resolve(void call.signal), 5));
    },
  });
  const watched = watchedStore(memoryStore());
  const { server } = newServer({ store: watched.store, definitions: [watches, late] });
  const own = await session(server, { revision: "2025-03-26" });
  assert.is((await own.send([call("watches", 1), call("late", 2)])).status, 200);
  await own.request("tools/call", { name: "late" }, 3);
  await after;
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(watched.watches(), 0);
});

test("the tool result contains the missing client capability", async () => {
  const { server } = newServer({ definitions: asking });
  const { request } = await session(server);
  const { answer } = await request("tools/call", { name: "ask" });
  assert.is(answer.result.isError, true);
  assert.match(answer.result.content[0].text, /elicitation/);
});

test("forms have the shape of the revision", async () => {
  const { server } = newServer({ definitions: asking });
  for (const [revision, mode] of [["2025-11-25", "form"], ["2025-06-18", undefined]] as const) {
    const own = await session(server, { revision, capabilities: { elicitation: {} } });
    const events = readEvents(await own.fetch(call("ask")));
    const { params } = await events.message();
    assert.is(params.mode, mode);
    assert.equal(params.requestedSchema, NAME);
    await events.cancel();
  }
});

test("notifications/cancelled at another instance aborts the tool without a response", async () => {
  let aborted = (): void => {};
  const stopped = new Promise<void>((resolve) => aborted = resolve);
  const slow = tool({
    name: "slow",
    description: "Runs until it is cancelled",
    async run(_, call) {
      call.signal.addEventListener("abort", aborted);
      await call.progress(1);
      await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      return "too late";
    },
  });
  const [a, b] = pair([slow]);
  const own = await session(a);
  const request = call("slow", "x");
  const events = readEvents(
    await own.fetch({ ...request, params: { ...request.params, _meta: { progressToken: 1 } } }),
  );
  assert.is((await events.message()).method, "notifications/progress");
  const cancel = {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "x", reason: "enough" },
  };
  const headers = { "mcp-session-id": own.id, accept: "application/json, text/event-stream" };
  assert.is((await client(b).send(cancel, headers)).status, 202);
  await stopped;
  assert.is(await events.next(), undefined);
});

test("logging/setLevel applies to the session on every instance", async () => {
  const logs = tool({
    name: "logs",
    description: "Logs at three levels",
    async run(_, call) {
      await call.log("debug", "d");
      await call.log("info", "i");
      await call.log("error", { e: 1 }, "my logger");
      return "done";
    },
  });
  const [a, b] = pair([logs]);
  const levels = async (own: Awaited<ReturnType<typeof session>>) =>
    (await own.request("tools/call", { name: "logs" })).messages.slice(0, -1).map(({ params }) =>
      params.level
    );
  const own = await session(a, {}, b);
  assert.equal(await levels(own), ["info", "error"], "the default level");
  assert.equal((await own.request("logging/setLevel", { level: "debug" })).answer.result, {});
  assert.equal(await levels(own), ["debug", "info", "error"]);
  await own.request("logging/setLevel", { level: "error" });
  const { messages } = await own.request("tools/call", { name: "logs" });
  assert.equal(messages[0], {
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "error", logger: "my logger", data: { e: 1 } },
  });
  assert.is((await own.request("logging/setLevel", { level: "loud" })).answer.error.code, -32602);
});

test.run();
