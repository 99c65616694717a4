import { mkdirSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { WatchedFiles, watchFiles } from "./watch_files.ts";
import { until } from "../../../test_until.ts";

const test = suite("cli/serve/watch_files");
const folder = mkdtempSync(join(tmpdir(), "trivet-watch-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

test("a file that cannot be examined counts as changed, once, and its repair too", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "one");
  let changes = 0;
  const stop = watchFiles(new WatchedFiles(file), () => Promise.resolve(void changes++));
  try {
    unlinkSync(file);
    // A link to itself: ELOOP, also for root.
    symlinkSync("file", file);
    await until(() => changes === 1);
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.is(changes, 1);
    unlinkSync(file);
    writeFileSync(file, "two");
    await until(() => changes === 2);
  } finally {
    stop();
  }
});

test("a folder in the path that became a file is a change, and watching can begin with such a file", async () => {
  const parent = join(folder, "parent");
  writeFileSync(parent, "");
  let changes = 0;
  // ENOTDIR.
  const stop = watchFiles(new WatchedFiles(join(parent, "file")), () => Promise.resolve(void changes++));
  try {
    unlinkSync(parent);
    mkdirSync(parent);
    writeFileSync(join(parent, "file"), "one");
    await until(() => changes === 1);
  } finally {
    stop();
  }
});

test("a change between the addition of a file, before it is read, and the begin of the watch is noticed", async () => {
  const file = join(folder, "early");
  writeFileSync(file, "one");
  const files = new WatchedFiles(file);
  writeFileSync(file, "other");
  let changes = 0;
  const stop = watchFiles(files, () => Promise.resolve(void changes++));
  try {
    await until(() => changes === 1);
  } finally {
    stop();
  }
});

test.run();
