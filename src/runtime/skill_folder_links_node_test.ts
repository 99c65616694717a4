import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { FolderError } from "../skills/local/folder.ts";
import { skillFolder } from "./skill_folder.ts";
import { temporaryFolder } from "../end_to_end/test_process.ts";

const test = suite("skillFolder: links and concurrent changes");
const temporary = temporaryFolder();
const at = (path: string): string => join(temporary.path, path);
const root = at("skills");
test.after(() => temporary.remove());

const put = (path: string, text: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};

test.before(() => {
  put("skills/plain/SKILL.md", "plain");
  put("elsewhere/SKILL.md", "elsewhere");
  put("elsewhere/docs/a.md", "a");
  put("elsewhere-evil/secret", "secret");
  put("secret", "secret");
  symlinkSync(at("elsewhere"), join(root, "linked"));
  symlinkSync("../elsewhere", join(root, "relative"));
  symlinkSync("plain", join(root, "beside"));
  symlinkSync(at("secret"), join(root, "file"));
  symlinkSync("/missing/target", join(root, "dangling"));
  symlinkSync("round2", join(root, "round1"));
  symlinkSync("round1", join(root, "round2"));
  symlinkSync(".", join(root, "self"));
  symlinkSync(at("secret"), at("elsewhere/link"));
  symlinkSync(at("elsewhere-evil"), at("elsewhere/out"));
  symlinkSync("docs", at("elsewhere/inside"));
  execFileSync("mkfifo", [join(root, "fifo"), at("elsewhere/fifo"), join(root, "plain/fifo")]);
  symlinkSync(join(root, "fifo"), join(root, "to-fifo"));
});

const read = async (path: string, followLinks: boolean): Promise<string | undefined> => {
  const bytes = await skillFolder(root, { followLinks }).read(path, 100);
  return bytes && new TextDecoder().decode(bytes);
};

test("list() returns the target type of each link and the real path of each folder", async () => {
  const entries = (await skillFolder(root).list(""))!;
  assert.equal(entries.map(({ name, type, leadsTo, realPath }) => [name, type, leadsTo, realPath]), [
    ["beside", "link", "folder", join(root, "plain")],
    ["dangling", "link", "nothing", undefined],
    ["fifo", "other", undefined, undefined],
    ["file", "link", "file", undefined],
    ["linked", "link", "folder", at("elsewhere")],
    ["plain", "folder", undefined, join(root, "plain")],
    ["relative", "link", "folder", at("elsewhere")],
    ["round1", "link", "itself", undefined],
    ["round2", "link", "itself", undefined],
    ["self", "link", "folder", root],
    ["to-fifo", "link", "other", undefined],
  ]);
});

test("the folder of a skill can be a link only with followLinks", async () => {
  for (const name of ["linked", "relative"]) {
    assert.is(await read(`${name}/SKILL.md`, true), "elsewhere");
    assert.is(await read(`${name}/docs/a.md`, true), "a");
    assert.is(await read(`${name}/SKILL.md`, false), undefined);
    assert.is(await skillFolder(root).list(name), undefined);
    const listed = await skillFolder(root, { followLinks: true }).list(name);
    assert.equal(listed!.map(({ name, type }) => `${name} ${type}`), [
      "SKILL.md file",
      "docs folder",
      "fifo other",
      "inside link",
      "link link",
      "out link",
    ]);
  }
  assert.is(await read("beside/SKILL.md", true), "plain");
});

test("with and without followLinks, no link inside a skill is followed and no path leaves it", async () => {
  const paths = [
    "linked/link",
    "linked/out/secret",
    "linked/inside/a.md",
    "linked/../elsewhere-evil/secret",
    "linked/docs/../SKILL.md",
    "linked/fifo",
    "linked/docs",
    "linked//SKILL.md",
    "linked/./SKILL.md",
    "linked/SKILL.md/",
    "linked/",
    "linked",
    "file",
    "file/x",
    "dangling/x",
    "round1/x",
    "to-fifo/x",
    "../secret",
    "/etc/passwd",
    "self/../secret",
    "self/self/plain/SKILL.md",
    "linked\u0000/SKILL.md",
    "",
  ];
  for (const followLinks of [false, true]) {
    for (const path of paths) assert.is(await read(path, followLinks), undefined, path);
    for (const path of ["linked/out", "linked/inside", "dangling", "round1", "file", "..", "linked/.."]) {
      assert.is(await skillFolder(root, { followLinks }).list(path), undefined, path);
    }
  }
});

test("reading a named pipe does not block", async () => {
  const outcome = await Promise.race([read("plain/fifo", true), wait(5000, "blocked", { ref: false })]);
  assert.is(outcome, undefined);
});

test("a folder that is replaced by a link during a read is never followed, in 1000 reads", async () => {
  put("skills/swap/docs/secret", "public");
  const folder = skillFolder(root, { followLinks: true });
  const [docs, moved, link] = [join(root, "swap/docs"), at("moved"), at("swap-link")];
  let swapping = true;
  const swaps = (async () => {
    for (let i = 0; swapping; i++) {
      renameSync(docs, moved);
      symlinkSync(at("elsewhere-evil"), link);
      renameSync(link, docs);
      await wait(0);
      unlinkSync(docs);
      renameSync(moved, docs);
      await wait(0);
    }
  })();
  const seen = new Set<string | undefined>();
  for (let i = 0; i < 1000; i++) {
    const bytes = await folder.read("swap/docs/secret", 100);
    seen.add(bytes && new TextDecoder().decode(bytes));
  }
  swapping = false;
  await swaps;
  seen.delete(undefined);
  assert.equal([...seen], ["public"]);
});

test("a file that is replaced repeatedly is read complete or not at all", async () => {
  put("skills/busy/SKILL.md", "a".repeat(50));
  const target = join(root, "busy/SKILL.md");
  let isBusy = true;
  const replacing = (async () => {
    for (let i = 0; isBusy; i++) {
      writeFileSync(at("next"), "ab"[i % 2]!.repeat(50));
      renameSync(at("next"), target);
      await wait(0);
    }
  })();
  for (let i = 0; i < 300; i++) {
    // A read fails when the file is replaced during each of its three attempts.
    const text = await read("busy/SKILL.md", false);
    assert.ok(text === undefined || text === "a".repeat(50) || text === "b".repeat(50), text);
  }
  isBusy = false;
  await replacing;
  assert.ok(await read("busy/SKILL.md", false));
});

test("read() rejects with RangeError past its limit, also for sparse files", async () => {
  put("skills/sizes/exact", "x".repeat(100));
  put("skills/sizes/empty", "");
  put("skills/sizes/sparse", "x");
  truncateSync(join(root, "sizes/sparse"), 1024 ** 4);
  assert.is((await read("sizes/exact", false))!.length, 100);
  assert.is(await read("sizes/empty", false), "");
  for (const limit of [99, 0]) {
    assert.instance(await skillFolder(root).read("sizes/exact", limit).catch((error) => error), RangeError);
  }
  assert.instance(await skillFolder(root).read("sizes/sparse", 1000).catch((error) => error), RangeError);
});

test("list() rejects with FolderError for more than 10000 entries", async () => {
  mkdirSync(join(root, "huge"));
  for (let i = 0; i < 10_000; i++) writeFileSync(join(root, `huge/${i}`), "");
  assert.is((await skillFolder(root).list("huge"))!.length, 10_000);
  writeFileSync(join(root, "huge/one-more"), "");
  const error = await skillFolder(root).list("huge").catch((error) => error);
  assert.instance(error, FolderError);
  assert.match(error.message, "10000");
  rmSync(join(root, "huge"), { recursive: true });
});

test("the stamp of a file differs at each call for three seconds after a change, then stays the same", async () => {
  put("skills/stamp/a", "1");
  const stamp = async () => (await skillFolder(root).list("stamp"))![0]!.stamp;
  assert.is.not(await stamp(), await stamp());
  await wait(3100);
  const settled = await stamp();
  assert.is(await stamp(), settled);
  // An older modification time does not hide a change.
  const old = new Date(1_700_000_000_000);
  writeFileSync(join(root, "stamp/a"), "2");
  utimesSync(join(root, "stamp/a"), old, old);
  const first = await stamp();
  await wait(3100);
  const second = await stamp();
  assert.is(await stamp(), second);
  assert.is(new Set([settled, first, second]).size, 3);
});

test.run();
