import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Key, ListOptions, Store } from "../../store/store.ts";
import { Changes } from "../definition/changes.ts";
import { type SessionChangesOptions, watchSessionChanges } from "./session_changes.ts";
import { type Session, Sessions } from "./session.ts";
import { Subscriptions } from "./session_subscriptions.ts";
import { STORAGE_LIMITS, StorageAllowance } from "./storage_limits.ts";
import { Wakeups } from "./wakeups.ts";

const test = suite("mcp/session_changes");

/** A store whose reads resolve when `answer` is called. */
function slowStore(answer: (key: Key) => Promise<void>): Store {
  const store = memoryStore();
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (name === "get" || name === "list") {
        return async (key: Key, options?: ListOptions) => {
          await answer(key);
          return name === "get" ? await store.get(key) : await store.list(key, options);
        };
      }
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

const NOBODY = { principal: undefined, runtime: undefined };

function begin(store: Store): { options: SessionChangesOptions; session: Session } {
  const secret = () => Promise.resolve(new Uint8Array(32));
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

test("a subscription counts for a change right after it, however slowly it is read", async () => {
  let slow = false;
  const store = slowStore(([, kind]) =>
    slow && kind === "session" ? new Promise((resolve) => setTimeout(resolve, 30)) : Promise.resolve()
  );
  const { options, session } = begin(store);
  const told: string[] = [];
  const done = Promise.withResolvers<void>();
  const stop = watchSessionChanges(options, session, NOBODY, ({ change }) => {
    told.push(change.kind === "resource" ? change.uri : change.kind);
    if (change.kind === "prompts") done.resolve();
  });
  await options.changes.latestPosition();
  await options.subscriptions.add(session, "test://a", NOBODY);
  slow = true;
  await options.changes.publish({ kind: "resource", uri: "test://a" });
  await options.changes.publish({ kind: "resource", uri: "test://b" });
  await options.changes.publish({ kind: "tools" });
  await options.subscriptions.remove(session, "test://a", NOBODY);
  await options.changes.publish({ kind: "resource", uri: "test://a" });
  await options.changes.publish({ kind: "prompts" });
  await done.promise;
  assert.equal(told, ["test://a", "tools", "prompts"]);
  stop();
});

test("missed changes come first, and once", async () => {
  const { options, session } = begin(memoryStore());
  const { changes } = options;
  await options.subscriptions.add(session, "test://a", NOBODY);
  const position = await changes.latestPosition();
  await changes.publish({ kind: "resource", uri: "test://a" });
  await changes.publish({ kind: "resource", uri: "test://b" });
  const told: string[] = [];
  const done = Promise.withResolvers<void>();
  const stop = watchSessionChanges(options, session, NOBODY, ({ change }) => {
    told.push(change.kind);
    if (change.kind === "prompts") done.resolve();
  }, { position });
  // It comes while earlier changes are read.
  await changes.publish({ kind: "tools" });
  await changes.publish({ kind: "prompts" });
  await done.promise;
  assert.equal(told, ["resource", "tools", "prompts"]);
  stop();
});

test("a change waits for what `settled` returned when it came", async () => {
  const { options, session } = begin(memoryStore());
  const done = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  let settled = first.promise;
  const told: string[] = [];
  const stop = watchSessionChanges(options, session, NOBODY, ({ change }) => {
    told.push(change.kind);
    if (change.kind === "tools") done.resolve();
  }, { settled: () => settled });
  await options.changes.latestPosition();
  await options.changes.publish({ kind: "prompts" });
  await new Promise((resolve) => setTimeout(resolve, 10));
  settled = Promise.resolve();
  await options.changes.publish({ kind: "tools" });
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(told, []);
  first.resolve();
  await done.promise;
  assert.equal(told, ["prompts", "tools"]);
  stop();
});

test.run();
