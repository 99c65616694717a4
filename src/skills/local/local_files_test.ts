import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { SkillEntry } from "../disclosure/entries.ts";
import type { SkillFolder } from "./folder.ts";
import { digestOf } from "../content_digest.ts";
import { folderOf, newService, SKILL_MD, type TestService } from "../test_service.ts";

const test = suite("skills/local/local_files");
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A service with one folder, which records the paths that are read and listed. */
async function watched(files: Map<string, string | null>): Promise<
  TestService & { read: string[]; listed: string[]; demo: () => Promise<SkillEntry> }
> {
  const folder = folderOf(files);
  const read: string[] = [];
  const listed: string[] = [];
  const counting: SkillFolder = {
    ...folder,
    list: (path) => (listed.push(path), folder.list(path)),
    read: (path, limit) => (read.push(path), folder.read(path, limit)),
  };
  const service = await newService({ folders: [counting] });
  const demo = async () => (await service.service.catalog.find(undefined, ["demo"]))!.entry;
  return { ...service, read, listed, demo };
}

test("the list has path, size, type and digest of each file, in path order", async () => {
  const content: [string, string][] = [
    ["SKILL.md", SKILL_MD],
    ["a/b/c.md", "# Ä\n"],
    ["a/data", "x\u0000y"],
    ["empty.txt", ""],
  ];
  const files = new Map<string, string | null>(content.map(([path, text]) => [`demo/${path}`, text]));
  files.set("demo/link", null).set("demo/.git/config", "x").set("demo/node_modules/a.js", "x");
  const { demo } = await watched(files);
  const types = ["text/markdown", "text/markdown", "application/octet-stream", "text/plain"];
  assert.equal(
    await (await demo()).files(),
    await Promise.all(content.map(async ([path, text], i) => ({
      path,
      size: encode(text).length,
      type: types[i],
      digest: await digestOf(encode(text)),
    }))),
  );
});

test("excluded files are neither listed nor read, and credentials are reported", async () => {
  const files = new Map<string, string | null>([["demo/SKILL.md", SKILL_MD], ["demo/.env.example", "x"]]);
  const excluded = [".env", "a/.env.local", ".hg/store", ".venv/x", "a/__pycache__/x.pyc", ".idea/x", "x~"];
  for (const path of excluded) files.set(`demo/${path}`, "secret");
  const { demo, read, service } = await watched(files);
  assert.equal((await (await demo()).files())!.map(({ path }) => path), [".env.example", "SKILL.md"]);
  for (const path of excluded) assert.is(await (await demo()).read(path), undefined, path);
  assert.equal(read.filter((path) => excluded.some((each) => path === `demo/${each}`)), []);
  const problems = (await service.diagnostics()).flatMap(({ problems }) => problems);
  assert.equal(problems.map(({ file, rule }) => [file, rule]), [
    [".env", "credential-file"],
    ["a/.env.local", "credential-file"],
  ]);
});

test("unchanged files are not read again, and folders are listed once a second", async () => {
  const files = new Map<string, string | null>([
    ["demo/SKILL.md", SKILL_MD],
    ["demo/a.txt", "a"],
    ["demo/sub/b.txt", "b"],
  ]);
  const { demo, read, listed, advance } = await watched(files);
  const [first, same] = await Promise.all([demo(), demo()]);
  await Promise.all([first.files(), same.files(), first.files()]);
  assert.equal(read, ["demo/SKILL.md", "demo/a.txt", "demo/sub/b.txt"]);
  const listings = listed.length;
  await (await demo()).files();
  assert.is(listed.length, listings);

  advance(1001);
  await (await demo()).files();
  assert.ok(listed.length > listings);
  assert.is(read.length, 3);

  files.set("demo/a.txt", "changed");
  files.delete("demo/sub/b.txt");
  files.set("demo/new.txt", "new");
  advance(1001);
  const changed = (await (await demo()).files())!;
  assert.equal(read.slice(3), ["demo/a.txt", "demo/new.txt"]);
  assert.equal(changed.map(({ path }) => path), ["SKILL.md", "a.txt", "new.txt"]);
  assert.is(changed[1]!.digest, await digestOf(encode("changed")));
});

test("front matter and the digest of SKILL.md come from the same read", async () => {
  const files = new Map<string, string | null>([["demo/SKILL.md", SKILL_MD]]);
  const { demo, advance } = await watched(files);
  const before = await demo();
  files.set("demo/SKILL.md", SKILL_MD.replace("Shows", "Tells"));
  assert.is((await before.files())![0]!.digest, await digestOf(encode(SKILL_MD)));
  advance(1001);
  const after = await demo();
  assert.match(after.frontMatter.description, /^Tells/);
  assert.is((await after.files())![0]!.digest, await digestOf(encode(SKILL_MD.replace("Shows", "Tells"))));
});

test("above 512 files or 16 MiB files have no digests and are not read", async () => {
  const many = (count: number) =>
    new Map<string, string | null>([
      ["demo/SKILL.md", SKILL_MD],
      ...Array.from({ length: count - 1 }, (_, i) => [`demo/f${i}.txt`, "x"] as const),
    ]);
  const large = (rest: number) =>
    new Map<string, string | null>([
      ["demo/SKILL.md", SKILL_MD],
      ["demo/a.bin", "x".repeat(8 * 1024 * 1024)],
      ["demo/b.bin", "x".repeat(8 * 1024 * 1024 - SKILL_MD.length + rest)],
    ]);
  for (const [files, expected] of [[many(512), 512], [many(513), 0], [large(0), 3], [large(1), 0]] as const) {
    const { demo, read } = await watched(files);
    const listed = (await (await demo()).files())!;
    assert.is(listed.length, files.size);
    assert.is(listed.filter(({ digest }) => digest !== undefined).length, expected);
    assert.is(read.length, Math.max(1, expected));
    assert.ok(listed.every(({ path, type }) => type === undefined || path === "SKILL.md" || expected > 0));
  }
});

test("a file that is removed or grows during a scan is omitted until the next scan", async () => {
  const files = new Map<string, string | null>([
    ["demo/SKILL.md", SKILL_MD],
    ["demo/removed", "x"],
    ["demo/grown", "x"],
    ["demo/stays", "x"],
  ]);
  const folder = folderOf(files);
  let isChanging = true;
  const { service, advance } = await newService({
    folders: [{
      ...folder,
      read(path, limit) {
        if (isChanging && path === "demo/removed") return Promise.resolve(undefined);
        if (isChanging && path === "demo/grown") return Promise.reject(new RangeError("too large"));
        return folder.read(path, limit);
      },
    }],
  });
  const paths = async () => {
    const { entry } = (await service.catalog.find(undefined, ["demo"]))!;
    return (await entry.files())!.map(({ path }) => path);
  };
  assert.equal(await paths(), ["SKILL.md", "stays"]);
  isChanging = false;
  advance(1001);
  assert.equal(await paths(), ["SKILL.md", "grown", "removed", "stays"]);
});

test("a read failure fails one call, and the next call succeeds", async () => {
  const folder = folderOf(new Map([["demo/SKILL.md", SKILL_MD], ["demo/a", "a"], ["demo/b", "b"]]));
  let fails = 1;
  const { service } = await newService({
    folders: [{
      ...folder,
      read: (path, limit) =>
        path === "demo/a" && fails-- > 0 ? Promise.reject(new Error("no disk")) : folder.read(path, limit),
    }],
  });
  const find = () => service.catalog.find(undefined, ["demo"]);
  assert.is(await find().catch((error) => error.message), "no disk");
  assert.is((await (await find())!.entry.files())!.length, 3);
});

test.run();
