import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Diagnostic, type Directory, openDirectory } from "./directory.ts";
import { FolderError, type SkillFolder } from "./folder.ts";
import { digestOf } from "../content_digest.ts";
import { folderOf } from "../test_service.ts";

const test = suite("skills/local/local_skill");
const md = (name: string, body = "Instructions.") =>
  `---\nname: ${name}\ndescription: Does it when asked.\n---\n${body}`;

/** Opens a directory of these files. `advance()` lets a second pass. */
function openFiles(
  files: Map<string, string | null>,
  { path = "/skills", change }: { path?: string; change?: (folder: SkillFolder) => Partial<SkillFolder> } =
    {},
): Directory & { advance(): void } {
  let time = 0;
  const folder = folderOf(files, path);
  const directory = openDirectory([{ ...folder, ...change?.(folder) }], () => time);
  return { ...directory, advance: () => void (time += 1000) };
}

const firstOf = async (directory: Directory) => (await directory.skills())[0]!;

test("the id depends only on the name", async () => {
  const here = await firstOf(openFiles(new Map([["a/SKILL.md", md("a")]])));
  const there = await firstOf(
    openFiles(new Map([["a/SKILL.md", md("a", "Others.")]]), { path: "/home/x/skills" }),
  );
  const other = await firstOf(openFiles(new Map([["b/SKILL.md", md("b")]])));
  assert.match(here.id, /^skill_local_[\w-]{22}$/);
  assert.is(there.id, here.id);
  assert.is.not(other.id, here.id);
});

test("the version depends on the path and content of every file, not on the folder", async () => {
  const content: [string, string][] = [["a/SKILL.md", md("a")], ["a/x.txt", "x"], ["a/y.txt", "y"]];
  const version = async (change: (files: Map<string, string | null>) => void, path = "/skills") => {
    const files = new Map<string, string | null>(content);
    change(files);
    return (await firstOf(openFiles(files, { path }))).version;
  };
  const first = await version(() => {});
  assert.match(first, /^skver_local_[\w-]{22}$/);
  assert.is(await version(() => {}, "/elsewhere"), first);
  const others = await Promise.all([
    version((files) => files.set("a/x.txt", "X")),
    version((files) => files.delete("a/y.txt")),
    version((files) => files.set("a/z.txt", "")),
    version((files) => files.set("a/x.txt", "y").set("a/y.txt", "x")),
    version((files) => files.set("a/SKILL.md", md("a", "Other."))),
  ]);
  assert.is(new Set([first, ...others]).size, 6);
});

test("the version of a skill that is too large for digests changes with the time of a file", async () => {
  const files = new Map<string, string | null>([["a/SKILL.md", md("a")]]);
  for (let i = 0; i < 600; i++) files.set(`a/${i}.txt`, "x");
  let modified = 1_700_000_000_000;
  const directory = openFiles(files, {
    change: (folder) => ({
      list: async (path) =>
        (await folder.list(path))!.map((entry) =>
          entry.name === "7.txt" ? { ...entry, modified, stamp: entry.stamp + modified } : entry
        ),
    }),
  });
  const first = await firstOf(directory);
  assert.is(first.files.filter(({ digest }) => digest !== undefined).length, 0);
  directory.advance();
  assert.is(await firstOf(directory), first);
  modified += 1;
  directory.advance();
  const second = await firstOf(directory);
  assert.is.not(second.version, first.version);
  assert.is(second.modified, modified);
});

test("the epoch is the latest change of a file or the folder, in 16 digits", async () => {
  const times = new Map([["a", 1_700_000_000_000], ["x.txt", 1_700_000_000_001.5]]);
  const directory = openFiles(new Map([["a/SKILL.md", md("a")], ["a/x.txt", "x"]]), {
    change: (folder) => ({
      list: async (path) =>
        (await folder.list(path))!.map((entry) => ({
          ...entry,
          modified: times.get(entry.name) ?? 0,
          stamp: `${entry.stamp}${times.get(entry.name)}`,
        })),
    }),
  });
  assert.is((await firstOf(directory)).epoch, "1700000000001500");
  times.set("a", 1_700_000_000_002).set("x.txt", 1_700_000_000_001);
  directory.advance();
  assert.is((await firstOf(directory)).epoch, "1700000000002000");
  times.set("a", -5).set("x.txt", -5);
  directory.advance();
  assert.is((await firstOf(directory)).epoch, "0000000000000000");
  times.set("a", Number.MAX_VALUE).set("x.txt", 0);
  directory.advance();
  const { modified } = await firstOf(directory);
  assert.is(new Date(modified).toISOString().slice(0, 7), "+275760", "still a valid date");
});

test("tokens are estimated for metadata and instructions", async () => {
  const { tokens } = await firstOf(openFiles(new Map([["a/SKILL.md", md("a", "x".repeat(400))]])));
  // "a: Does it when asked."
  assert.equal(tokens, { metadata: 6, instructions: 100 });
});

test("a change gives a new skill object, and the former one is unchanged", async () => {
  const files = new Map<string, string | null>([["a/SKILL.md", md("a")], ["a/x.txt", "x"]]);
  const directory = openFiles(files);
  const first = await firstOf(directory);
  files.set("a/x.txt", "changed");
  assert.is(await firstOf(directory), first, "not scanned again within a second");
  directory.advance();
  const second = await firstOf(directory);
  const digests = (skill: typeof first) => skill.files.map(({ path, digest }) => `${path} ${digest}`);
  const text = (content: string) => digestOf(new TextEncoder().encode(content));
  assert.equal(digests(first), [`SKILL.md ${await text(md("a"))}`, `x.txt ${await text("x")}`]);
  assert.equal(digests(second), [`SKILL.md ${await text(md("a"))}`, `x.txt ${await text("changed")}`]);
});

test("an unreadable file is omitted and reported until it can be read", async () => {
  let isClosed = true;
  const directory = openFiles(new Map([["a/SKILL.md", md("a")], ["a/x.txt", "x"]]), {
    change: (folder) => ({
      read: (path, limit) =>
        isClosed && path === "a/x.txt" ? Promise.reject(new FolderError("EACCES")) : folder.read(path, limit),
    }),
  });
  assert.equal((await firstOf(directory)).files.map(({ path }) => path), ["SKILL.md"]);
  assert.equal(await directory.diagnostics(), [{
    where: "/skills/a",
    message: "x.txt: EACCES",
    problems: [{ file: "x.txt", line: undefined, rule: "unreadable", message: "EACCES" }],
    skipped: false,
  }]);
  isClosed = false;
  directory.advance();
  assert.equal((await firstOf(directory)).files.map(({ path }) => path), ["SKILL.md", "x.txt"]);
  assert.equal(await directory.diagnostics(), []);
});

test("an unreadable folder or SKILL.md is skipped and reported, and others are served", async () => {
  const files = new Map([["a/SKILL.md", md("a")], ["b/SKILL.md", md("b")], ["c/SKILL.md", md("c")]]);
  const closed = () => Promise.reject(new FolderError("EACCES"));
  const directory = openFiles(files, {
    change: (folder) => ({
      list: (path) => path === "a" ? closed() : folder.list(path),
      read: (path, limit) => path === "b/SKILL.md" ? closed() : folder.read(path, limit),
    }),
  });
  assert.equal((await directory.skills()).map(({ name }) => name), ["c"]);
  assert.equal(
    (await directory.diagnostics()).map(({ where, message, problems, skipped }) => [
      where,
      message,
      problems.map(({ rule }) => rule),
      skipped,
    ]),
    [
      ["/skills/a", "EACCES", ["unreadable"], true],
      ["/skills/b", "SKILL.md: EACCES", ["unreadable"], true],
    ],
  );
});

test("a folder that is removed during a scan is neither served nor reported", async () => {
  const directory = openFiles(new Map([["a/SKILL.md", md("a")], ["b/SKILL.md", md("b")]]), {
    change: (folder) => ({ list: (path) => path === "a" ? Promise.resolve(undefined) : folder.list(path) }),
  });
  assert.equal((await directory.skills()).map(({ name }) => name), ["b"]);
  assert.equal(await directory.diagnostics(), []);
});

test("a SKILL.md above 512 KiB is skipped", async () => {
  const directory = openFiles(new Map([["a/SKILL.md", md("a")]]), {
    change: () => ({
      read: (_, limit) => {
        assert.is(limit, 512 * 1024);
        return Promise.reject(new RangeError("too large"));
      },
    }),
  });
  assert.equal(await directory.skills(), []);
  assert.equal(
    (await directory.diagnostics()).map(({ problems, skipped }) => [
      problems.map(({ file, rule }) => `${file} ${rule}`),
      skipped,
    ]),
    [[["SKILL.md skill-md-size"], true]],
  );
});

test("links, deep folders, large files and names that differ in case are reported", async () => {
  const files = new Map<string, string | null>([
    ["a/SKILL.md", md("a")],
    ["a/link", null],
    ["a/1/2/3/4/5/6/7/in.txt", "x"],
    ["a/1/2/3/4/5/6/7/8/out.txt", "x"],
    ["a/large", "x".repeat(8 * 1024 * 1024 + 1)],
    ["a/README.md", "x"],
    ["a/Readme.md", "x"],
  ]);
  const directory = openFiles(files);
  assert.equal((await firstOf(directory)).files.map(({ path }) => path), [
    "1/2/3/4/5/6/7/in.txt",
    "README.md",
    "Readme.md",
    "SKILL.md",
  ]);
  const [diagnostic, ...more] = await directory.diagnostics();
  assert.is(more.length, 0);
  assert.is(diagnostic!.skipped, false);
  assert.equal(diagnostic!.problems.map(({ file, rule }) => `${file} ${rule}`), [
    "1/2/3/4/5/6/7/8 path-depth",
    "Readme.md path-collision",
    "large file-size",
    "link link",
  ]);
});

test("the first 2000 files are served, and the excess is reported once", async () => {
  const files = new Map<string, string | null>([["a/SKILL.md", md("a")]]);
  for (let i = 0; i < 2100; i++) files.set(`a/f${i}`, "");
  const directory = openFiles(files);
  assert.is((await firstOf(directory)).files.length, 2000);
  const [{ problems, skipped }, ...more] = await directory.diagnostics() as [Diagnostic];
  assert.equal([problems.map(({ rule }) => rule), skipped, more], [["too-many-files"], false, []]);
});

test.run();
