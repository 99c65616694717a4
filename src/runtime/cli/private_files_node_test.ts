import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { makePrivateFolder } from "./private_files.ts";

const test = suite("runtime/cli/private_files");
const root = mkdtempSync(join(tmpdir(), "trivet-"));
test.after(() => rmSync(root, { recursive: true }));

test("a folder and those above it are made for their owner only, and may exist", () => {
  const path = join(root, "a/b");
  makePrivateFolder(path);
  makePrivateFolder(path);
  if (process.platform !== "win32") assert.is(statSync(join(root, "a")).mode & 0o777, 0o700);
  assert.ok(statSync(path).isDirectory());
});

test("a file in the way is an error, and so is a file system without new folders", () => {
  writeFileSync(join(root, "file"), "");
  assert.throws(() => makePrivateFolder(join(root, "file")), /file" is not a folder/);
  assert.throws(() => makePrivateFolder(join(root, "file/x")), /file" is not a folder/);
  if (existsSync("/proc/self")) assert.throws(() => makePrivateFolder("/proc/none"));
});

test.run();
