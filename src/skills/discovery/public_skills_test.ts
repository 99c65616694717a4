import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Key } from "../../store/store.ts";
import { digestOf } from "../content_digest.ts";
import type { TestFile } from "../test_service.ts";
import { newDiscovery, skillMd, type TestDiscovery } from "./test_discovery.ts";

const test = suite("skills/discovery/public_skills");
const CURRENT = "/.well-known/agent-skills/";

/** Names and descriptions of the index. Asserts that both indexes agree and each artifact has its digest. */
async function listed(server: TestDiscovery): Promise<string[]> {
  server.advance(1000);
  const { skills } = await server.index();
  const older = await server.index("skills");
  const current = skills.map(({ name, description }) => `${name}: ${description}`);
  assert.equal(older.skills.map(({ name, description }) => `${name}: ${description}`), current);
  for (const { url, digest } of skills) {
    const response = await server.get(CURRENT + url);
    assert.is(await digestOf(new Uint8Array(await response.arrayBuffer())), digest, url);
  }
  return current;
}

test("uploaded skills are private until their workspace is published", async () => {
  const server = await newDiscovery();
  await server.upload([["SKILL.md", skillMd("mine")]]);
  assert.equal(await listed(server), []);
  assert.is((await server.get(CURRENT + "mine/SKILL.md")).status, 404);
  const open = await newDiscovery({ workspaces: ["default"] });
  await open.upload([["SKILL.md", skillMd("mine")], ["a.txt", "a"]]);
  await open.upload([["SKILL.md", skillMd("theirs")]], "stranger");
  assert.equal(await listed(open), ["mine: Does it."]);
  assert.is((await open.get(CURRENT + "theirs/SKILL.md")).status, 404);
  assert.is((await open.get(CURRENT + "mine.zip")).status, 200);
});

test("for one name the local skill precedes the earlier workspace, and that the newer upload", async () => {
  const server = await newDiscovery({
    files: { "a/SKILL.md": skillMd("a", "Local.") },
    workspaces: ["other", "default"],
  });
  for (const name of ["a", "b", "c"]) await server.upload([["SKILL.md", skillMd(name, "Of default.")]]);
  await server.upload([["SKILL.md", skillMd("b", "Of other.")], ["x", "y"]], "stranger");
  await server.upload([["SKILL.md", skillMd("c", "Newer.")]]);
  assert.equal(await listed(server), ["a: Local.", "b: Of other.", "c: Newer."]);
});

test("private local skills are not served, and do not hide uploads of their names", async () => {
  const server = await newDiscovery({
    files: { "a/SKILL.md": skillMd("a", "Local."), "b/SKILL.md": skillMd("b", "Local.") },
    local: false,
    workspaces: ["default"],
  });
  await server.upload([["SKILL.md", skillMd("a", "Uploaded.")]]);
  assert.equal(await listed(server), ["a: Uploaded."]);
  assert.match(await (await server.get(CURRENT + "a/SKILL.md")).text(), /Uploaded\./);
  for (const path of ["b/SKILL.md", "b.zip"]) assert.is((await server.get(CURRENT + path)).status, 404);
});

test("a new version replaces its predecessor, and a deleted skill is removed", async () => {
  const server = await newDiscovery({ workspaces: ["default"] });
  const id = await server.upload([["SKILL.md", skillMd("demo", "One.")], ["a.txt", "1"]]);
  assert.equal(await listed(server), ["demo: One."]);
  const before = (await server.get(CURRENT + "index.json")).headers.get("etag");
  server.advance(1000);
  assert.is((await server.get(CURRENT + "index.json")).headers.get("etag"), before);
  const body = new FormData();
  body.append("files[]", new Blob([skillMd("demo", "Two.")]), "demo/SKILL.md");
  assert.is((await server.server.send(`/v1/skills/${id}/versions`, { method: "POST", body })).status, 200);
  assert.equal(await listed(server), ["demo: Two."]);
  assert.is.not((await server.get(CURRENT + "index.json")).headers.get("etag"), before);
  assert.is((await server.server.send(`/v1/skills/${id}`, { method: "DELETE" })).status, 200);
  assert.equal(await listed(server), []);
  assert.is((await server.get(CURRENT + "demo/SKILL.md")).status, 404);
});

test("versions are cached with the index only: requests for files do not fill the memory", async () => {
  let reads = 0;
  const server = await newDiscovery({
    workspaces: ["default"],
    onRead: ([kind]) => void (reads += Number(kind === "skill_version")),
  });
  await server.upload([["SKILL.md", skillMd("demo")]]);
  const readsOf = async (path: string) => {
    const before = reads;
    assert.is((await server.get(CURRENT + path)).status, 200);
    return reads - before;
  };
  for (const expected of [1, 1]) assert.is(await readsOf("demo/SKILL.md"), expected);
  assert.is(await readsOf("index.json"), 1);
  assert.is(await readsOf("demo/SKILL.md"), 0);
});

test("a skill marked as internal is hidden, and so are skills that it shadows", async () => {
  const server = await newDiscovery({
    files: {
      "one/SKILL.md": skillMd("one", "Local.", "metadata:\n  internal: true\n"),
      "two/SKILL.md": skillMd("two", "Local.", 'metadata:\n  internal: "true"\n'),
      "three/SKILL.md": skillMd("three", "Local.", 'metadata:\n  internal: "false"\n'),
    },
    workspaces: ["default"],
  });
  await server.upload([["SKILL.md", skillMd("one", "Uploaded.")]]);
  await server.upload([["SKILL.md", skillMd("four", "Old.")]]);
  await server.upload([["SKILL.md", skillMd("four", "New.", 'metadata:\n  internal: "true"\n')]]);
  assert.equal(await listed(server), ["three: Local."]);
  for (const name of ["one", "two", "four"]) {
    assert.is((await server.get(`${CURRENT}${name}/SKILL.md`)).status, 404, name);
    assert.is((await server.get(`${CURRENT}${name}.zip`)).status, 404, name);
    assert.is((await server.get(`/.well-known/skills/${name}/SKILL.md`)).status, 404, name);
  }
});

test("a skill that would make clients refuse an index is omitted from that index", async () => {
  const server = await newDiscovery({
    files: {
      "good/SKILL.md": skillMd("good"),
      "Bad Name/SKILL.md": skillMd("Bad Name"),
      "bare/SKILL.md": skillMd("bare", "Use when: asked."),
      "dots/SKILL.md": skillMd("dots"),
      "dots/a..b": "x",
      "hash/SKILL.md": skillMd("hash"),
      "hash/a#b": "x",
      "accent/SKILL.md": skillMd("accent"),
      "accent/é": "x",
      "back/SKILL.md": skillMd("back"),
      "back/..\\x": "x",
    },
  });
  assert.equal((await server.index()).skills.map(({ name }) => name), ["accent", "dots", "good", "hash"]);
  assert.equal((await server.index("skills")).skills.map(({ name }) => name), ["good"]);
});

test("an index has at most 1,000 skills, in a fixed order", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1005 }, (_, i) => `s${String(i).padStart(4, "0")}`).map((name) => [
      `${name}/SKILL.md`,
      skillMd(name),
    ]),
  );
  const server = await newDiscovery({ files });
  const { skills } = await server.index();
  assert.is(skills.length, 1000);
  assert.equal([skills[0]!.name, skills[999]!.name], ["s0000", "s0999"]);
  // Omitted skills are still served by name.
  assert.is((await server.get(CURRENT + "s1004/SKILL.md")).status, 200);
});

test("the index of v0.1 leaves out the longest lists of files beyond 2 MiB", async () => {
  const { upload, index } = await newDiscovery({ workspaces: ["default"] });
  const files = (name: string, count: number): TestFile[] => [
    [`${name}/SKILL.md`, skillMd(name)],
    ...Array.from(
      { length: count },
      (_, i): TestFile => [`${name}/${"folder/".repeat(14)}${"x".repeat(250)}${i}`, ""],
    ),
  ];
  for (const name of ["a", "b", "c", "d", "e", "f"]) await upload(files(name, 990));
  await upload(files("g", 999));
  await upload(files("h", 10));
  const { skills } = await index("skills");
  assert.equal(skills.map(({ name }) => name), ["a", "b", "c", "d", "e", "f", "h"]);
  assert.is((await index()).skills.length, 8);
});

test("a change of a local skill is visible within a second", async () => {
  const server = await newDiscovery({ files: { "demo/SKILL.md": skillMd("demo"), "demo/a.txt": "one" } });
  const tag = async () => (await server.get(CURRENT + "demo.zip")).headers.get("etag");
  assert.equal(await listed(server), ["demo: Does it."]);
  const before = await tag();
  server.local.set("demo/a.txt", "two");
  assert.equal(await listed(server), ["demo: Does it."]);
  assert.is.not(await tag(), before);
  server.local.delete("demo/a.txt");
  server.local.set("demo/SKILL.md", skillMd("demo", "Alone."));
  assert.equal(await listed(server), ["demo: Alone."]);
  assert.is((await server.index()).skills[0]!.type, "skill-md");
});

/** Counts reads of file contents. */
const counter = (): { contents: number; onRead: (key: Key) => void } => {
  const counts = {
    contents: 0,
    onRead: ([kind]: Key): void => void (kind === "blob_data" && counts.contents++),
  };
  return counts;
};

test("a digest is computed once for each content, across instances", async () => {
  const store = memoryStore();
  const counts = counter();
  const options = { store, workspaces: ["default"], onRead: counts.onRead };
  const server = await newDiscovery(options);
  for (let i = 0; i < 10; i++) {
    await server.upload([["SKILL.md", skillMd(`skill-${i}`)], ["a.txt", `content ${i}`]]);
  }
  const first = await server.index();
  assert.is(first.skills.length, 10);
  assert.is(counts.contents, 20);
  for (let i = 0; i < 3; i++) {
    server.advance(1000);
    assert.equal(await server.index(), first);
  }
  const other = await newDiscovery(options);
  assert.equal(await other.index(), first);
  assert.is(counts.contents, 20);
  // Stored digests expire, and each use extends them.
  const expiries = async () => (await store.list(["archive_digest"])).map(({ expires }) => expires!);
  const before = await expiries();
  assert.is(before.length, 10);
  const later = await newDiscovery(options);
  later.advance(20 * 24 * 60 * 60 * 1000);
  assert.equal(await later.index(), first);
  assert.ok(Math.min(...await expiries()) > Math.max(...before));
  assert.is(counts.contents, 20);
});

test("concurrent requests for a new index get equal responses and share the work", async () => {
  const counts = counter();
  const server = await newDiscovery({ workspaces: ["default"], onRead: counts.onRead });
  for (let i = 0; i < 40; i++) {
    await server.upload([["SKILL.md", skillMd(`skill-${i}`)], ["a.txt", `content ${i}`]]);
  }
  const texts = await Promise.all(
    Array.from({ length: 20 }, async () => await (await server.get(CURRENT + "index.json")).text()),
  );
  assert.is(new Set(texts).size, 1);
  assert.is(JSON.parse(texts[0]!).skills.length, 40);
  // 80 for one request; 1,600 if each did all of the work.
  assert.ok(counts.contents <= 1000, String(counts.contents));
});

test("content that is deleted and uploaded again is served", async () => {
  const server = await newDiscovery({ workspaces: ["default"] });
  const files = [["SKILL.md", skillMd("demo")], ["a.txt", "a"]] as const;
  const id = await server.upload(files);
  assert.equal(await listed(server), ["demo: Does it."]);
  await server.server.send(`/v1/skills/${id}`, { method: "DELETE" });
  await server.upload(files);
  assert.equal(await listed(server), ["demo: Does it."]);
});

test.run();
