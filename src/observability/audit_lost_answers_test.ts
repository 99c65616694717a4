import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../events.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";
import { createAudit } from "./audit.ts";
import { listAudit } from "./read_audit.ts";
import { verifyAudit } from "./verify_audit.ts";

const test = suite("observability/audit_lost_answers");
const given = (user: string): TrivetEvent => ({ type: "consent_given", user, client: "app", scope: "read" });

/** A store where some commits are done but their answers are lost. @param loses decides, by the number of the commit */
function losingStore(loses: (commit: number) => boolean, inner: Store = memoryStore()): Store {
  let commits = 0;
  return {
    ...inner,
    get: (key) => inner.get(key),
    list: (prefix, options) => inner.list(prefix, options),
    async commit(commit) {
      const isLost = loses(++commits);
      const done = await inner.commit(commit);
      if (isLost) throw new StoreUnavailableError("The answer was lost");
      return done;
    },
  };
}

/** The users of all records. */
const usersOf = async (store: Store) =>
  (await Array.fromAsync(listAudit(store))).map(({ fields }) => String(fields["user"]));

test("a record is written once when the answer to its commit is lost", async () => {
  const store = losingStore((commit) => commit % 2 === 1);
  const audit = createAudit({ store });
  const users = ["a", "b", "c"];
  for (const user of users) {
    audit.add(given(user));
    await audit.flush().then(
      () => assert.unreachable(),
      (error) => assert.instance(error, StoreUnavailableError),
    );
    audit.add(given(`${user} later`));
    await audit.flush();
  }
  await audit.close();
  assert.equal(await usersOf(store), users.flatMap((user) => [user, `${user} later`]));
  assert.ok((await verifyAudit(store, { now: Date.now() })).valid);
});

test("a record is written once when another instance writes between its commit and the next try", async () => {
  for (const isDone of [true, false]) {
    const inner = memoryStore();
    const other = createAudit({ store: inner });
    other.add(given("first"));
    await other.flush();
    let commits = 0;
    const store: Store = {
      ...inner,
      get: (key) => inner.get(key),
      list: (prefix, options) => inner.list(prefix, options),
      async commit(commit) {
        if (++commits > 1) return await inner.commit(commit);
        if (isDone) await inner.commit(commit);
        throw new StoreUnavailableError("The answer was lost");
      },
    };
    const audit = createAudit({ store });
    audit.add(given("mine"));
    await audit.flush().catch(() => {});
    other.add(given("second"));
    await other.close();
    audit.add(given("later"));
    await audit.close();
    const expected = isDone ? ["first", "mine", "second", "later"] : ["first", "second", "mine", "later"];
    assert.equal(await usersOf(inner), expected);
  }
});

test("a commit that is done only after the next try has begun is not written again", async () => {
  const inner = memoryStore();
  let late: (() => Promise<unknown>) | undefined;
  const store: Store = {
    ...inner,
    get: (key) => inner.get(key),
    list: (prefix, options) => inner.list(prefix, options),
    async commit(commit) {
      if (late === undefined) {
        late = () => inner.commit(commit);
        throw new StoreUnavailableError("No answer in time");
      }
      await late();
      return await inner.commit(commit);
    },
  };
  const audit = createAudit({ store });
  audit.add(given("a"));
  await audit.flush().catch(() => {});
  await audit.close();
  assert.equal(await usersOf(inner), ["a"]);
});

test("close() fails when records cannot be written, and tries no more", async () => {
  let commits = 0;
  const store = losingStore(() => true);
  const failing: Store = {
    ...store,
    commit: () => (commits++, Promise.reject(new StoreUnavailableError("down"))),
  };
  const audit = createAudit({ store: failing });
  audit.add(given("a"));
  const error = await audit.close().then(() => undefined, (error) => error);
  assert.instance(error, StoreUnavailableError);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.is(commits, 1);
});

test.run();
