import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { newIdentifier } from "../identifier.ts";
import { type Skill, skillKey } from "../records.ts";
import { DEMO, folderOf, multipart, newService, SKILL_MD } from "../test_service.ts";

const test = suite("skills/api/query");
const OLDER = { "anthropic-beta": "skills-2025-10-02" };

/** A store that records what is listed. */
function recorded(): { store: Store; read: { kind: unknown; count: number; characters: number }[] } {
  const inner = memoryStore();
  const read: { kind: unknown; count: number; characters: number }[] = [];
  return {
    read,
    store: {
      guarantees: inner.guarantees,
      get: (key, options) => inner.get(key, options),
      async list<Value>(prefix: Parameters<Store["list"]>[0], options: Parameters<Store["list"]>[1]) {
        const entries = await inner.list<Value>(prefix, options);
        read.push({
          kind: prefix[0],
          count: entries.length,
          characters: JSON.stringify(entries.map(({ value }) => value)).length,
        });
        return entries;
      },
      commit: (commit) => inner.commit(commit),
      watch: (prefix) => inner.watch(prefix),
      sweep: () => inner.sweep(),
      close: () => inner.close(),
    },
  };
}

test("a list of versions reads no lists of files", async () => {
  const { store, read } = recorded();
  const { upload, send } = await newService({ store, openai: true });
  const files = [...DEMO, ...Array.from({ length: 300 }, (_, i) => [`demo/data/${i}.txt`, "x"] as const)];
  const { id } = await (await upload(files)).json();
  const { body, type } = multipart(files);
  for (let i = 0; i < 3; i++) {
    const init = { method: "POST", body, headers: { "content-type": type } };
    assert.is((await send(`/v1/skills/${id}/versions`, init)).status, 200);
  }
  for (const [headers, key] of [[{}, "writer"], [OLDER, "writer"]] as const) {
    read.length = 0;
    const { data } = await (await send(`/v1/skills/${id}/versions`, { headers, key })).json();
    assert.is(data.length, 4);
    assert.ok(data.every(({ name }: { name: string }) => name === "demo"));
    assert.is(read.length, 1);
    assert.ok(read[0]!.characters < 4 * 500, String(read[0]!.characters));
  }
});

for (const count of [3, 950]) {
  test(`${count} skills without a version are skipped in few reads, and no skill is lost`, async () => {
    const { store, read } = recorded();
    const { upload, send } = await newService({ store, openai: true, auth: "off" });
    const shown: string[] = [(await (await upload(DEMO)).json()).id];
    const { value } = (await store.get<Skill>(skillKey("default", shown[0]!)))!;
    for (let i = 0; i < count; i++) {
      const id = newIdentifier("skill", Date.now() + 10 + i);
      const key = skillKey("default", id);
      await store.commit({
        set: [{ key, value: { ...value, id, latest: null, default: null, versions: 0 } }],
      });
    }
    const last = newIdentifier("skill", Date.now() + 20 + count);
    await store.commit({ set: [{ key: skillKey("default", last), value: { ...value, id: last } }] });
    shown.unshift(last);

    const found: string[] = [];
    let page = "";
    for (let pages = 0; pages < 20; pages++) {
      read.length = 0;
      const answer = await (await send(`/v1/skills?limit=2${page}`)).json();
      assert.ok(read.length <= 4, String(read.length));
      found.push(...answer.data.map(({ id }: { id: string }) => id));
      if (answer.next_page === null) break;
      page = `&page=${answer.next_page}`;
    }
    assert.equal(found, shown);

    // A position is an id here, so a page that has a next one is never empty.
    found.length = 0;
    let after = "";
    for (let pages = 0; pages < 20; pages++) {
      const answer = await (await send(`/v1/skills?limit=2${after}`, { key: "" })).json();
      found.push(...answer.data.map(({ id }: { id: string }) => id));
      if (!answer.has_more) break;
      assert.is.not(answer.last_id, null);
      after = `&after=${answer.last_id}`;
    }
    assert.equal(found, shown);
  });
}

test("in the OpenAI dialect, the page after a local skill that is gone is refused", async () => {
  const files = new Map<string, string | null>([
    ["a/SKILL.md", SKILL_MD.replace("name: demo", "name: a")],
    ["b/SKILL.md", SKILL_MD.replace("name: demo", "name: b")],
  ]);
  const { send, advance } = await newService({ folders: [folderOf(files)], openai: true, auth: "off" });
  const get = async (query: string) => {
    const response = await send(`/v1/skills?limit=1${query}`, { key: "" });
    return { status: response.status, answer: await response.json() };
  };
  const first = (await get("")).answer;
  assert.is(first.has_more, true);
  const next = (await get(`&after=${first.last_id}`)).answer;
  assert.equal(next.data.map(({ name }: { name: string }) => name), ["b"]);
  files.delete("a/SKILL.md");
  advance(1001);
  const { status, answer } = await get(`&after=${first.last_id}`);
  assert.is(status, 400);
  assert.is(answer.error.type, "invalid_request_error");
});

test.run();
