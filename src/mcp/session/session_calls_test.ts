/**
 * Calls in a session: requests to the client, cancellation and log levels, with two instances on one store.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { prompt, resource, tool } from "../definition/define.ts";
import type { Middleware } from "../definition/group.ts";
import { watchedStore } from "../instances/test_watched_store.ts";
import { client, type Message, readEvents, session } from "../test_exchange.ts";
import { newServer, pair } from "../test_server.ts";

const test = suite("mcp/session: calls");
const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

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

for (const id of ["x", "x".repeat(200), "x".repeat(201), "\u{1f600}".repeat(512)]) {
  test(`notifications/cancelled at another instance aborts the tool without a response: ${id.length}`, () =>
    cancelElsewhere(id));
}

async function cancelElsewhere(id: string): Promise<void> {
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
  const request = call("slow", id);
  const events = readEvents(
    await own.fetch({ ...request, params: { ...request.params, _meta: { progressToken: 1 } } }),
  );
  assert.is((await events.message()).method, "notifications/progress");
  const cancel = {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: id, reason: "enough" },
  };
  const headers = { "mcp-session-id": own.id, accept: "application/json, text/event-stream" };
  assert.is((await client(b).send(cancel, headers)).status, 202);
  await stopped;
  assert.is(await events.next(), undefined);
}

test("a cancellation, and the end of the session, reach a call although a read of the store fails", async () => {
  for (const how of ["notifications/cancelled", "DELETE"]) {
    const store = memoryStore();
    const { get } = store;
    let failures = 0;
    const began = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const hangs = tool({
      name: "hangs",
      description: "Runs until it is cancelled",
      async run(_, { signal }) {
        signal.addEventListener("abort", () => cancelled.resolve());
        began.resolve();
        await cancelled.promise;
        return "";
      },
    });
    const own = await session(newServer({ store, definitions: [hangs] }).server);
    const running = own.request("tools/call", { name: "hangs" }, 7);
    await began.promise;
    await new Promise((resolve) => setTimeout(resolve));
    store.get = (key, options) => {
      const isRead = key[1] === "cancel" || key[1] === "stream" || key[0] === "cancel";
      return isRead && failures++ === 0
        ? Promise.reject(new StoreUnavailableError("down"))
        : get.call(store, key, options) as never;
    };
    if (how === "DELETE") assert.is((await own.other("DELETE")).status, 204);
    else await own.send({ jsonrpc: "2.0", method: how, params: { requestId: 7 } });
    await cancelled.promise;
    assert.ok(failures > 0, how);
    await running;
  }
});

test("only the caller of a call with a token answers its request, also in a session that began without one", async () => {
  const { server } = newServer({ definitions: asking });
  const own = await session(server, { capabilities: { elicitation: {} } });
  const reader = { authorization: "Bearer reader" };
  const events = readEvents(await own.fetch(call("ask"), reader));
  const { id }: Message = await events.message();
  const answer = { jsonrpc: "2.0", id, result: { action: "accept", content: { name: "Ann" } } };
  for (const headers of [{}, { authorization: "Bearer writer" }]) {
    assert.is((await own.send(answer, headers)).status, 400);
  }
  assert.is((await own.send(answer, reader)).status, 202);
  assert.is((await events.message()).result.content[0].text, "Hello, Ann");
});

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

/** The levels of the messages that the tool logs, and its result. */
async function readLevels(own: Awaited<ReturnType<typeof session>>) {
  const { messages } = await own.request("tools/call", { name: "logs" });
  return [
    ...messages.slice(0, -1).map(({ params }) => params.level),
    messages.at(-1)!.result.content[0].text,
  ];
}

test("logging/setLevel applies to the session on every instance", async () => {
  const [a, b] = pair([logs]);
  const own = await session(a, {}, b);
  assert.equal(await readLevels(own), ["info", "error", "done"], "the default level");
  assert.equal((await own.request("logging/setLevel", { level: "debug" })).answer.result, {});
  assert.equal(await readLevels(own), ["debug", "info", "error", "done"]);
  await own.request("logging/setLevel", { level: "error" });
  const { messages } = await own.request("tools/call", { name: "logs" });
  assert.equal(messages[0], {
    jsonrpc: "2.0",
    method: "notifications/message",
    params: { level: "error", logger: "my logger", data: { e: 1 } },
  });
  assert.is((await own.request("logging/setLevel", { level: "loud" })).answer.error.code, -32602);
});

test("when the store becomes unavailable a tool logs at the default level, and its call does not fail", async () => {
  const store = memoryStore();
  const { get } = store;
  let isDown = false;
  store.get = (key) =>
    isDown ? Promise.reject(new StoreUnavailableError("down")) : get.call(store, key) as never;
  const middleware: Middleware = (_, __, next) => {
    isDown = true;
    return next();
  };
  const own = await session(newServer({ store, definitions: [logs], middleware: [middleware] }).server);
  await own.request("logging/setLevel", { level: "debug" });
  assert.equal(await readLevels(own), ["info", "error", "done"]);
});

test.run();
