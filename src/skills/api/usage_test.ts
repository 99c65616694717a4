import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../../events.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import { DEMO, folderOf, newService, SKILL_MD } from "../test_service.ts";
import type { SkillUsage } from "../records.ts";
import { createUsage } from "./usage.ts";

const test = suite("skills/api/usage");
const principal = { workspace: "default", scopes: new Set(["skills:read"]) };

test("each disclosure through the catalogue emits an event and is counted with its tokens", async () => {
  const { service, send, upload, events } = await newService();
  const { id, latest_version_id: version } = await (await upload(DEMO)).json();
  const { catalog } = service;
  await catalog.list(principal);
  await catalog.load(principal, "demo");
  await catalog.read(principal, id, "scripts/run.py");
  await catalog.read(principal, id, "data.bin");
  const { entries } = await catalog.page(principal, { limit: 10 });
  await entries[0]!.read("SKILL.md");
  const { entry } = (await catalog.find(principal, [id, "demo"]))!;
  await entry.read("scripts/run.py");
  assert.is(await entry.read("no.txt"), undefined);
  assert.is(await catalog.load(principal, "unknown"), undefined);

  const common = { type: "skill_disclosed", workspace: "default", id, name: "demo", version, via: "mcp" };
  const metadata = { ...common, level: 1, tokens: 12 };
  const instructions = { ...common, level: 2, tokens: 5 };
  const script = { ...common, level: 3, tokens: 4, path: "scripts/run.py" };
  assert.equal(
    events.filter(({ type }) => type === "skill_disclosed").map(sorted),
    [
      metadata,
      instructions,
      script,
      { ...common, level: 3, tokens: 0, path: "data.bin" },
      metadata,
      instructions,
      script,
    ].map(sorted),
  );

  const usage = await (await send(`/v1/skills/${id}/usage`)).json();
  assert.equal(usage, {
    type: "skill_usage",
    skill_id: id,
    name: "demo",
    since: usage.since,
    last_used_at: usage.last_used_at,
    levels: {
      metadata: { count: 2, tokens: 24 },
      instructions: { count: 2, tokens: 10 },
      resources: { count: 3, tokens: 8 },
    },
  });
  assert.is(new Date(usage.since).toISOString(), usage.since);
  assert.equal(await (await send("/v1/skills/usage")).json(), { data: [usage], next_page: null });
});

test("reads through the management API are not counted", async () => {
  const { send, upload } = await newService();
  const { id } = await (await upload(DEMO)).json();
  for (const path of ["/v1/skills", `/v1/skills/${id}`, `/v1/skills/${id}/versions/latest`]) await send(path);
  assert.equal(await (await send(`/v1/skills/${id}/usage`)).json(), {
    type: "skill_usage",
    skill_id: id,
    name: "demo",
    since: null,
    last_used_at: null,
    levels: {
      metadata: { count: 0, tokens: 0 },
      instructions: { count: 0, tokens: 0 },
      resources: { count: 0, tokens: 0 },
    },
  });
  assert.equal(await (await send("/v1/skills/usage")).json(), { data: [], next_page: null });
});

test("local skills are counted for the workspace that uses them, and not for anonymous callers", async () => {
  const { service, send } = await newService({ folders: [folderOf(new Map([["demo/SKILL.md", SKILL_MD]]))] });
  const { skills: [{ id } = { id: "" }] } = await service.catalog.list(principal);
  await service.catalog.list(undefined);
  await service.catalog.list({ ...principal, workspace: "other" });
  const usage = await (await send(`/v1/skills/${id}/usage`)).json();
  assert.is(usage.levels.metadata.count, 1);
});

test("usage of an unknown skill gets 404, and lists are paged and private to the workspace", async () => {
  const { service, send, upload } = await newService();
  for (let i = 0; i < 5; i++) await upload([["SKILL.md", SKILL_MD.replace("name: demo", `name: demo-${i}`)]]);
  await service.catalog.list(principal);
  assert.is((await send("/v1/skills/skill_x/usage")).status, 404);
  assert.equal((await (await send("/v1/skills/usage", { key: "stranger" })).json()).data, []);
  const names: string[] = [];
  for (let query = "limit=2"; query !== "";) {
    const { data, next_page } = await (await send(`/v1/skills/usage?${query}`)).json();
    names.push(...data.map(({ name }: { name: string }) => name));
    query = next_page === null ? "" : `limit=2&page=${next_page}`;
  }
  // The order of ids, which is random within a millisecond.
  assert.equal(names.sort(), [0, 1, 2, 3, 4].map((i) => `demo-${i}`));
  for (const query of ["limit=0", "limit=x", "page=x"]) {
    assert.is((await send(`/v1/skills/usage?${query}`)).status, 400, query);
  }
});

test("concurrent instances lose no counts", async () => {
  const store = memoryStore();
  const counters = Array.from({ length: 8 }, () => createUsage(store, Date.now, () => {}));
  const disclosure = { type: "skill_disclosed", workspace: "w", version: "v", via: "mcp", level: 2 } as const;
  for (let round = 0; round < 5; round++) {
    for (const counter of counters) {
      for (let i = 0; i < 150; i++) counter.count({ ...disclosure, id: `skill-${i}`, name: "x", tokens: 3 });
    }
    await Promise.all(counters.map((counter) => counter.flush()));
  }
  const entries = await store.list<{ levels: { instructions: unknown } }>(["skill_usage", "w"], {
    limit: 1000,
  });
  assert.is(entries.length, 150);
  for (const { value } of entries) assert.equal(value.levels.instructions, { count: 40, tokens: 120 });
});

test("a store failure emits a fault and does not reject", async () => {
  const events: TrivetEvent[] = [];
  const store = { ...memoryStore(), commit: () => Promise.reject(new Error("full")) };
  const counter = createUsage(store, Date.now, (event) => events.push(event));
  counter.count({
    type: "skill_disclosed",
    workspace: undefined,
    id: "a",
    name: "a",
    version: "v",
    via: "mcp",
    level: 1,
    tokens: 1,
  });
  await counter.flush();
  assert.equal(events.map(({ type }) => type), ["fault"]);
});

test("counts wait while the store is unavailable, with those of the meantime", async () => {
  const events: TrivetEvent[] = [];
  const memory = memoryStore();
  let isDown = true;
  const store: Store = {
    ...memory,
    get: (key) => memory.get(key),
    list: (...query) => memory.list(...query),
    commit: (commit) => isDown ? Promise.reject(new StoreUnavailableError("down")) : memory.commit(commit),
  };
  const usage = createUsage(store, Date.now, (event) => events.push(event));
  const shown = { type: "skill_disclosed", via: "mcp", workspace: "w", version: "v" } as const;
  // More than one commit has.
  const countAll = () => {
    for (let i = 0; i < 150; i++) usage.count({ ...shown, id: `skill-${i}`, name: "x", level: 2, tokens: 3 });
  };
  countAll();
  await usage.flush();
  assert.equal(events.map(({ type }) => type), ["store_unavailable"]);
  countAll();
  usage.count({ ...shown, id: "skill-0", name: "x", level: 1, tokens: 1 });
  isDown = false;
  await usage.flush();
  const entries = await memory.list<SkillUsage>(["skill_usage", "w"], { limit: 1000 });
  assert.is(entries.length, 150);
  for (const { value } of entries) assert.equal(value.levels.instructions, { count: 2, tokens: 6 });
  assert.equal(entries[0]!.value.levels.metadata, { count: 1, tokens: 1 });
  assert.is(events.length, 1);
});

test("of counts that are written one by one, only those that were not written wait", async () => {
  const memory = memoryStore();
  let single = 0;
  const store: Store = {
    ...memory,
    get: (key) => memory.get(key),
    commit(commit) {
      // Another instance wins each race for all of them.
      if (commit.set!.length > 1) return Promise.resolve(false);
      return ++single === 2 ? Promise.reject(new StoreUnavailableError("down")) : memory.commit(commit);
    },
  };
  const usage = createUsage(store, Date.now, () => {});
  const shown = {
    type: "skill_disclosed",
    via: "mcp",
    workspace: "w",
    version: "v",
    level: 1,
    tokens: 1,
  } as const;
  for (const id of ["a", "b", "c"]) usage.count({ ...shown, id, name: id });
  await usage.flush();
  await usage.flush();
  const entries = await memory.list<SkillUsage>(["skill_usage", "w"]);
  const counts = entries.map(({ value }) => `${value.name} ${value.levels.metadata.count}`);
  assert.equal(counts, ["a 1", "b 1", "c 1"]);
});

test("counts that are written after the store was closed are no fault", async () => {
  const store = memoryStore();
  const events: TrivetEvent[] = [];
  const usage = createUsage(store, Date.now, (event) => events.push(event));
  const shown = { type: "skill_disclosed", via: "mcp", workspace: "default", id: "a", name: "demo" } as const;
  usage.count({ ...shown, version: "v", level: 1, tokens: 1 });
  await store.close();
  await usage.flush();
  assert.equal(events, []);
});

const sorted = (event: object) => Object.fromEntries(Object.entries(event).sort());

test("a write that never settles does not keep later counts from being written", async () => {
  const store = memoryStore();
  const commit = store.commit.bind(store);
  let reached = () => {};
  const isReached = new Promise<void>((resolve) => reached = resolve);
  store.commit = () => (reached(), new Promise(() => {}));
  let time = 0;
  const usage = createUsage(store, () => time, () => {});
  const shown = { type: "skill_disclosed", via: "mcp", workspace: "default", id: "a", name: "demo" } as const;
  const count = () => usage.count({ ...shown, version: "v", level: 1, tokens: 1 });
  count();
  void usage.flush();
  await isReached;
  store.commit = commit;
  count();
  time += 30_000;
  await usage.flush();
  const [entry] = await store.list<SkillUsage>(["skill_usage"]);
  assert.is(entry!.value.levels.metadata.count, 1);
});

test.run();
