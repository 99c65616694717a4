import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../store/memory.ts";
import type { Key, Store } from "../store/store.ts";
import { Changes } from "./changes.ts";
import { hearChanges, type SessionChangesOptions } from "./session_changes.ts";
import { type Session, Sessions } from "./session.ts";
import { Wakeups } from "./wakeups.ts";

const test = suite("mcp/session_changes");

/** A store whose answers come when `answer` says so. */
function slowStore(answer: (key: Key) => Promise<void>): Store {
  const store = memoryStore();
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (name === "get") {
        return async (key: Key) => {
          await answer(key);
          return await store.get(key);
        };
      }
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

function begin(store: Store): { options: SessionChangesOptions; session: Session } {
  const secret = () => Promise.resolve(new Uint8Array(32));
  const wakeups = new Wakeups(store);
  const sessions = new Sessions({ store, secret, now: Date.now, lifetime: 60_000 });
  const session = sessions.local(
    { revision: "2025-11-25", capabilities: {}, clientInfo: {} },
    undefined,
  );
  return { options: { changes: new Changes(store, wakeups, Date.now), sessions, wakeups }, session };
}

const subscribe = ({ sessions }: SessionChangesOptions, session: Session, ...subscriptions: string[]) =>
  sessions.change(session, (settings) => ({ ...settings, subscriptions }));

test("a subscription counts for what changes right after it, however slowly it is read", async () => {
  let slow = false;
  const store = slowStore(([, kind]) =>
    slow && kind === "session" ? new Promise((resolve) => setTimeout(resolve, 30)) : Promise.resolve()
  );
  const { options, session } = begin(store);
  const told: string[] = [];
  const done = Promise.withResolvers<void>();
  const stop = hearChanges(options, session, ({ change }) => {
    told.push(change.kind === "resource" ? change.uri : change.kind);
    if (change.kind === "prompts") done.resolve();
  });
  await options.changes.place();
  await subscribe(options, session, "test://a");
  slow = true;
  await options.changes.tell({ kind: "resource", uri: "test://a" });
  await options.changes.tell({ kind: "resource", uri: "test://b" });
  await options.changes.tell({ kind: "tools" });
  await subscribe(options, session);
  await options.changes.tell({ kind: "resource", uri: "test://a" });
  await options.changes.tell({ kind: "prompts" });
  await done.promise;
  assert.equal(told, ["test://a", "tools", "prompts"]);
  stop();
});

test("what was missed comes first, and once", async () => {
  const { options, session } = begin(memoryStore());
  const { changes } = options;
  await subscribe(options, session, "test://a");
  const place = await changes.place();
  await changes.tell({ kind: "resource", uri: "test://a" });
  await changes.tell({ kind: "resource", uri: "test://b" });
  const told: string[] = [];
  const done = Promise.withResolvers<void>();
  const stop = hearChanges(options, session, ({ change }) => {
    told.push(change.kind);
    if (change.kind === "prompts") done.resolve();
  }, { place });
  // It comes while those before it are found.
  await changes.tell({ kind: "tools" });
  await changes.tell({ kind: "prompts" });
  await done.promise;
  assert.equal(told, ["resource", "tools", "prompts"]);
  stop();
});

test("a change waits for what has to be settled before it, as of when it came", async () => {
  const { options, session } = begin(memoryStore());
  const done = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  let settled = first.promise;
  const told: string[] = [];
  const stop = hearChanges(options, session, ({ change }) => {
    told.push(change.kind);
    if (change.kind === "tools") done.resolve();
  }, { settled: () => settled });
  await options.changes.place();
  await options.changes.tell({ kind: "prompts" });
  await new Promise((resolve) => setTimeout(resolve, 10));
  settled = Promise.resolve();
  await options.changes.tell({ kind: "tools" });
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(told, []);
  first.resolve();
  await done.promise;
  assert.equal(told, ["prompts", "tools"]);
  stop();
});

test.run();
