import { suite } from "uvu";
import * as assert from "uvu/assert";
import { canonicalUsername } from "../oauth/users/username.ts";
import { userKey, usernameKey } from "../oauth/records/user_record.ts";
import type { Store } from "../store/store.ts";
import { newAdmin } from "./test_admin.ts";

// deno-lint-ignore no-explicit-any
type Answer = any;

const test = suite("admin/list_page");

async function addUsers(store: Store, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, i) => i);
  for (let at = 0; at < count; at += 250) {
    const set = numbers.slice(at, at + 250).flatMap((i) => {
      const id = `user_${i.toString(36).padStart(8, "0")}`;
      const username = `member${i}`;
      return [
        { key: userKey(id), value: { id, username, name: `Name ${i}`, email: "", password: "", created: 0 } },
        { key: usernameKey(canonicalUsername(username)), value: id },
      ];
    });
    await store.commit({ set });
  }
}

async function readAll(call: ReturnType<typeof newAdmin>["call"], query: object): Promise<string[]> {
  const names: string[] = [];
  let page: string | null | undefined;
  while (page !== null) {
    const answer: Answer = await call("listUsers", { ...query, ...page && { page } });
    names.push(...answer.data.map(({ username }: { username: string }) => username));
    page = answer.next_page;
    assert.is(answer.has_more, page !== null);
  }
  return names;
}

test("pages have every user once, whatever their size", async () => {
  const { call, store } = newAdmin();
  await addUsers(store, 260);
  for (const limit of [7, 20, 100]) {
    const names = await readAll(call, { limit });
    assert.equal([names.length, new Set(names).size], [260, 260]);
  }
  assert.equal((await readAll(call, { search: "MEMBER25" })).length, 11);
  assert.equal(await readAll(call, { search: "name 259" }), ["member259"]);
  assert.equal(await readAll(call, { search: "nobody" }), []);
});

test("users who come and go between two pages neither repeat nor hide others", async () => {
  const { call, store } = newAdmin();
  await addUsers(store, 30);
  const first = await call("listUsers", { limit: 10 });
  const last = first.data.at(-1).id;
  await store.commit({ remove: [userKey(last)] });
  const id = "user_00000000a";
  await store.commit({
    set: [{
      key: userKey(id),
      value: { id, username: "new", name: "", email: "", password: "", created: 0 },
    }],
  });
  const second = await call("listUsers", { limit: 100, page: first.next_page });
  assert.equal(second.data.map(({ username }: { username: string }) => username), [
    ...Array.from({ length: 20 }, (_, i) => `member${i + 10}`),
  ]);
});

test("a search reads at most 5000 records in a request, and finds user names at once", async () => {
  const { call, store } = newAdmin();
  await addUsers(store, 12_000);
  let read = 0;
  const list = store.list;
  store.list = async (prefix, options) => {
    const entries = await list.call(store, prefix, options);
    read += entries.length;
    return entries as never;
  };
  let requests = 0;
  let page: string | null | undefined;
  while (page !== null) {
    read = 0;
    requests++;
    ({ next_page: page } = await call("listUsers", { search: "nothing like it", ...page && { page } }));
    assert.ok(read <= 5200, `${read} records`);
  }
  assert.is(requests, 3);
  read = 0;
  const { data } = await call("listUsers", { search: "member11999", limit: 1 });
  assert.equal(data.map(({ username }: { username: string }) => username), ["member11999"]);
  assert.ok(read <= 200, `${read} records`);
});

test.run();
