import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Key, type Store, StoreUnavailableError } from "../../store/store.ts";
import { Changes, isChangePosition } from "./changes.ts";
import { Wakeups, watchedKey } from "../session/wakeups.ts";
import { until } from "../../test_until.ts";

const test = suite("mcp/changes");

function changesOver(store: Store, now: () => number = Date.now): Changes {
  return new Changes(store, new Wakeups(store), now);
}

/** A listener that collects changes as URIs. `receive()` waits for a number of changes. */
function collect() {
  const received: string[] = [];
  const positions: string[] = [];
  const onChange = (
    { position, change }: { position: string; change: { kind: string; uri?: string } },
  ): void => {
    received.push(change.uri ?? change.kind);
    positions.push(position);
  };
  const receive = (count: number): Promise<string[]> => until(() => received.length >= count && received);
  return { received, positions, onChange, receive };
}

/** The store with some methods replaced. */
function withMethods(store: Store, others: Partial<Store>): Store {
  return {
    guarantees: store.guarantees,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => store.commit(commit),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
    ...others,
  };
}

const update = (uri: string) => ({ kind: "resource", uri }) as const;

test("all instances receive concurrent changes once and in the same order", async () => {
  const store = memoryStore();
  const instances = Array.from({ length: 4 }, () => changesOver(store));
  const collectors = instances.map((changes) => {
    const own = collect();
    return { ...own, stop: changes.listen(own.onChange) };
  });
  await instances[0]!.latestPosition();
  const uris = Array.from({ length: 240 }, (_, i) => String(i).padStart(3, "0"));
  await Promise.all(uris.map((uri, i) => instances[i % 4]!.publish(update(uri))));
  for (const { receive, stop } of collectors) {
    await receive(uris.length);
    stop();
  }
  const [first, ...others] = collectors.map(({ received }) => received);
  assert.equal([...first!].sort(), uris);
  for (const other of others) assert.equal(other, first);
});

test("changes of an instance with a slow clock follow earlier changes", async () => {
  const store = memoryStore();
  const [a, b] = [changesOver(store), changesOver(store, () => Date.now() - 60_000)];
  await a.publish(update("one"));
  const position = await a.latestPosition();
  assert.ok(isChangePosition(position));
  await b.publish(update("two"));
  const { onChange, receive, positions } = collect();
  const stop = a.listen(onChange, position);
  assert.equal(await receive(1), ["two"]);
  assert.ok(Number(positions[0]) > Number(position));
  stop();
});

test("a listener receives all changes after its position, each once", async () => {
  const store = memoryStore();
  const changes = changesOver(store);
  const start = await changes.latestPosition();
  const early = collect();
  const stops = [changes.listen(early.onChange, start)];
  for (let i = 0; i < 250; i++) await changes.publish(update(String(i)));
  await early.receive(250);
  const late = collect();
  // One change is published while it reads.
  stops.push(changes.listen(late.onChange, early.positions[99]!));
  await changes.publish(update("last"));
  assert.equal(await late.receive(151), early.received.slice(100));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.is(early.received.length, 251);
  assert.is(late.received.length, 151);
  for (const stop of stops) stop();
});

test("without a position a listener receives only new changes", async () => {
  const changes = changesOver(memoryStore());
  await changes.publish(update("before"));
  const { onChange, receive } = collect();
  const stop = changes.listen(onChange);
  await changes.latestPosition();
  await changes.publish(update("after"));
  assert.equal(await receive(1), ["after"]);
  stop();
});

test("after a position there is a gap only if a change has expired, also after that of an empty log", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const changes = changesOver(store, () => now);
  assert.is(await changes.findGapEnd("0"), undefined);
  await changes.publish(update("test://1"));
  const first = await changes.latestPosition();
  assert.is(await changes.findGapEnd("0"), undefined);
  now += 10 * 60_000;
  // The first change has expired.
  assert.is(await changes.findGapEnd("0"), first);
  assert.is(await changes.findGapEnd(first), undefined);
  await Promise.all([2, 3].map((i) => changes.publish(update(`test://${i}`))));
  const third = await changes.latestPosition();
  assert.is(await changes.findGapEnd("0"), third);
  // Both changes after it are there, however old it is.
  assert.is(await changes.findGapEnd(first), undefined);
  now += 10 * 60_000;
  assert.is(await changes.findGapEnd(first), third);
});

test("a change that an earlier version wrote does not say whether others have expired", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const changes = changesOver(store, () => now);
  await changes.publish(update("test://1"));
  const first = await changes.latestPosition();
  now += 10 * 60_000;
  await store.commit({
    set: [{ key: ["mcp_change_count"], value: now }, {
      key: watchedKey("change", now),
      value: update("test://2"),
      expires: now + 60_000,
    }],
  });
  assert.is(await changes.findGapEnd(first), String(now));
  assert.is(await changes.findGapEnd("0"), undefined);
});

test("no change is lost while the store is unavailable", async () => {
  const store = memoryStore();
  let fails = false;
  const failing = withMethods(store, {
    list: (prefix, options) => fails ? Promise.reject(new Error("down")) : store.list(prefix, options),
  });
  const changes = changesOver(failing);
  const { onChange, received, receive } = collect();
  const stop = changes.listen(onChange, await changes.latestPosition());
  fails = true;
  await changes.publish(update("one"));
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(received, []);
  fails = false;
  await changes.publish(update("two"));
  assert.equal(await receive(2), ["one", "two"]);
  stop();
});

test("a changed list that could not be published is published once when the store is back", async () => {
  const store = memoryStore();
  let isDown = true;
  const changes = changesOver(withMethods(store, {
    commit: (commit) => isDown ? Promise.reject(new StoreUnavailableError("down")) : store.commit(commit),
  }));
  const { received, receive, onChange } = collect();
  const stop = changesOver(store).listen(onChange);
  for (const change of [{ kind: "tools" }, { kind: "tools" }, update("a")] as const) {
    const error = await changes.publish(change).catch((error) => error);
    assert.instance(error, StoreUnavailableError);
  }
  isDown = false;
  assert.equal(await receive(1), ["tools"]);
  await changes.publish(update("b"));
  await receive(2);
  assert.equal(received, ["tools", "b"], "the caller repeats an update");
  stop();
});

test("the watch of the store ends with the last listener", async () => {
  const store = memoryStore();
  let watches = 0;
  const watch = (prefix: Key): ReturnType<Store["watch"]> => {
    watches++;
    const reader = store.watch(prefix).getReader();
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (!done) controller.enqueue(value);
      },
      cancel() {
        watches--;
        return reader.cancel();
      },
    });
  };
  const changes = changesOver(withMethods(store, { watch }));
  const stops = [changes.listen(() => {}), changes.listen(() => {})];
  assert.is(watches, 1);
  stops[0]!();
  stops[0]!();
  assert.is(watches, 1);
  stops[1]!();
  assert.is(watches, 0);
});

test.run();
