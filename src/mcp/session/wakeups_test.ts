import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Key, Store } from "../../store/store.ts";
import { until } from "../../test_until.ts";
import { Changes } from "../definition/changes.ts";
import { resource } from "../definition/define.ts";
import { readEvents, session } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";
import { Sessions } from "./session.ts";
import { watchSessionChanges } from "./session_changes.ts";
import { Subscriptions } from "./session_subscriptions.ts";
import { STORAGE_LIMITS, StorageAllowance } from "./storage_limits.ts";
import { Wakeups } from "./wakeups.ts";

const test = suite("mcp/wakeups");

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A store that is polled: `poll` reports a commit, which may have changed anything. */
function polledStore(inner: Store = memoryStore()) {
  const watches = new Set<[ReadableStreamDefaultController<readonly Key[]>, Key]>();
  let reads = 0;
  const store = new Proxy(inner, {
    get(target, name) {
      if (name === "watch") {
        return (prefix: Key) => {
          let own: [ReadableStreamDefaultController<readonly Key[]>, Key];
          return new ReadableStream<readonly Key[]>({
            start: (controller) => void watches.add(own = [controller, prefix]),
            cancel: () => void watches.delete(own),
          });
        };
      }
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name === "get" || name === "list") reads++;
      return member.bind(target);
    },
  });
  const poll = (): void => watches.forEach(([controller, prefix]) => controller.enqueue([prefix]));
  return { store, poll, reads: () => reads };
}

test("idle streams do not read a polled store for each commit, and others are notified of each", async () => {
  const { store, poll } = polledStore();
  const wakeups = new Wakeups(store);
  let idle = 0;
  let called = 0;
  const stops = Array.from({ length: 500 }, (_, i) => wakeups.listen(["session", `s${i}`], () => idle++));
  stops.push(wakeups.listen(["answer", "a", "1"], () => called++));
  poll();
  await until(() => idle === 500);
  for (let i = 0; i < 20; i++) {
    poll();
    await later(1);
  }
  await until(() => called === 21);
  assert.ok(wakeups.isBehind);
  assert.ok(idle <= 1000, `${idle}`);
  // None misses the last one.
  const before = idle;
  await until(() => idle === before + 500);
  assert.not(wakeups.isBehind);
  for (const stop of stops) stop();
});

test("a stream whose reads are slower than the commits holds no queue of them", async () => {
  const { store, poll, reads } = polledStore();
  const { server } = newServer({ store, definitions: [resource({ uri: "a:b", name: "b", read: () => "" })] });
  const own = await session(server, {});
  const events = readEvents(await own.other("GET"));
  let go = (): void => {};
  const blocked = new Promise<void>((resolve) => go = resolve);
  const inner = store.get.bind(store);
  Object.assign(store, {
    get: async (key: Key) => {
      await blocked;
      return await inner(key);
    },
  });
  for (let i = 0; i < 100; i++) {
    poll();
    await later(2);
  }
  const before = reads();
  go();
  await later(100);
  assert.ok(reads() - before < 20, `${reads() - before} reads`);
  await events.cancel();
});

test("a change is for the subscriptions that came before it, also while the streams are not notified yet", async () => {
  const { store, poll } = polledStore();
  const wakeups = new Wakeups(store);
  const storage = new StorageAllowance(STORAGE_LIMITS, Date.now);
  const secret = () => soleSecret(new Uint8Array(32));
  const sessions = new Sessions({ store, storage, secret, now: Date.now, lifetime: 60_000 });
  const local = { revision: "2025-11-25", capabilities: {}, clientInfo: {} } as const;
  const own = sessions.createLocal(local, undefined);
  const caller = { principal: undefined, runtime: undefined };
  const subscriptions = new Subscriptions({ store, sessions, storage, now: Date.now });
  const changes = new Changes(store, wakeups, Date.now);
  const received: string[] = [];
  const stops = [watchSessionChanges({ changes, subscriptions, wakeups }, own, caller, ({ change }) => {
    received.push(change.kind === "resource" ? change.uri : change.kind);
  })];
  let notified = 0;
  for (let i = 0; i < 2000; i++) stops.push(wakeups.listen(["stream", `s${i}`], () => notified++));
  poll();
  await until(() => notified === 2000);
  const began = performance.now();
  // At another instance.
  await subscriptions.add(own, "test://a", caller);
  await new Changes(store, new Wakeups(store), Date.now).publish({ kind: "resource", uri: "test://a" });
  poll();
  await until(() => received.length > 0);
  assert.equal(received, ["test://a"]);
  assert.ok(performance.now() - began < 1500);
  for (const stop of stops) stop();
});

test.run();
