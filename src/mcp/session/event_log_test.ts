import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import {
  type EventLogOptions,
  LogWriter,
  parseEventId,
  type ReplayedEvent,
  replayStream,
} from "./event_log.ts";
import { STORAGE_LIMITS, StorageAllowance, type StorageLimits } from "./storage_limits.ts";
import { Wakeups } from "./wakeups.ts";

const test = suite("mcp/event_log");

/** A log on a store that can be made unavailable, with a clock that can be set. */
function newLog(limits: Partial<StorageLimits> = {}) {
  const inner = memoryStore();
  const state = { isDown: false, commits: 0, ahead: 0, watches: 0 };
  const whileUp = <Result>(work: () => Promise<Result>): Promise<Result> =>
    state.isDown ? Promise.reject(new StoreUnavailableError("down")) : work();
  const store: Store = {
    guarantees: inner.guarantees,
    get: (key) => whileUp(() => inner.get(key)),
    list: (prefix, options) => whileUp(() => inner.list(prefix, options)),
    commit(commit) {
      state.commits++;
      return whileUp(() => inner.commit(commit));
    },
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  const now = () => Date.now() + state.ahead;
  const storage = new StorageAllowance({ ...STORAGE_LIMITS, ...limits }, now);
  const options: EventLogOptions = { store, wakeups: new Wakeups(store), now, lifetime: 600_000, storage };
  return { state, options };
}

const ANONYMOUS = { principal: undefined, runtime: undefined };
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const never = new AbortController().signal;

async function read(
  options: EventLogOptions,
  id: string,
  signal = never,
): Promise<AsyncGenerator<ReplayedEvent>> {
  const events = await replayStream(
    options,
    "s",
    undefined,
    parseEventId(id)!,
    signal,
    (request) => `lost ${request}`,
  );
  return events!;
}

async function all(events: AsyncGenerator<ReplayedEvent>): Promise<string[]> {
  const found = [];
  for await (const { id, json } of events) found.push(`${parseEventId(id)!.sequence} ${json}`);
  return found;
}

test("events are replayed in order after any event, during and after the stream", async () => {
  const { options } = newLog();
  const log = new LogWriter(options, "s", "1", ANONYMOUS);
  await log.started;
  const live = all(await read(options, log.firstId));
  const ids = Array.from({ length: 500 }, (_, i) => log.append(`e${i + 1}`));
  await pause(5);
  const last = log.end("response");
  await log.written();
  const expected = [...ids.map((_, i) => `${i + 1} e${i + 1}`), "501 response"];
  assert.equal(await live, expected);
  assert.equal(await all(await read(options, ids[249]!)), expected.slice(250));
  assert.is(await replayStream(options, "s", undefined, parseEventId(last!)!, never, String), undefined);
  assert.is(
    await replayStream(options, "another", undefined, parseEventId(ids[0]!)!, never, String),
    undefined,
  );
});

test("events that arrive faster than commits are stored together", async () => {
  const { options, state } = newLog();
  const log = new LogWriter(options, "s", "1", ANONYMOUS);
  for (let i = 0; i < 1000; i++) log.append("e");
  assert.is(
    await Promise.race([log.waitUntilWritable().then(() => "writable"), Promise.resolve("full")]),
    "full",
  );
  await log.waitUntilWritable();
  log.end();
  await log.written();
  assert.ok(state.commits < 30, `${state.commits} commits`);
  assert.is((await all(await read(options, log.firstId))).length, 1000);
});

test("an outage of the store loses no events for writer and reader", async () => {
  const { options, state } = newLog();
  const log = new LogWriter(options, "s", "1", ANONYMOUS);
  await log.started;
  const live = all(await read(options, log.firstId));
  log.append("one");
  await pause(5);
  state.isDown = true;
  log.append("two");
  log.end("answer");
  await pause(300);
  state.isDown = false;
  await log.written();
  assert.equal(await live, ["1 one", "2 two", "3 answer"]);
});

test("a writer starts while the store is unavailable", async () => {
  const { options, state } = newLog();
  state.isDown = true;
  const log = new LogWriter(options, "s", "1", ANONYMOUS);
  await log.started;
  log.end("answer");
  state.isDown = false;
  await log.written();
  assert.equal(await all(await read(options, log.firstId)), ["1 answer"]);
});

test("the stream of a writer whose lease has ended ends with an error for the request id", async () => {
  const { options, state } = newLog();
  const log = new LogWriter(options, "s", '"r"', ANONYMOUS);
  log.append("one");
  await log.written();
  state.ahead = 80_000;
  assert.equal(await all(await read(options, log.firstId)), ["1 one", '2 lost "r"']);
  log.end();
});

test("a late renewal of the lease does not end the stream", async () => {
  const { options, state } = newLog();
  const log = new LogWriter(options, "s", "1", ANONYMOUS);
  log.append("one");
  await log.written();
  state.ahead = 16_000;
  const live = all(await read(options, log.firstId));
  await pause(50);
  log.end("answer");
  assert.equal(await live, ["1 one", "2 answer"]);
});

test("a reader that stops removes its listener", async () => {
  const { options } = newLog();
  const log = new LogWriter(options, "s", "1", ANONYMOUS);
  await log.started;
  let listeners = 0;
  const { wakeups } = options;
  const listen = wakeups.listen.bind(wakeups);
  wakeups.listen = (topic, listener) => {
    listeners++;
    const remove = listen(topic, listener);
    return () => {
      listeners--;
      remove();
    };
  };
  const stop = new AbortController();
  const events = all(await read(options, log.firstId, stop.signal));
  await pause(5);
  assert.is(listeners, 1);
  stop.abort();
  assert.equal(await events, []);
  assert.is(listeners, 0);
  log.end();
});

test.run();
