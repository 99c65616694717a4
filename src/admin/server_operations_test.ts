import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createAudit } from "../observability/audit.ts";
import type { Skill } from "../skills/records.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { newAdmin } from "./test_admin.ts";

const test = suite("admin/server_operations");

/** Records expire by the clock of the store, which is that of the machine. */
const START = Date.now() - 600_000;

type Named = { readonly number: number; readonly type: string; readonly tool: string };

/** A trail of 250 calls of tools, 3 logins in between, in groups of 50. */
async function newTrail() {
  const store = memoryStore();
  let time = START;
  const audit = createAudit({ store, now: () => time });
  for (let i = 0; i < 250; i++) {
    time += 1000;
    audit.add({
      type: "tool_called",
      name: i % 2 ? "odd" : "even",
      principal: `user_${i % 5}`,
      failed: i % 10 === 0,
    });
    if (i % 100 === 0) audit.add({ type: "login_succeeded", user: "user_1" });
    if (i % 50 === 49) await audit.flush();
  }
  await audit.close();
  return newAdmin(store, { now: () => time });
}

test("the audit trail is listed backwards in pages, without gaps or repetitions", async () => {
  const { call } = await newTrail();
  const numbers: number[] = [];
  let page: string | undefined;
  do {
    const answer = await call("listAudit", { limit: 40, ...(page !== undefined && { page }) });
    numbers.push(...answer.data.map(({ number }: Named) => number));
    page = answer.next_page ?? undefined;
  } while (page !== undefined);
  assert.equal(numbers, Array.from({ length: 253 }, (_, i) => 253 - i));
});

test("records are found by type, by what they are about, and by time", async () => {
  const { call, refuse } = await newTrail();
  assert.equal((await call("listAudit", { type: "login_succeeded" })).data.map(({ type }: Named) => type), [
    "login_succeeded",
    "login_succeeded",
    "login_succeeded",
  ]);
  assert.is((await call("listAudit", { about: "user_1", limit: 100 })).data.length, 53);
  const since = new Date(START + 249_000).toISOString();
  assert.is((await call("listAudit", { since })).data.length, 2);
  assert.is((await call("listAudit", { until: new Date(START + 1500).toISOString() })).data.length, 2);
  assert.equal(await refuse("listAudit", { since: "yesterday" }), [400, "since: must be a time in ISO 8601"]);
  assert.is((await refuse("listAudit", { page: "x" }))[0], 400);
});

test("records since a time are found behind older ones that were written later, as after an outage", async () => {
  const store = memoryStore();
  const audit = createAudit({ store, now: () => START });
  const hours = (count: number) => START - count * 3_600_000;
  // The last one is in a group with an older one behind it.
  for (
    const [time, isEnd] of [[hours(5), false], [hours(0), true], [hours(3), true], [hours(0), false], [
      hours(3),
      true,
    ]] as const
  ) {
    audit.add({ type: "login_succeeded", user: "user_1" }, undefined, time);
    if (isEnd) await audit.flush();
  }
  await audit.close();
  const { call } = newAdmin(store, { now: () => START });
  const since = new Date(START).toISOString();
  const { data, has_more } = await call("listAudit", { since });
  assert.equal([data.map(({ number }: Named) => number), has_more], [[4, 2], false]);
  assert.equal((await call("exportAudit", { since })).data.map(({ first }: { first: number }) => first), [
    1,
    4,
  ]);
  // A page that ends at its limit has more only where another record is found.
  assert.is((await call("listAudit", { since, limit: 2 })).next_page, null);
  const { next_page: page } = await call("listAudit", { since, limit: 1 });
  assert.equal((await call("listAudit", { since, limit: 1, page })).data.map(({ number }: Named) => number), [
    2,
  ]);
});

test("calls of tools are listed with their result", async () => {
  const { call } = await newTrail();
  const odd = (await call("listToolCalls", { tool: "odd", limit: 100 })).data;
  assert.equal([odd.length, new Set(odd.map(({ tool }: Named) => tool))], [100, new Set(["odd"])]);
  const failed = (await call("listToolCalls", { principal: "user_0", limit: 100 })).data
    .filter((each: { failed: boolean }) => each.failed);
  assert.is(failed.length, 25);
});

test("several types are found, separated by commas", async () => {
  const { call } = await newTrail();
  const { data } = await call("listAudit", { type: "login_succeeded,tool_called", limit: 100 });
  assert.equal(new Set(data.map(({ type }: Named) => type)), new Set(["tool_called", "login_succeeded"]));
});

test("an export has every group as it is stored, in pages, or those since a time", async () => {
  const store = memoryStore();
  const audit = createAudit({ store, now: () => START });
  for (let i = 0; i < 40; i++) {
    // Groups of 60 KB: a page ends after one megabyte.
    for (let j = 0; j < 200; j++) {
      audit.add({ type: "tool_called", name: "n".repeat(256), principal: undefined, failed: false });
    }
    await audit.flush();
  }
  await audit.close();
  const { call } = newAdmin(store, { now: () => START });
  const texts: string[] = [];
  let pages = 0;
  let page: string | undefined;
  for (;; pages++) {
    const { data, next_page } = await call("exportAudit", { ...(page !== undefined && { page }) });
    texts.push(...data.map(({ text }: { text: string }) => text));
    if (next_page === null) break;
    page = next_page;
  }
  const stored = await store.list<Uint8Array>(["audit"], { limit: 1000 });
  assert.equal(texts, stored.map(({ value }) => new TextDecoder().decode(value)));
  assert.ok(pages > 1, String(pages));
  const since = (ms: number) => ({ since: new Date(START + ms).toISOString() });
  assert.ok((await call("exportAudit", since(3_600_000))).data.length > 0);
  assert.equal((await call("exportAudit", since(3_600_001))).data, []);
});

test("a verification finds a noted record again, and misses one that is not there", async () => {
  const { call } = await newTrail();
  const { number, digest } = await call("verifyAudit", {});
  assert.is((await call("verifyAudit", { noted: `${number}:${digest}` })).valid, true);
  const missed = await call("verifyAudit", { noted: `${number + 1}:${digest}` });
  assert.equal([missed.valid, missed.problem], [false, "the noted record is missing"]);
});

test("a changed record makes the trail invalid", async () => {
  const { call, store } = await newTrail();
  const { valid, records, number, digest } = await call("verifyAudit", {});
  assert.equal([valid, records, number, digest.length], [true, 253, 253, 43]);
  const [group] = await store.list<Uint8Array>(["audit"], { limit: 1 });
  const text = new TextDecoder().decode(group!.value).replace("user_1", "user_2");
  await store.commit({ set: [{ key: group!.key, value: new TextEncoder().encode(text) }] });
  const broken = await call("verifyAudit", {});
  assert.equal([broken.valid, broken.problem], [false, "a record before this one was changed"]);
});

test("skills of all workspaces are listed, shown and removed", async () => {
  const { call, refuse, store, events } = newAdmin();
  const version = { id: "skver_1", epoch: "1", number: 1 };
  for (const [workspace, id] of [["a", "skill_1"], ["b", "skill_2"]] as const) {
    const skill: Skill = {
      id,
      name: `name-${id}`,
      description: "Does something",
      tokens: { metadata: 1, instructions: 1 },
      display_name: null,
      latest: version,
      default: version,
      versions: 1,
      last: { number: 1, created: 1 },
      created_at: "2026-11-23T10:00:00.000Z",
      updated_at: "2026-11-23T10:00:00.000Z",
    };
    await store.commit({ set: [{ key: ["skill", workspace, id], value: skill }] });
  }
  assert.is((await call("listSkills")).data.length, 2);
  assert.equal((await call("listSkills", { workspace: "b" })).data, [
    await call("showSkill", { skill: "skill_2" }),
  ]);
  assert.is((await call("listSkills", { search: "SKILL_1" })).data.length, 1);
  assert.is((await refuse("showSkill", { skill: "skill_2", workspace: "a" }))[0], 404);
  await call("removeSkill", { skill: "skill_2" });
  assert.is((await refuse("removeSkill", { skill: "skill_2" }))[0], 404);
  assert.equal(events[0], { type: "skill_deleted", id: "skill_2", workspace: "b", principal: "key_test" });
  assert.equal(events.map(({ type }) => type), ["skill_deleted", "admin_changed"]);
});

test("health and tools of the server", async () => {
  const tool = { name: "add", title: null, description: "Adds", scopes: [], calls: 2, failed_calls: 1 };
  const { call } = newAdmin(undefined, { tools: () => [tool] });
  assert.is((await call("showHealth")).audit_records, null);
  assert.equal((await call("listTools")).data, [tool]);
  assert.is((await newAdmin().refuse("listTools", {}))[0], 409);
});

test.run();
