import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skillFolder } from "./skill_folder.ts";
import { temporaryFolder } from "../end_to_end/test_process.ts";

const test = suite("runtime/skill_folder");
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
  symlinkSync("/nowhere", join(root, "a/dangling"));
  symlinkSync(temporary.path, join(root, "up"));
});

const read = async (path: string) => {
  const bytes = await skillFolder(root).read(path, 100);
  return bytes && new TextDecoder().decode(bytes);
};

test("list() distinguishes files, folders and links, in name order; a missing folder is undefined", async () => {
  const entries = await skillFolder(root).list("a");
  assert.equal(entries?.map(({ name, type }) => [name, type]), [
    ["SKILL.md", "file"],
    ["dangling", "link"],
    ["docs", "folder"],
    ["link", "link"],
  ]);
  assert.equal(await skillFolder(join(root, "nothing")).list(""), undefined);
});

test("the stamp changes when the file does, also by being replaced with one of the same size", async () => {
  const stamp = async () =>
    (await skillFolder(root).list("a"))!.find(({ name }) => name === "SKILL.md")!.stamp;
  const first = await stamp();
  writeFileSync(join(root, "a/new"), "news");
  renameSync(join(root, "a/new"), join(root, "a/SKILL.md"));
  assert.is.not(await stamp(), first);
});

test("read() reads regular files inside, and nothing outside through a link or a path", async () => {
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
      "nothing",
      "",
    ]
  ) {
    assert.is(await read(path), undefined, path);
  }
});

test("read() past its limit is a RangeError", async () => {
  const outcome = await skillFolder(root).read("a/SKILL.md", 3).catch((error) => error);
  assert.instance(outcome, RangeError);
});

test.run();
