import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import type { Principal } from "../http/principal.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import type { Put, Store } from "../store/store.ts";
import { newIdentifier } from "./identifier.ts";
import {
  type Skill,
  skillKey,
  skillNameKey,
  type SkillVersion,
  versionKey,
  versionNumberKey,
  versionSummaryKey,
} from "./records.ts";
import { newService, SKILL_MD, type TestFile } from "./test_service.ts";

const test = suite("skills: reads and the event loop");
const reader: Principal = { workspace: "default", scopes: new Set(["skills:read"]) };
const small: TestFile[] = [["demo/SKILL.md", SKILL_MD]];
const many: TestFile[] = [
  ...small,
  ...Array.from({ length: 1990 }, (_, i): TestFile => [`demo/${"folder/".repeat(12)}${i}`, ""]),
];

/** Puts skills like the one of this id beside it: uploads take much longer. @returns all ids, the oldest first */
async function copySkill(store: Store, id: string, count: number): Promise<string[]> {
  const { value } = (await store.get<Skill>(skillKey("default", id)))!;
  const ids = [id];
  while (ids.length < count) {
    const copy = newIdentifier("skill", Date.now() + ids.length);
    const set = [
      { key: skillKey("default", copy), value: { ...value, id: copy } },
      { key: skillNameKey("default", value.name, copy), value: "" },
    ];
    await store.commit({ set });
    ids.push(copy);
  }
  return ids;
}

/** Gives a skill versions like its first one. @returns their ids */
async function copyVersion(store: Store, id: string, count: number): Promise<string[]> {
  const entry = (await store.get<Skill>(skillKey("default", id)))!;
  const first = (await store.get<SkillVersion>(versionKey("default", id, entry.value.latest!.id)))!.value;
  const { files: _, ...summary } = first;
  const ids = [first.id];
  let set: Put[] = [];
  for (let number = 2; number <= count; number++) {
    const names = { id: newIdentifier("skver", first.created + number), number };
    set.push({ key: versionKey("default", id, names.id), value: { ...first, ...names } });
    set.push({ key: versionSummaryKey("default", id, names.id), value: { ...summary, ...names } });
    set.push({ key: versionNumberKey("default", id, number), value: names.id });
    ids.push(names.id);
  }
  set = [...set, { key: entry.key, value: { ...entry.value, versions: count } }];
  await store.commit({ set });
  return ids;
}

test("lists read at most 100 skills at once, and are complete", async () => {
  const store = memoryStore();
  const counts: number[] = [];
  const list = store.list.bind(store);
  store.list = async <Value>(...[prefix, options]: Parameters<Store["list"]>) => {
    const entries = await list<Value>(prefix, options);
    if (prefix[0] === "skill") counts.push(entries.length);
    return entries;
  };
  const service = await newService({ store, discovery: { local: true, workspaces: ["default"] } });
  const first = (await (await service.upload(small)).json()).id;
  const ids = (await copySkill(store, first, 250)).reverse();

  const { data, next_page } = await (await service.send("/v1/skills?limit=1000")).json();
  assert.equal(data.map(({ id }: { id: string }) => id), ids);
  assert.is(next_page, null);
  const { catalog } = service.service;
  const { entries, next } = await catalog.page(reader, { limit: 249 });
  assert.equal(entries.map(({ id }) => id), ids.slice(0, 249));
  assert.equal(next, [ids[248], "demo"]);
  assert.is((await catalog.list(reader)).omitted.shadowed, 249);
  const index = await service.send("/.well-known/agent-skills/index.json", { key: "" });
  assert.is(index.status, 200);
  assert.equal(counts, [100, 100, 50, 100, 100, 50, 100, 100, 50, 100, 100, 50]);
});

test("versions with many files are read and deleted in slices", async () => {
  const { store, upload, send } = await newService();
  const id = (await (await upload(many)).json()).id;
  const versions = await copyVersion(store, id, 80);
  await assertLoopIsFree(() =>
    Promise.all(versions.map(async (version) => {
      assert.is((await send(`/v1/skills/${id}/versions/${version}`)).status, 200);
    }))
  );
  const skills = [id];
  // A new one for each attempt.
  for (let i = 0; i < 2; i++) {
    skills.push((await (await upload(many)).json()).id);
    await copyVersion(store, skills.at(-1)!, 80);
  }
  await assertLoopIsFree(async () => {
    const response = await send(`/v1/skills/${skills.pop()}`, { method: "DELETE" });
    assert.is(response.status, 200);
  });
});

test.run();
