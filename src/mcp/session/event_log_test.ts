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
  const state = { away: false, commits: 0, ahead: 0, watches: 0 };
  const ifThere = <Result>(work: () => Promise<Result>): Promise<Result> =>
    state.away ? Promise.reject(new StoreUnavailableError("away")) : work();
  const store: Store = {
    guarantees: inner.guarantees,
    get: (key) => ifThere(() => inner.get(key)),
    list: (prefix, options) => ifThere(() => inner.list(prefix, options)),
    commit(commit) {
      state.commits++;
      return ifThere(() => inner.commit(commit));
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

const NOBODY = { principal: undefined, runtime: undefined };
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const never = new AbortController().signal;

async function read(
  options: EventLogOptions,
  id: string,
  signal = never,
): Promise<AsyncGenerator<ReplayedEvent>> {
  const events = await replayStream(options, "s", parseEventId(id)!, signal, (request) => `lost ${request}`);
  return events!;
}

async function all(events: AsyncGenerator<ReplayedEvent>): Promise<string[]> {
  const found = [];
  for await (const { id, json } of events) found.push(`${parseEventId(id)!.sequence} ${json}`);
  return found;
}

test("events are replayed in order from any event on, while the stream is written and after its end", async () => {
  const { options } = newLog();
  const log = new LogWriter(options, "s", "1", NOBODY);
  await log.started;
  const live = all(await read(options, log.firstId));
  const ids = Array.from({ length: 500 }, (_, i) => log.append(`e${i + 1}`));
  await pause(5);
  const last = log.end("answer");
  await log.written();
  const expected = [...ids.map((_, i) => `${i + 1} e${i + 1}`), "501 answer"];
  assert.equal(await live, expected);
  assert.equal(await all(await read(options, ids[249]!)), expected.slice(250));
  assert.is(await replayStream(options, "s", parseEventId(last!)!, never, String), undefined);
  assert.is(await replayStream(options, "another", parseEventId(ids[0]!)!, never, String), undefined);
});

test("events that come faster than they can be stored are stored in one commit", async () => {
  const { options, state } = newLog();
  const log = new LogWriter(options, "s", "1", NOBODY);
  for (let i = 0; i < 1000; i++) log.append("e");
  assert.is(
    await Promise.race([log.waitUntilWritable().then(() => "room"), Promise.resolve("none")]),
    "none",
  );
  await log.waitUntilWritable();
  log.end();
  await log.written();
  assert.ok(state.commits < 30, `${state.commits} commits`);
  assert.is((await all(await read(options, log.firstId))).length, 1000);
});

test("an unavailable store loses nothing, for writer and reader", async () => {
  const { options, state } = newLog();
  const log = new LogWriter(options, "s", "1", NOBODY);
  await log.started;
  const live = all(await read(options, log.firstId));
  log.append("one");
  await pause(5);
  state.away = true;
  log.append("two");
  log.end("answer");
  await pause(300);
  state.away = false;
  await log.written();
  assert.equal(await live, ["1 one", "2 two", "3 answer"]);
});

test("a store that is unavailable at first: the writer starts all the same", async () => {
  const { options, state } = newLog();
  state.away = true;
  const log = new LogWriter(options, "s", "1", NOBODY);
  await log.started;
  log.end("answer");
  state.away = false;
  await log.written();
  assert.equal(await all(await read(options, log.firstId)), ["1 answer"]);
});

test("a writer whose lease has ended: its stream ends with the error for the request id", async () => {
  const { options, state } = newLog();
  const log = new LogWriter(options, "s", '"r"', NOBODY);
  log.append("one");
  await log.written();
  state.ahead = 80_000;
  assert.equal(await all(await read(options, log.firstId)), ["1 one", '2 lost "r"']);
  log.end();
});

test("a lease that is renewed late, since the store was unavailable, does not end the stream", async () => {
  const { options, state } = newLog();
  const log = new LogWriter(options, "s", "1", NOBODY);
  log.append("one");
  await log.written();
  state.ahead = 16_000;
  const live = all(await read(options, log.firstId));
  await pause(50);
  log.end("answer");
  assert.equal(await live, ["1 one", "2 answer"]);
});

test("a reader that stops leaves nothing open", async () => {
  const { options } = newLog();
  const log = new LogWriter(options, "s", "1", NOBODY);
  await log.started;
  let listeners = 0;
  const { wakeups } = options;
  const listen = wakeups.listen.bind(wakeups);
  wakeups.listen = (topic, listener) => {
    listeners++;
    const stop = listen(topic, listener);
    return () => {
      listeners--;
      stop();
    };
  };
  const gone = new AbortController();
  const events = all(await read(options, log.firstId, gone.signal));
  await pause(5);
  assert.is(listeners, 1);
  gone.abort();
  assert.equal(await events, []);
  assert.is(listeners, 0);
  log.end();
});

test.run();
