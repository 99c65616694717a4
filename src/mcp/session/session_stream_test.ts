import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { tool } from "../definition/define.ts";
import { readEvents, session } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/session_stream");

/** A gate: a tool waits for `passed` until `open()` is called. */
function gate(): { open: () => void; passed: Promise<void> } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => open = resolve);
  return { open, passed };
}

const progress = (id: unknown, name: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, _meta: { progressToken: "t" } },
});

/** A tool that reports progress 1, waits at the gate, reports 2 and 3, and returns. */
function steps({ passed }: { readonly passed: Promise<void> }) {
  return tool({
    name: "steps",
    description: "Reports progress",
    async run(_, call) {
      await call.progress(1, 3, "one");
      await passed;
      await call.progress(2, 3);
      await call.progress(2, 3);
      await call.progress(3, 3);
      return "done";
    },
  });
}

function instance(
  store: Store,
  definitions: readonly Parameters<typeof newServer>[0][] | unknown[],
  options = {},
) {
  return newServer({ store, definitions: definitions as never, ...options }).server;
}

test("a stream begins with an empty event, ends with the response, and has increasing progress and ids", async () => {
  const { open, passed } = gate();
  open();
  const server = instance(memoryStore(), [steps({ passed })]);
  const own = await session(server);
  const events = await readEvents(await own.fetch(progress(1, "steps"))).all();
  const [first, ...rest] = events;
  assert.is(first!.data, "");
  const stream = first!.id!.split(".")[0];
  assert.equal(events.map(({ id }) => id), [0, 1, 2, 3, 4].map((n) => `${stream}.${n}`));
  const messages = rest.map(({ data }) => JSON.parse(data!));
  assert.equal(messages[0], {
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: "t", progress: 1, total: 3, message: "one" },
  });
  assert.equal(messages.slice(1, 3).map(({ params }) => params.progress), [2, 3]);
  assert.equal(messages[3].result.content, [{ type: "text", text: "done" }]);
});

test("older revisions get no empty event, streams without session no ids, plain callers no notifications", async () => {
  const { open, passed } = gate();
  open();
  const server = instance(memoryStore(), [steps({ passed })]);
  const old = await session(server, { revision: "2025-06-18" });
  const [first] = await readEvents(await old.fetch(progress(1, "steps"))).all();
  assert.match(first!.data!, /progress/);
  const headers = { "content-type": "application/json", accept: "text/event-stream, application/json" };
  const post = (headers: Record<string, string>) =>
    server.fetch(
      new Request("http://127.0.0.1:8787/mcp", {
        method: "POST",
        headers,
        body: JSON.stringify(progress(1, "steps")),
      }),
    );
  const events = await readEvents(await post(headers)).all();
  assert.equal(events.map(({ id }) => id), [undefined, undefined, undefined, undefined]);
  const plain = await post({ "content-type": "application/json" });
  assert.is(plain.headers.get("content-type"), "application/json");
});

test("a client resumes its stream at another instance and gets the rest in order", async () => {
  const { open, passed } = gate();
  const store = memoryStore();
  const own = await session(instance(store, [steps({ passed })]));
  const other = await session(instance(store, [steps({ passed })]));
  assert.is.not(own.id, other.id);
  const events = readEvents(await own.fetch(progress("r", "steps")));
  await events.next();
  const { id } = (await events.next())!;
  await events.cancel();
  const b = instance(store, []);
  const resumed = readEvents(
    await b.fetch(
      new Request("http://127.0.0.1:8787/mcp", {
        headers: { accept: "text/event-stream", "mcp-session-id": own.id, "last-event-id": id! },
      }),
    ),
  );
  open();
  assert.equal(await resumed.next(), { id, data: "" }, "the id for the next resumption");
  const rest = (await resumed.all()).map(({ data }) => JSON.parse(data!));
  assert.equal(rest.map(({ params, id }) => params?.progress ?? id), [2, 3, "r"]);
  // A second resumption replays the same events.
  const second = await own.other("GET", { "last-event-id": id! });
  assert.is((await readEvents(second).all()).length, 4);
  // Another session cannot resume the stream: 204 makes its client stop reconnecting.
  assert.is((await other.other("GET", { "last-event-id": id! })).status, 204);
});

test("the rest of a call with a token is for that caller, also in a session that began without one", async () => {
  const { open, passed } = gate();
  const own = await session(instance(memoryStore(), [steps({ passed })]));
  const reader = { authorization: "Bearer reader" };
  const events = readEvents(await own.fetch(progress(1, "steps"), reader));
  const { id } = (await events.next())!;
  await events.cancel();
  open();
  const resume = async (headers: Record<string, string>) =>
    await own.other("GET", { "last-event-id": id!, ...headers });
  assert.is((await resume({})).status, 204);
  assert.is((await resume({ authorization: "Bearer writer" })).status, 204);
  assert.is((await resume({ authorization: "Bearer revoked" })).status, 401);
  assert.is((await readEvents(await resume(reader)).all()).length, 5);
});

test("disconnect() closes the connection with a retry time, and the client resumes the stream", async () => {
  const { open, passed } = gate();
  const leaves = tool({
    name: "leaves",
    description: "Closes the connection",
    async run(_, call) {
      await call.disconnect(500);
      await passed;
      return "still here";
    },
  });
  const server = instance(memoryStore(), [leaves]);
  const own = await session(server);
  const events = await readEvents(await own.fetch(progress(1, "leaves"))).all();
  assert.is(events[0]!.data, "");
  assert.is(events.at(-1)!.retry, 500);
  const resumed = readEvents(await own.other("GET", { "last-event-id": events[0]!.id! }));
  open();
  assert.is((await resumed.message()).result.content[0].text, "still here");
  assert.is(await resumed.next(), undefined);
});

test("disconnect() has no effect for a client without event ids", async () => {
  const leaves = tool({
    name: "leaves",
    description: "Tries to close the connection",
    async run(_, call) {
      await call.disconnect(500);
      return "here";
    },
  });
  const server = instance(memoryStore(), [leaves]);
  for (const revision of ["2025-06-18", "2025-03-26"]) {
    const { request } = await session(server, { revision });
    assert.is((await request("tools/call", { name: "leaves" })).answer.result.content[0].text, "here");
  }
});

test("a stream whose writer's lease has ended ends with an error for the request", async () => {
  let now = Date.now();
  const store = memoryStore();
  const options = { now: () => now };
  const own = await session(instance(store, [steps({ passed: new Promise(() => {}) })], options));
  const events = readEvents(await own.fetch(progress("r", "steps")));
  const { id } = (await events.next())!;
  // Its instance does not renew the lease.
  now += 80_000;
  const b = instance(store, [], options);
  const resumed = readEvents(
    await b.fetch(
      new Request("http://127.0.0.1:8787/mcp", {
        headers: { accept: "text/event-stream", "mcp-session-id": own.id, "last-event-id": id! },
      }),
    ),
  );
  assert.is((await resumed.message()).params.progress, 1);
  const { id: request, error } = await resumed.message();
  assert.is(request, "r");
  assert.is(error.code, -32603);
  assert.type(error.message, "string");
  assert.is(await resumed.next(), undefined);
  await events.cancel();
});

test("a stream without messages has comments, also that of a silent call", async () => {
  const { open, passed } = gate();
  const silent = tool({
    name: "silent",
    description: "Sends no messages",
    async run() {
      await passed;
      return "done";
    },
  });
  const server = instance(memoryStore(), [silent], { keepAlive: 20 });
  const own = await session(server);
  const response = await own.fetch(progress(1, "silent"));
  assert.is(response.headers.get("content-type"), "text/event-stream");
  const reader = response.body!.getReader();
  let text = "";
  while (!text.includes(":\n\n")) text += new TextDecoder().decode((await reader.read()).value);
  open();
  while (!text.includes('"result"')) text += new TextDecoder().decode((await reader.read()).value);
  assert.is((await reader.read()).done, true);
});

test("GET requires an Accept with event streams", async () => {
  const { server } = newServer();
  const { other } = await session(server);
  assert.is((await other("GET", { accept: "application/json" })).status, 406);
});

test("close() tells clients to come back: another instance sends what happened meanwhile", async () => {
  const store = memoryStore();
  const [one, two] = [newServer({ store }).server, newServer({ store }).server];
  const started = await session(one);
  const stream = readEvents(await started.other("GET"));
  const { id } = (await stream.next())!;
  assert.ok(id);
  one.close();
  const { retry } = (await stream.next())!;
  assert.ok(retry! >= 500 && retry! <= 1000, `${retry} ms`);
  assert.is(await stream.next(), undefined);
  await two.listChanged("tools");
  const headers = { accept: "text/event-stream", "mcp-session-id": started.id, "last-event-id": id! };
  const again = readEvents(
    await two.fetch(
      new Request("http://127.0.0.1:8787/mcp", {
        headers: { ...headers, "mcp-protocol-version": "2025-11-25" },
      }),
    ),
  );
  assert.is((await again.message()).method, "notifications/tools/list_changed");
  await again.cancel();
});

test("close() leaves running calls alone; stopCalls() ends them with an error, also for clients that resume", async () => {
  const store = memoryStore();
  const signals: AbortSignal[] = [];
  const endless = tool({
    name: "endless",
    description: "Reports progress and never ends",
    async run(_, { progress, signal }) {
      signals.push(signal);
      await progress(1);
      await new Promise<never>(() => {});
    },
  });
  const definitions = [endless];
  const [one, two] = [newServer({ store, definitions }).server, newServer({ store, definitions }).server];
  const started = await session(one);
  const params = { name: "endless", arguments: {}, _meta: { progressToken: "p" } };
  const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params };
  const stream = readEvents(await started.fetch(call));
  const { params: { progress } } = await stream.message();
  assert.is(progress, 1);
  one.close();
  const resume = (last: string) =>
    two.fetch(
      new Request("http://127.0.0.1:8787/mcp", {
        headers: {
          accept: "text/event-stream",
          "mcp-session-id": started.id,
          "mcp-protocol-version": "2025-11-25",
          "last-event-id": last,
        },
      }),
    );
  await one.stopCalls();
  const last = (await stream.next())!;
  const { id, error } = JSON.parse(last.data!);
  assert.equal([id, error.code], [7, -32603]);
  assert.is(await stream.next(), undefined);
  assert.is(signals[0]!.aborted, true);
  const [name, number] = last.id!.split(".");
  const again = readEvents(await resume(`${name}.${Number(number) - 1}`));
  assert.is((await again.message()).error.code, -32603);
  assert.is(await again.next(), undefined);
});

test.run();
