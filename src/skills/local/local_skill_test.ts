import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Directory, openDirectory } from "./directory.ts";
import { FolderError, type SkillFolder } from "./folder.ts";
import { digestOf } from "../content_digest.ts";
import { folderOf } from "../test_service.ts";

const test = suite("skills/local_skill");
const md = (name: string, body = "Instructions.") =>
  `---\nname: ${name}\ndescription: Does it when asked.\n---\n${body}`;

/** The skills of a map of files, and how to let a second pass. */
function opened(
  files: Map<string, string | null>,
  { path = "/skills", change }: { path?: string; change?: (folder: SkillFolder) => Partial<SkillFolder> } =
    {},
): Directory & { advance(): void } {
  let time = 0;
  const folder = folderOf(files, path);
  const directory = openDirectory([{ ...folder, ...change?.(folder) }], () => time);
  return { ...directory, advance: () => void (time += 1000) };
}

const only = async (directory: Directory) => (await directory.skills())[0]!;

test("the id comes from the name alone: the same in another folder, on another machine", async () => {
  const here = await only(opened(new Map([["a/SKILL.md", md("a")]])));
  const there = await only(opened(new Map([["a/SKILL.md", md("a", "Others.")]]), { path: "/home/x/skills" }));
  const other = await only(opened(new Map([["b/SKILL.md", md("b")]])));
  assert.match(here.id, /^skill_local_[\w-]{22}$/);
  assert.is(there.id, here.id);
  assert.is.not(other.id, here.id);
});

test("the version comes from every file's path and content, wherever the skill lies", async () => {
  const content: [string, string][] = [["a/SKILL.md", md("a")], ["a/x.txt", "x"], ["a/y.txt", "y"]];
  const version = async (change: (files: Map<string, string | null>) => void, path = "/skills") => {
    const files = new Map<string, string | null>(content);
    change(files);
    return (await only(opened(files, { path }))).version;
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

test("a skill that is too large for digests has a version that changes with a file's time and size", async () => {
  const files = new Map<string, string | null>([["a/SKILL.md", md("a")]]);
  for (let i = 0; i < 600; i++) files.set(`a/${i}.txt`, "x");
  let modified = 1_700_000_000_000;
  const directory = opened(files, {
    change: (folder) => ({
      list: async (path) =>
        (await folder.list(path))!.map((entry) =>
          entry.name === "7.txt" ? { ...entry, modified, stamp: entry.stamp + modified } : entry
        ),
    }),
  });
  const first = await only(directory);
  assert.is(first.files.filter(({ digest }) => digest !== undefined).length, 0);
  directory.advance();
  assert.is(await only(directory), first);
  modified += 1;
  directory.advance();
  const second = await only(directory);
  assert.is.not(second.version, first.version);
  assert.is(second.modified, modified);
});

test("the epoch is the time of the last change in 16 digits, a file's or the folder's", async () => {
  const times = new Map([["a", 1_700_000_000_000], ["x.txt", 1_700_000_000_001.5]]);
  const directory = opened(new Map([["a/SKILL.md", md("a")], ["a/x.txt", "x"]]), {
    change: (folder) => ({
      list: async (path) =>
        (await folder.list(path))!.map((entry) => ({
          ...entry,
          modified: times.get(entry.name) ?? 0,
          stamp: `${entry.stamp}${times.get(entry.name)}`,
        })),
    }),
  });
  assert.is((await only(directory)).epoch, "1700000000001500");
  times.set("a", 1_700_000_000_002).set("x.txt", 1_700_000_000_001);
  directory.advance();
  assert.is((await only(directory)).epoch, "1700000000002000");
  times.set("a", -5).set("x.txt", -5);
  directory.advance();
  assert.is((await only(directory)).epoch, "0000000000000000");
  times.set("a", Number.MAX_VALUE).set("x.txt", 0);
  directory.advance();
  const { modified } = await only(directory);
  assert.is(new Date(modified).toISOString().slice(0, 7), "+275760", "still a time that can be written");
});

test("tokens of both levels are estimated: name and description, and instructions", async () => {
  const { tokens } = await only(opened(new Map([["a/SKILL.md", md("a", "x".repeat(400))]])));
  // "a: Does it when asked."
  assert.equal(tokens, { metadata: 6, instructions: 100 });
});

test("a change to any file makes another skill of the same moment; the one before stays what it was", async () => {
  const files = new Map<string, string | null>([["a/SKILL.md", md("a")], ["a/x.txt", "x"]]);
  const directory = opened(files);
  const first = await only(directory);
  files.set("a/x.txt", "changed");
  assert.is(await only(directory), first, "not looked at again within a second");
  directory.advance();
  const second = await only(directory);
  const digests = (skill: typeof first) => skill.files.map(({ path, digest }) => `${path} ${digest}`);
  const text = (content: string) => digestOf(new TextEncoder().encode(content));
  assert.equal(digests(first), [`SKILL.md ${await text(md("a"))}`, `x.txt ${await text("x")}`]);
  assert.equal(digests(second), [`SKILL.md ${await text(md("a"))}`, `x.txt ${await text("changed")}`]);
});

test("a file that may not be read is left out and told; the skill is served, and whole again when it may", async () => {
  let isClosed = true;
  const directory = opened(new Map([["a/SKILL.md", md("a")], ["a/x.txt", "x"]]), {
    change: (folder) => ({
      read: (path, limit) =>
        isClosed && path === "a/x.txt"
          ? Promise.reject(new FolderError("It cannot be read (EACCES)"))
          : folder.read(path, limit),
    }),
  });
  assert.equal((await only(directory)).files.map(({ path }) => path), ["SKILL.md"]);
  assert.equal(await directory.diagnostics(), [{
    where: "/skills/a",
    message: "x.txt: It cannot be read (EACCES)",
    problems: [{ file: "x.txt", line: undefined, rule: "unreadable", message: "It cannot be read (EACCES)" }],
    skipped: false,
  }]);
  isClosed = false;
  directory.advance();
  assert.equal((await only(directory)).files.map(({ path }) => path), ["SKILL.md", "x.txt"]);
  assert.equal(await directory.diagnostics(), []);
});

test("a folder or a SKILL.md that may not be read is skipped and told; others are served", async () => {
  const files = new Map([["a/SKILL.md", md("a")], ["b/SKILL.md", md("b")], ["c/SKILL.md", md("c")]]);
  const closed = () => Promise.reject(new FolderError("It cannot be read (EACCES)"));
  const directory = opened(files, {
    change: (folder) => ({
      list: (path) => path === "a" ? closed() : folder.list(path),
      read: (path, limit) => path === "b/SKILL.md" ? closed() : folder.read(path, limit),
    }),
  });
  assert.equal((await directory.skills()).map(({ name }) => name), ["c"]);
  assert.equal(
    (await directory.diagnostics()).map(({ where, message, skipped }) => [where, message, skipped]),
    [
      ["/skills/a", "It cannot be read (EACCES)", true],
      ["/skills/b", "SKILL.md: It cannot be read (EACCES)", true],
    ],
  );
});

test("a folder that goes while it is looked at is no skill and no mistake", async () => {
  const directory = opened(new Map([["a/SKILL.md", md("a")], ["b/SKILL.md", md("b")]]), {
    change: (folder) => ({ list: (path) => path === "a" ? Promise.resolve(undefined) : folder.list(path) }),
  });
  assert.equal((await directory.skills()).map(({ name }) => name), ["b"]);
  assert.equal(await directory.diagnostics(), []);
});

test("a SKILL.md of over 512 KiB is skipped", async () => {
  const directory = opened(new Map([["a/SKILL.md", md("a")]]), {
    change: () => ({ read: (_, limit) => Promise.reject(new RangeError(String(limit))) }),
  });
  assert.equal(await directory.skills(), []);
  assert.equal((await directory.diagnostics()).map(({ message }) => message), [
    "SKILL.md: must have at most 524288 bytes",
  ]);
});

test("what is in a skill and not served is told: links, deep folders, large files, names that differ in case", async () => {
  const files = new Map<string, string | null>([
    ["a/SKILL.md", md("a")],
    ["a/link", null],
    ["a/1/2/3/4/5/6/7/in.txt", "x"],
    ["a/1/2/3/4/5/6/7/8/out.txt", "x"],
    ["a/large", "x".repeat(8 * 1024 * 1024 + 1)],
    ["a/README.md", "x"],
    ["a/Readme.md", "x"],
  ]);
  const directory = opened(files);
  assert.equal((await only(directory)).files.map(({ path }) => path), [
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

test("of more than 2000 files the first are served, and that is told once", async () => {
  const files = new Map<string, string | null>([["a/SKILL.md", md("a")]]);
  for (let i = 0; i < 2100; i++) files.set(`a/f${i}`, "");
  const directory = opened(files);
  assert.is((await only(directory)).files.length, 2000);
  assert.equal((await directory.diagnostics()).map(({ message }) => message), ["has more than 2000 files"]);
});

test.run();
