import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import { acceptClientResponse, sendServerRequest } from "./server_request.ts";
import type { Session } from "../session/session.ts";
import { Wakeups } from "../session/wakeups.ts";

const test = suite("mcp/server_request");
const session: Session = {
  id: "s",
  revision: "2025-11-25",
  capabilities: {},
  clientInfo: {},
  principal: "",
  expires: Infinity,
};

/** Sends a request to the client, on a store that can fail to read responses. */
async function sendRequest() {
  const inner = memoryStore();
  const state = { isDown: false, now: Date.now() };
  const store: Store = {
    guarantees: inner.guarantees,
    async get(key) {
      if (state.isDown && key[1] === "answer") throw new StoreUnavailableError("down");
      return await inner.get(key);
    },
    list: (prefix, options) => inner.list(prefix, options),
    commit: (commit) => inner.commit(commit),
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  const wakeups = new Wakeups(store);
  let wake = (): void => {};
  const { listen } = wakeups;
  wakeups.listen = (topic, listener) => {
    wake = () => listener(undefined);
    return listen.call(wakeups, topic, listener);
  };
  const options = { store, wakeups, now: () => state.now };
  const cancel = new AbortController();
  const sent = Promise.withResolvers<string>();
  const messages: Record<string, unknown>[] = [];
  const result = sendServerRequest(
    options,
    session,
    undefined,
    "roots/list",
    undefined,
    (json) => {
      messages.push(JSON.parse(json));
      sent.resolve(json);
    },
    cancel.signal,
  );
  const { id } = JSON.parse(await sent.promise);
  const answer = (members: object) =>
    acceptClientResponse(options, session, undefined, { kind: "response", id, ...members } as never);
  return { result, answer, cancel, messages, state, inner, wake: () => wake() };
}

const reasonOf = (promise: Promise<unknown>) => promise.then(() => undefined, (error) => error);

test("a response resolves its request once and leaves no record", async () => {
  const { result, answer, inner } = await sendRequest();
  assert.is(await answer({ result: { roots: [] } }), true);
  assert.is(await answer({ result: {} }), false);
  assert.equal(await result, { roots: [] });
  assert.equal(await inner.list([]), []);
});

test("a response during an outage of the store is not lost", async () => {
  const { result, answer, state, wake } = await sendRequest();
  state.isDown = true;
  assert.is(await answer({ result: { ok: true } }), true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  state.isDown = false;
  wake();
  assert.equal(await result, { ok: true });
});

test("a response after the cancellation of the call is refused", async () => {
  const { result, answer, cancel, inner } = await sendRequest();
  cancel.abort(new Error("cancelled"));
  assert.is((await reasonOf(result)).message, "cancelled");
  assert.is(await answer({ result: {} }), false);
  assert.equal(await inner.list([]), []);
});

test("a request without a response in time is cancelled at the client", async () => {
  const { result, messages, state, wake } = await sendRequest();
  state.now += 30 * 60_000;
  wake();
  assert.is((await reasonOf(result)).code, -32603);
  const { method, params } = messages[1]!;
  assert.is(method, "notifications/cancelled");
  assert.is((params as { requestId: unknown }).requestId, messages[0]!.id);
  assert.is(messages.length, 2);
});

test("an error response rejects the request with the client's code and message", async () => {
  const { result, answer } = await sendRequest();
  const reason = reasonOf(result);
  assert.is(await answer({ error: { code: -1, message: "No" } }), true);
  assert.is((await reason).code, -1);
  assert.match((await reason).message, /roots\/list .*: No/);
});

test.run();
