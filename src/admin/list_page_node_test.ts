import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sqliteStore } from "../store/drivers/sqlite.ts";
import { userKey } from "../oauth/records/user_record.ts";
import { newAdmin } from "./test_admin.ts";

// deno-lint-ignore no-explicit-any
type Answer = any;

const test = suite("admin/list_page with SQLite");

test("pages have every user once", async () => {
  const store = sqliteStore(":memory:");
  const set = Array.from({ length: 260 }, (_, i) => {
    const id = `user_${i}`;
    return { key: userKey(id), value: { id, username: id, name: "", email: "", password: "", created: 0 } };
  });
  await store.commit({ set });
  const { call } = newAdmin(store);
  const ids: string[] = [];
  let page: string | null | undefined;
  while (page !== null) {
    const answer: Answer = await call("listUsers", { limit: 33, ...page && { page } });
    ids.push(...answer.data.map(({ id }: { id: string }) => id));
    page = answer.next_page;
  }
  assert.equal([ids.length, new Set(ids).size], [260, 260]);
  await store.close();
});

test.run();
