import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import { digestOf } from "../content_digest.ts";
import { type Skill, skillKey } from "../records.ts";
import { DEMO, folderOf, newService, type TestService } from "../test_service.ts";

const test = suite("skills/disclosure/entries");
const reader: Principal = { workspace: "default", scopes: new Set(["skills:read"]) };
const stranger: Principal = { workspace: "other", scopes: new Set(["skills:read", "skills:write", "admin"]) };
const unscoped: Principal = { workspace: "default", scopes: new Set(["profile"]) };
const md = (front: string): string => `---\n${front}\n---\nText`;
const named = (name: string): string => md(`name: ${name}\ndescription: Does it.`);

/** Paths of all pages. */
async function walk(
  { service }: TestService,
  principal: Principal | undefined,
  limit: number,
): Promise<string[][]> {
  const pages: string[][] = [];
  let after: readonly string[] | undefined;
  do {
    const { entries, next } = await service.catalog.page(principal, { after, limit });
    assert.ok(entries.length <= limit);
    pages.push(entries.map(({ path }) => path.join("/")));
    after = next;
  } while (after);
  return pages;
}

const locals = (...names: string[]) =>
  folderOf(new Map(names.map((name) => [`${name}/SKILL.md`, named(name)])));

test("pages of every size list each skill once: local ones by name, then uploads, newest first", async () => {
  const server = await newService({ folders: [locals("c", "a", "b")] });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    server.advance(1);
    ids.unshift((await (await server.upload(DEMO)).json()).id);
  }
  const all = ["a", "b", "c", ...ids.map((id) => `${id}/demo`)];
  for (let limit = 1; limit <= 7; limit++) {
    const pages = await walk(server, reader, limit);
    assert.equal(pages.flat(), all, `${limit}`);
    assert.is(pages.length, Math.ceil(6 / limit));
  }
  assert.equal(await walk(server, undefined, 2), [["a", "b"], ["c"]]);
});

test("local and uploaded skills of one name have different paths", async () => {
  const server = await newService({ folders: [locals("demo")] });
  const ids = [];
  for (let i = 0; i < 2; i++) ids.push((await (await server.upload(DEMO)).json()).id);
  const paths = (await walk(server, reader, 100)).flat();
  assert.equal(new Set(paths), new Set(["demo", ...ids.map((id) => `${id}/demo`)]));
  for (const path of paths) {
    const found = await server.service.catalog.find(reader, [...path.split("/"), "a", "b"]);
    assert.is(found?.entry.path.join("/"), path);
    assert.equal(found?.rest, ["a", "b"]);
    assert.is(found?.entry.isPublic, path === "demo");
  }
});

test("an upload is found by id and name together, by readers of its workspace", async () => {
  const server = await newService();
  const { id } = await (await server.upload(DEMO)).json();
  const { catalog } = server.service;
  assert.ok(await catalog.find(reader, [id, "demo"]));
  for (const principal of [undefined, stranger, unscoped]) {
    assert.is(await catalog.find(principal, [id, "demo"]), undefined);
    assert.equal((await catalog.page(principal, { limit: 10 })).entries, []);
  }
  for (
    const path of [
      [],
      [""],
      [id],
      [id, ""],
      [id, "Demo"],
      [id, "other"],
      ["demo"],
      ["demo", id],
      [
        "skill_",
        "demo",
      ],
      ["skill_" + "x".repeat(5000), "demo"],
      [id + "\u0000", "demo"],
      ["__proto__", "demo"],
      [`${id}/demo`],
    ]
  ) {
    assert.is(await catalog.find(reader, path), undefined, JSON.stringify(path).slice(0, 80));
  }
});

test("files of an upload are returned unchanged, with their digests", async () => {
  const server = await newService();
  const { id } = await (await server.upload(DEMO)).json();
  const { entry } = (await server.service.catalog.find(reader, [id, "demo"]))!;
  const sent = new Map(
    DEMO.map(([path, content]) => [
      path.slice("demo/".length),
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    ]),
  );
  const files = (await entry.files())!;
  assert.equal(files.map(({ path, type }) => [path, type]), [
    ["SKILL.md", "text/markdown"],
    ["data.bin", "application/octet-stream"],
    ["scripts/run.py", "text/plain"],
  ]);
  for (const { path, size, type, digest } of files) {
    const bytes = sent.get(path)!;
    assert.is(size, bytes.length);
    assert.is(digest, await digestOf(bytes));
    assert.equal(await entry.read(path), { bytes, mediaType: type });
  }
  assert.is(await entry.read("scripts"), undefined);
  assert.is(await entry.read("../demo/SKILL.md"), undefined);
});

test("an upload of more than 512 files has no digests and can be read", async () => {
  const server = await newService();
  const files = Array.from({ length: 512 }, (_, i) => [`demo/${i}.txt`, "x"] as const);
  for (const [sent, hasDigests] of [[files.slice(1), true], [files, false]] as const) {
    const { id } = await (await server.upload([["demo/SKILL.md", named("demo")], ...sent])).json();
    const { entry } = (await server.service.catalog.find(reader, [id, "demo"]))!;
    const listed = (await entry.files())!;
    assert.is(listed.length, sent.length + 1);
    assert.ok(
      listed.every(({ digest, type }) => (digest !== undefined) === hasDigests && type !== undefined),
    );
    assert.is((await entry.read("511.txt"))?.bytes.length, 1);
  }
});

test("front matter contains every field with its YAML type", async () => {
  const front =
    'name: demo\ndescription: |\n  One.\n\n  Two.\nlicense: MIT\nallowed-tools: Read, Bash\nmetadata: {version: "1.10", io.modelcontextprotocol/x: yes}\nextra: {version: 1.50, tags: [a, ~, true]}';
  const expected = {
    name: "demo",
    description: "One.\n\nTwo.\n",
    license: "MIT",
    "allowed-tools": "Read, Bash",
    metadata: { version: "1.10", "io.modelcontextprotocol/x": "yes" },
    extra: { version: 1.5, tags: ["a", null, true] },
  };
  const server = await newService({ folders: [folderOf(new Map([["demo/SKILL.md", md(front)]]))] });
  await server.upload([["demo/SKILL.md", md(front)]]);
  const { entries } = await server.service.catalog.page(reader, { limit: 10 });
  assert.is(entries.length, 2);
  for (const { frontMatter } of entries) assert.equal(frontMatter, expected);
});

test("a local skill that violates the open specification has no entry, but is in the catalogue", async () => {
  const bad: [string, string][] = [
    ["colon", "name: colon\ndescription: Use when: always"],
    ["long", `name: long\ndescription: ${"x".repeat(1025)}`],
    ["upper", "name: Upper\ndescription: Does it."],
    ["dashes", "name: a--b\ndescription: Does it."],
    ["nameless", "description: Does it."],
    ["number", "name: 42\ndescription: Does it."],
    ["text", "name: text\ndescription: 42"],
    ["empty", 'name: empty\ndescription: Does it.\ncompatibility: ""'],
    ["version", "name: version\ndescription: Does it.\nmetadata:\n  version: 1.0"],
    ["tags", "name: tags\ndescription: Does it.\nmetadata: [a, b]"],
    ["nothing", "name: nothing\ndescription: Does it.\nmetadata:"],
    ["compatible", `name: compatible\ndescription: Does it.\ncompatibility: ${"x".repeat(501)}`],
  ];
  const good: [string, string][] = [
    ["Folder", "name: other-name\ndescription: Does it."],
    ["reserved", "name: claude-helper\ndescription: Does it."],
    ["longest", `name: longest\ndescription: ${"x".repeat(1024)}`],
  ];
  const files = new Map([...bad, ...good].map(([folder, front]) => [`${folder}/SKILL.md`, md(front)]));
  const server = await newService({ folders: [folderOf(files)] });
  assert.equal(await walk(server, undefined, 2), [["claude-helper", "longest"], ["other-name"]]);
  assert.is((await server.service.catalog.list(undefined)).skills.length, bad.length + good.length);
  assert.is(await server.service.catalog.find(undefined, ["Upper"]), undefined);
  const reported = (await server.service.diagnostics()).map(({ where }) => where);
  for (const [folder] of bad) assert.ok(reported.includes(`/skills/${folder}`), folder);
});

test("a skill deleted between two reads is not found, and one without front matter is skipped in pages", async () => {
  const server = await newService();
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    server.advance(1);
    ids.unshift((await (await server.upload(DEMO)).json()).id);
  }
  const key = skillKey("default", ids[1]!);
  const { front_matter: _, ...rest } = (await server.store.get<Skill>(key))!.value;
  await server.store.commit({ set: [{ key, value: rest }] });
  assert.equal(await walk(server, reader, 1), [[`${ids[0]}/demo`], [], [`${ids[2]}/demo`]]);

  const { entry } = (await server.service.catalog.find(reader, [ids[0]!, "demo"]))!;
  await server.send(`/v1/skills/${ids[0]}`, { method: "DELETE" });
  assert.is(await entry.files(), undefined);
  assert.is(await entry.read("SKILL.md"), undefined);
  assert.is(await server.service.catalog.find(reader, [ids[0]!, "demo"]), undefined);
});

test("only exact paths of the list read a local file", async () => {
  const folder = folderOf(
    new Map<string, string | null>([["a/SKILL.md", named("a")], ["a/x/y.txt", "y"], [
      "b/SKILL.md",
      named("b"),
    ], ["a/link", null]]),
  );
  const { service } = await newService({ folders: [folder] });
  const { entry } = (await service.catalog.find(undefined, ["a"]))!;
  assert.is(new TextDecoder().decode((await entry.read("x/y.txt"))!.bytes), "y");
  for (const path of ["", ".", "x", "x/", "/x/y.txt", "../b/SKILL.md", "x/../SKILL.md", "link", "x//y.txt"]) {
    assert.is(await entry.read(path), undefined, path);
  }
});

test.run();
