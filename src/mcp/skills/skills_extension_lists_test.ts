/**
 * Lists of skills and of the children of a directory: entries, pages, cursors and what is refused.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Message } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";
import type { SkillSource } from "./skills.ts";
import { skillsExtension } from "./skills_extension.ts";
import {
  ask,
  DEMO,
  newSkillServer,
  PRIVATE,
  refusal,
  sourceOf,
  type TestSkill,
  WRITER,
} from "./test_skills_extension.ts";

const test = suite("mcp/skills_extension_lists");

test("pages list each skill once, and a cursor is valid only for its list", async () => {
  const many = Array.from({ length: 7 }, (_, i): TestSkill => ({ ...DEMO, path: `skill_${i}/demo` }));
  const server = newSkillServer([...many, PRIVATE], { pageSize: 3 });
  const walk = async (headers = {}) => {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const { skills, nextCursor } = await ask(server, "skills/list", { cursor }, headers);
      pages.push(skills.map((each: Message) => each.uri));
      assert.ok(
        skills.every((each: Message) => each.resources.length === 5 || each.uri.includes("skill_01/")),
      );
      cursor = nextCursor;
    } while (cursor !== undefined);
    return pages;
  };
  const pages = await walk();
  assert.equal(pages.map((page) => page.length), [3, 3, 1]);
  assert.is(new Set(pages.flat()).size, 7);
  assert.equal((await walk(WRITER)).map((page) => page.length), [3, 3, 2]);

  const { nextCursor } = await ask(server, "skills/list");
  const folder = await ask(server, "resources/directory/read", { uri: "skill://skill_1/demo/templates" });
  assert.is(folder.nextCursor, undefined);
  const top = await ask(newSkillServer(many, { pageSize: 2 }), "resources/directory/read", {
    uri: "skill://skill_1/demo",
  });
  const list = (cursor: unknown) => refusal(server, "skills/list", { cursor });
  for (const cursor of [nextCursor + "x", "x" + nextCursor, top.nextCursor, "", 7, null, ["a"], {}]) {
    assert.is((await list(cursor)).code, -32602, String(cursor));
  }
  const other = { uri: "skill://skill_1/demo", cursor: nextCursor };
  assert.is((await refusal(server, "resources/directory/read", other)).code, -32602);
});

test("a page ends before the limit of files, but has at least one skill", async () => {
  const files = (count: number) =>
    Object.fromEntries([["SKILL.md", "x"], ...Array.from({ length: count - 1 }, (_, i) => [`f${i}`, "x"])]);
  const skills = [4000, 1000, 1, 6000, 1, 1].map((count, i) => ({ path: `s${i}`, files: files(count) }));
  const server = newSkillServer(skills);
  const pages: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(server, "skills/list", { cursor });
    pages.push(page.skills.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assert.equal(pages, [2, 1, 1, 2]);
});

test("a page that ends at its files reads few lists of files in vain", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 3000 }, (_, i) => [i === 0 ? "SKILL.md" : `f${i}`, "x"]),
  );
  const source = sourceOf(Array.from({ length: 100 }, (_, i) => ({ path: `s${i}`, files })));
  let read = 0;
  const counted: SkillSource = {
    ...source,
    async page(principal, options) {
      const { entries, next } = await source.page(principal, options);
      return { entries: entries.map((each) => ({ ...each, files: () => (read++, each.files()) })), next };
    },
  };
  const { server } = newServer({ definitions: [], extensions: [skillsExtension(counted)] });
  assert.is((await ask(server, "skills/list")).skills.length, 1);
  assert.ok(read <= 8, String(read));
});

test("a page has at most a hundred skills", async () => {
  const skills = Array.from({ length: 101 }, (_, i) => ({ path: `s${i}`, files: { "SKILL.md": "x" } }));
  const server = newSkillServer(skills);
  const { skills: first, nextCursor } = await ask(server, "skills/list");
  assert.is(first.length, 100);
  assert.is((await ask(server, "skills/list", { cursor: nextCursor })).skills.length, 1);
});

test("a directory lists its direct children, with URIs without a trailing slash", async () => {
  const server = newSkillServer();
  const result = await ask(server, "resources/directory/read", { uri: "skill://demo" });
  assert.equal([result.ttlMs, result.cacheScope], [60_000, "public"]);
  assert.equal(result.resources, [
    {
      uri: "skill://demo/SKILL.md",
      name: "demo",
      description: "What demo\ndoes",
      mimeType: "text/markdown",
      size: 21,
    },
    { uri: "skill://demo/a%20b.md", name: "a b.md", mimeType: "text/markdown", size: 1 },
    { uri: "skill://demo/templates", name: "templates", mimeType: "inode/directory" },
  ]);
  const { resources } = await ask(server, "resources/directory/read", { uri: result.resources[2].uri });
  assert.equal(resources, [
    { uri: "skill://demo/templates/deep", name: "deep", mimeType: "inode/directory" },
    { uri: "skill://demo/templates/one.md", name: "one.md", mimeType: "text/markdown", size: 1 },
    { uri: "skill://demo/templates/z.png", name: "z.png", size: 2 },
  ]);
  const large = await ask(server, "resources/directory/read", { uri: "skill://large/a" });
  assert.equal(large.resources, [{ uri: "skill://large/a/b.txt", name: "b.txt", size: 1 }]);
});

test("a directory has pages, and a cursor is valid only for this directory", async () => {
  const files = Object.fromEntries(["SKILL.md", "a/x", "b", "c/y", "d"].map((path) => [path, "x"]));
  const server = newSkillServer([{ path: "s", files }, { path: "t", files }], { pageSize: 2 });
  const names: string[][] = [];
  let cursor: string | undefined;
  let last: string | undefined;
  do {
    const page = await ask(server, "resources/directory/read", { uri: "skill://s", cursor });
    names.push(page.resources.map((each: Message) => each.name));
    cursor = page.nextCursor;
    last = cursor ?? last;
  } while (cursor !== undefined);
  assert.equal(names, [["s", "a"], ["b", "c"], ["d"]]);
  const elsewhere = { uri: "skill://t", cursor: last };
  assert.is((await refusal(server, "resources/directory/read", elsewhere)).code, -32602);
});

test("an unknown skill or directory is refused with -32602 and its URI", async () => {
  const server = newSkillServer();
  const cases: Record<string, string[]> = {
    "skills/get": [
      "skill://demo",
      "skill://demo/",
      "skill://demo/a%20b.md",
      "skill://demo/templates/SKILL.md",
      "skill://demo/SKILL.md/",
      "skill://demo/SKILL.md?",
      "skill://none/SKILL.md",
      "skill://skill_01/SKILL.md",
      "",
      "demo",
      "skill://" + "x".repeat(600),
    ],
    "resources/directory/read": [
      "skill://demo/SKILL.md",
      "skill://demo/",
      "skill://demo/templates/",
      "skill://demo/templat",
      "skill://demo/templates/..",
      "skill://demo/%2e%2e/large",
      "skill://none",
      "skill://",
      "test://text",
    ],
    "resources/read": [
      "skill://demo",
      "skill://demo/templates",
      "skill://demo/none",
      "skill://none/SKILL.md",
    ],
  };
  for (const [method, uris] of Object.entries(cases)) {
    for (const uri of uris) {
      const error = await refusal(server, method, { uri });
      assert.is(error.code, -32602, uri);
      assert.equal(error.data, { uri: uri.slice(0, 500) });
    }
    for (const uri of [undefined, null, 7, ["skill://demo"]]) {
      if (method !== "resources/read") assert.is((await refusal(server, method, { uri })).code, -32602);
    }
  }
});

test.run();
