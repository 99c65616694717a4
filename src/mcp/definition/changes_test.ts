import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Key, Store } from "../../store/store.ts";
import { Changes, isPlace } from "./changes.ts";
import { Wakeups } from "../session/wakeups.ts";

const test = suite("mcp/changes");

function changesOver(store: Store, now: () => number = Date.now): Changes {
  return new Changes(store, new Wakeups(store), now);
}

/** What a listener heard, as URIs, and a wait until it is so much. */
function ear() {
  const heard: string[] = [];
  const places: string[] = [];
  const hear = ({ place, change }: { place: string; change: { kind: string; uri?: string } }): void => {
    heard.push(change.uri ?? change.kind);
    places.push(place);
  };
  const until = async (count: number): Promise<string[]> => {
    for (let i = 0; i < 500 && heard.length < count; i++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return heard;
  };
  return { heard, places, hear, until };
}

/** The store with some methods of another kind. */
function but(store: Store, others: Partial<Store>): Store {
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

test("changes of many instances at once are heard once and in one order by all", async () => {
  const store = memoryStore();
  const instances = Array.from({ length: 4 }, () => changesOver(store));
  const ears = instances.map((changes) => {
    const own = ear();
    return { ...own, stop: changes.listen(own.hear) };
  });
  await instances[0]!.place();
  const uris = Array.from({ length: 240 }, (_, i) => String(i).padStart(3, "0"));
  await Promise.all(uris.map((uri, i) => instances[i % 4]!.tell(update(uri))));
  for (const { until, stop } of ears) {
    await until(uris.length);
    stop();
  }
  const [first, ...others] = ears.map(({ heard }) => heard);
  assert.equal([...first!].sort(), uris);
  for (const other of others) assert.equal(other, first);
});

test("an instance whose clock is behind tells what comes after, all the same", async () => {
  const store = memoryStore();
  const [a, b] = [changesOver(store), changesOver(store, () => Date.now() - 60_000)];
  await a.tell(update("one"));
  const place = await a.place();
  assert.ok(isPlace(place));
  await b.tell(update("two"));
  const { hear, until, places } = ear();
  const stop = a.listen(hear, place);
  assert.equal(await until(1), ["two"]);
  assert.ok(Number(places[0]) > Number(place));
  stop();
});

test("a listener hears what came after its place, and what comes, each once", async () => {
  const store = memoryStore();
  const changes = changesOver(store);
  const start = await changes.place();
  const early = ear();
  const stops = [changes.listen(early.hear, start)];
  for (let i = 0; i < 250; i++) await changes.tell(update(String(i)));
  await early.until(250);
  const late = ear();
  // Between two others, of which one comes while it reads.
  stops.push(changes.listen(late.hear, early.places[99]!));
  await changes.tell(update("last"));
  assert.equal(await late.until(151), early.heard.slice(100));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.is(early.heard.length, 251);
  assert.is(late.heard.length, 151);
  for (const stop of stops) stop();
});

test("without a place it begins with what is told next", async () => {
  const changes = changesOver(memoryStore());
  await changes.tell(update("before"));
  const { hear, until } = ear();
  const stop = changes.listen(hear);
  await changes.place();
  await changes.tell(update("after"));
  assert.equal(await until(1), ["after"]);
  stop();
});

test("a store that fails loses nothing", async () => {
  const store = memoryStore();
  let fails = false;
  const failing = but(store, {
    list: (prefix, options) => fails ? Promise.reject(new Error("down")) : store.list(prefix, options),
  });
  const changes = changesOver(failing);
  const { hear, heard, until } = ear();
  const stop = changes.listen(hear, await changes.place());
  fails = true;
  await changes.tell(update("one"));
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(heard, []);
  fails = false;
  await changes.tell(update("two"));
  assert.equal(await until(2), ["one", "two"]);
  stop();
});

test("the last one to go ends the watch", async () => {
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
  const changes = changesOver(but(store, { watch }));
  const stops = [changes.listen(() => {}), changes.listen(() => {})];
  assert.is(watches, 1);
  stops[0]!();
  stops[0]!();
  assert.is(watches, 1);
  stops[1]!();
  assert.is(watches, 0);
});

test.run();
