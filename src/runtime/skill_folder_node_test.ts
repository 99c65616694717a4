import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { FolderError } from "../skills/local/folder.ts";
import { skillFolder } from "./skill_folder.ts";
import { temporaryFolder } from "../end_to_end/test_process.ts";

const test = suite("skillFolder");
const temporary = temporaryFolder();
const root = join(temporary.path, "skills");
test.after(() => temporary.remove());

test.before(() => {
  mkdirSync(join(root, "a/docs"), { recursive: true });
  mkdirSync(join(temporary.path, "skills-evil"));
  writeFileSync(join(root, "a/SKILL.md"), "text");
  writeFileSync(join(temporary.path, "secret"), "secret");
  writeFileSync(join(temporary.path, "skills-evil/secret"), "secret");
  symlinkSync(join(temporary.path, "secret"), join(root, "a/link"));
  symlinkSync("/missing", join(root, "a/dangling"));
  symlinkSync(temporary.path, join(root, "up"));
});

const read = async (path: string) => {
  const bytes = await skillFolder(root).read(path, 100);
  return bytes && new TextDecoder().decode(bytes);
};

test("list() returns files, folders and links by name; undefined for a missing folder", async () => {
  const entries = await skillFolder(root).list("a");
  assert.equal(entries?.map(({ name, type }) => [name, type]), [
    ["SKILL.md", "file"],
    ["dangling", "link"],
    ["docs", "folder"],
    ["link", "link"],
  ]);
  assert.equal(await skillFolder(join(root, "missing")).list(""), undefined);
  const outcome = await skillFolder(join(root, "a/SKILL.md")).list("").catch((error) => error);
  assert.instance(outcome, FolderError);
  assert.match(outcome.message, "not a folder");
});

test("the stamp changes when a file of the same size replaces the file", async () => {
  const stamp = async () =>
    (await skillFolder(root).list("a"))!.find(({ name }) => name === "SKILL.md")!.stamp;
  const first = await stamp();
  writeFileSync(join(root, "a/new"), "news");
  renameSync(join(root, "a/new"), join(root, "a/SKILL.md"));
  assert.is.not(await stamp(), first);
});

test("read() returns regular files of the folder, and undefined for links and paths that leave it", async () => {
  assert.is(await read("a/SKILL.md"), "news");
  for (
    const path of [
      "a/link",
      "a/dangling",
      "up/secret",
      "../secret",
      "../skills-evil/secret",
      "a/docs",
      "a",
      "missing",
      "",
    ]
  ) {
    assert.is(await read(path), undefined, path);
  }
});

test("read() rejects with RangeError past its limit", async () => {
  const outcome = await skillFolder(root).read("a/SKILL.md", 3).catch((error) => error);
  assert.instance(outcome, RangeError);
});

test.run();
