import { suite } from "uvu";
import * as assert from "uvu/assert";
import { endUserGrants } from "../oauth/grants/end_grants.ts";
import { clientKey } from "../oauth/records/client_record.ts";
import { grantKey } from "../oauth/records/grant_record.ts";
import { userKey } from "../oauth/records/user_record.ts";
import { addUser } from "../oauth/users/user.ts";
import { toPendingGrant } from "../oauth/users/user_grants.ts";
import { layeredStore } from "../store/drivers/layered.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { CACHED, type Key, type Store } from "../store/store.ts";
import { until } from "../test_until.ts";
import { newAdmin, type TestAdmin } from "./test_admin.ts";

const test = suite("admin/repeated_removal");

/** What is removed: the key of its record, and what removes it on an instance. It resolves to `false` where nothing is. */
type Target = readonly [key: Key, remove: (instance: Store) => Promise<boolean>];

const TARGETS: Readonly<Record<string, (admin: TestAdmin) => Promise<Target>>> = {
  async "an API key"({ call, store }) {
    const { id } = await call("addKey", { name: "ci" });
    const { key } = (await store.list(["api_key"]))[0]!;
    return [key, removalBy("removeKey", { key: id })];
  },
  async "a client"({ call }) {
    const { id } = await call("addClient", { name: "App", redirect_uris: ["https://app.example/"] });
    return [clientKey(id), removalBy("removeClient", { client: id })];
  },
  async "a user"({ store }) {
    const { id } = await addUser(store, { username: "ada", password: "correct" }, 1000);
    return [userKey(id), removalBy("removeUser", { user: "ada" })];
  },
  async "a grant"({ store }) {
    const { key } = await addGrant(store);
    return [key, removalBy("endGrant", { user: "ada", grant: "g" })];
  },
  async "a grant of a client"({ store }) {
    const { key, user } = await addGrant(store);
    return [key, (instance) => endUserGrants(instance, user, "app")];
  },
};

/** Removes by an operation. */
function removalBy(operation: string, input: object): Target[1] {
  return (store) =>
    newAdmin(store).call(operation, input).then(() => true, (error) => {
      assert.is(error.status, 404);
      return false;
    });
}

async function addGrant(store: Store): Promise<{ key: Key; user: string }> {
  const { id: user } = await addUser(store, { username: "ada", password: "correct" }, 1000);
  const now = Date.now();
  const put = toPendingGrant("g", user, { client_id: "app", scope: "a" }, now, now + 60_000);
  await store.commit({ set: put });
  return { key: grantKey("g"), user };
}

for (const [name, prepare] of Object.entries(TARGETS)) {
  test(`no instance uses ${name} after the second of two removals at once has found nothing`, async () => {
    const inner = memoryStore();
    const [first, second, third] = [1, 2, 3].map(() => layeredStore(inner, { lifetime: 200 })) as [
      Store,
      Store,
      Store,
    ];
    const [key, remove] = await prepare(newAdmin(first));
    assert.ok(await third.get(key, CACHED));
    const removing = remove(first);
    await until(async () => !await inner.get(key), "the first removal is in the store");
    assert.is(await remove(second), false);
    assert.is(await third.get(key, CACHED), undefined);
    assert.is(await removing, true);
  });
}

test.run();
