import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Key, type ListOptions, type Store, StoreUnavailableError } from "../../store/store.ts";
import { Changes } from "../definition/changes.ts";
import { type SessionChangesOptions, watchSessionChanges } from "./session_changes.ts";
import { type Session, Sessions, settingsTopic } from "./session.ts";
import { Subscriptions } from "./session_subscriptions.ts";
import { STORAGE_LIMITS, StorageAllowance } from "./storage_limits.ts";
import { Wakeups } from "./wakeups.ts";

const test = suite("mcp/session_changes");

/** A store whose reads wait for `delay`. */
function slowStore(delay: (key: Key) => Promise<void>): Store {
  const store = memoryStore();
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (name === "get" || name === "list") {
        return async (key: Key, options?: ListOptions) => {
          await delay(key);
          return name === "get" ? await store.get(key) : await store.list(key, options);
        };
      }
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

const ANONYMOUS = { principal: undefined, runtime: undefined };

function begin(store: Store): { options: SessionChangesOptions; session: Session } {
  const secret = () => soleSecret(new Uint8Array(32));
  const wakeups = new Wakeups(store);
  const storage = new StorageAllowance(STORAGE_LIMITS, Date.now);
  const sessions = new Sessions({ store, storage, secret, now: Date.now, lifetime: 60_000 });
  const session = sessions.createLocal(
    { revision: "2025-11-25", capabilities: {}, clientInfo: {} },
    undefined,
  );
  const subscriptions = new Subscriptions({ store, sessions, storage, now: Date.now });
  return { options: { changes: new Changes(store, wakeups, Date.now), subscriptions, wakeups }, session };
}

test("a subscription applies to the next change, even if the store is slow", async () => {
  let slow = false;
  const store = slowStore(([, kind]) =>
    slow && kind === "session" ? new Promise((resolve) => setTimeout(resolve, 30)) : Promise.resolve()
  );
  const { options, session } = begin(store);
  const received: string[] = [];
  const done = Promise.withResolvers<void>();
  const stop = watchSessionChanges(options, session, ANONYMOUS, ({ change }) => {
    received.push(change.kind === "resource" ? change.uri : change.kind);
    if (change.kind === "prompts") done.resolve();
  });
  await options.changes.latestPosition();
  await options.subscriptions.add(session, "test://a", ANONYMOUS);
  slow = true;
  await options.changes.publish({ kind: "resource", uri: "test://a" });
  await options.changes.publish({ kind: "resource", uri: "test://b" });
  await options.changes.publish({ kind: "tools" });
  await options.subscriptions.remove(session, "test://a", ANONYMOUS);
  await options.changes.publish({ kind: "resource", uri: "test://a" });
  await options.changes.publish({ kind: "prompts" });
  await done.promise;
  assert.equal(received, ["test://a", "tools", "prompts"]);
  stop();
});

test("a subscription that could not be read while the store was unavailable applies to the next change", async () => {
  let failures = 0;
  const store = slowStore(([, kind]) => {
    if (kind !== "session" || failures === 0) return Promise.resolve();
    failures--;
    return Promise.reject(new StoreUnavailableError("unavailable"));
  });
  const { options, session } = begin(store);
  const received: string[] = [];
  const done = Promise.withResolvers<void>();
  // It is called before the listener of the stream, whose reads then fail.
  const stopFailing = options.wakeups.listen(settingsTopic(session), () => failures = 2);
  const stop = watchSessionChanges(options, session, ANONYMOUS, ({ change }) => {
    received.push(change.kind === "resource" ? change.uri : change.kind);
    if (change.kind === "tools") done.resolve();
  });
  await options.changes.latestPosition();
  await options.subscriptions.add(session, "test://a", ANONYMOUS);
  await options.changes.publish({ kind: "resource", uri: "test://a" });
  await options.changes.publish({ kind: "tools" });
  await done.promise;
  assert.equal(received, ["test://a", "tools"]);
  stop();
  stopFailing();
});

test("missed changes are received first, and once", async () => {
  const { options, session } = begin(memoryStore());
  const { changes } = options;
  await options.subscriptions.add(session, "test://a", ANONYMOUS);
  const position = await changes.latestPosition();
  await changes.publish({ kind: "resource", uri: "test://a" });
  await changes.publish({ kind: "resource", uri: "test://b" });
  const received: string[] = [];
  const done = Promise.withResolvers<void>();
  const stop = watchSessionChanges(options, session, ANONYMOUS, ({ change }) => {
    received.push(change.kind);
    if (change.kind === "prompts") done.resolve();
  }, { position });
  // Published while earlier changes are read.
  await changes.publish({ kind: "tools" });
  await changes.publish({ kind: "prompts" });
  await done.promise;
  assert.equal(received, ["resource", "tools", "prompts"]);
  stop();
});

test("a change waits for the promise that settled() returned at its arrival", async () => {
  const { options, session } = begin(memoryStore());
  const done = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  let settled = first.promise;
  const received: string[] = [];
  const stop = watchSessionChanges(options, session, ANONYMOUS, ({ change }) => {
    received.push(change.kind);
    if (change.kind === "tools") done.resolve();
  }, { settled: () => settled });
  await options.changes.latestPosition();
  await options.changes.publish({ kind: "prompts" });
  await new Promise((resolve) => setTimeout(resolve, 10));
  settled = Promise.resolve();
  await options.changes.publish({ kind: "tools" });
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(received, []);
  first.resolve();
  await done.promise;
  assert.equal(received, ["prompts", "tools"]);
  stop();
});

test("the observer learns which resources the stream follows", async () => {
  const { options, session } = begin(memoryStore());
  const seen: string[][] = [];
  let tell = (): void => {};
  const onSubscribed = (uris: ReadonlySet<string>): void => {
    seen.push([...uris]);
    tell();
  };
  const next = (): Promise<void> => new Promise((resolve) => tell = resolve);
  await options.subscriptions.add(session, "test://a", ANONYMOUS);
  let reported = next();
  const stop = watchSessionChanges({ ...options, onSubscribed }, session, ANONYMOUS, () => {});
  await reported;
  reported = next();
  await options.subscriptions.add(session, "test://b", ANONYMOUS);
  await reported;
  stop();
  assert.equal(seen.map((each) => each.sort()), [["test://a"], ["test://a", "test://b"]]);
});

test.run();
