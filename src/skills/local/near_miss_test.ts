import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openDirectory } from "./directory.ts";
import type { FolderEntry, SkillFolder } from "./folder.ts";
import { folderOf } from "../test_service.ts";

const test = suite("skills/local/near_miss");
const md = (name: string) => `---\nname: ${name}\ndescription: Does it when asked.\n---\nInstructions.`;

/** The reported problems as `place file rule`, and the names of the skills. */
async function scan(files: Map<string, string | null>, change: Partial<SkillFolder> = {}) {
  const directory = openDirectory([{ ...folderOf(files), ...change }], () => 0);
  const reported = (await directory.diagnostics()).flatMap(({ where, problems, skipped }) =>
    problems.map(({ file, rule }) => `${skipped ? "skipped" : "noted"} ${where} ${file} ${rule}`)
  );
  return { reported, names: (await directory.skills()).map(({ name }) => name) };
}

test("a SKILL.md with a similar name is reported", async () => {
  for (
    const name of ["skill.md", "Skill.md", "SKILL.MD", "SKILLS.md", "SKILL", "SKILL.md.txt", "skill.markdown"]
  ) {
    const { reported, names } = await scan(new Map([[`a/${name}`, md("a")]]));
    assert.equal([reported, names], [[`skipped /skills/a ${name} skill-md-name`], []]);
  }
  const { reported } = await scan(new Map([["a/skills/SKILL.md", md("a")], ["b/my-skill.md", md("b")]]));
  assert.equal(reported, [
    "skipped /skills/a skills/SKILL.md skill-md-depth",
    "skipped /skills/b  skill-md-missing",
  ]);
});

test("a skill nested one folder too deep is reported, and files of a skill are not", async () => {
  const files = new Map([
    ["pack/one/SKILL.md", md("one")],
    ["pack/two/SKILL.md", md("two")],
    ["good/SKILL.md", md("good")],
    ["good/examples/SKILL.md", md("example")],
  ]);
  const { reported, names } = await scan(files);
  assert.equal(reported, ["skipped /skills/pack one/SKILL.md skill-md-depth"]);
  assert.equal(names, ["good"]);
});

test("the search for nested skills lists at most 16 folders", async () => {
  const files = new Map<string, string | null>();
  for (let i = 0; i < 500; i++) files.set(`many/${String(i).padStart(3, "0")}/x`, "");
  const folder = folderOf(files);
  let listings = 0;
  const { reported } = await scan(files, { list: (path) => (listings++, folder.list(path)) });
  assert.equal(reported, ["skipped /skills/many  skill-md-missing"]);
  assert.ok(listings < 20, String(listings));
});

test("a flat file and a SKILL.md in the skills folder are reported, usual other files are not", async () => {
  const files = new Map([
    ["flat.md", md("flat")],
    ["SKILL.md", md("skills")],
    ["README.md", "x"],
    ["LICENSE.md", "x"],
    ["CHANGELOG.md", "x"],
    ["CLAUDE.md", "x"],
    ["notes.txt", "x"],
  ]);
  assert.equal(await scan(files), {
    reported: ["skipped /skills/SKILL.md  folder-is-skill", "skipped /skills/flat.md  flat-file"],
    names: [],
  });
});

test("a byte order mark is reported and read, UTF-16 is reported and skipped", async () => {
  const utf16 = new Uint8Array([0xff, 0xfe, 0x2d, 0, 0x2d, 0]);
  const files = new Map([["bom/SKILL.md", "\ufeff" + md("bom")], ["utf16/SKILL.md", ""]]);
  const folder = folderOf(files);
  const { reported, names } = await scan(files, {
    read: (path, limit) => path === "utf16/SKILL.md" ? Promise.resolve(utf16) : folder.read(path, limit),
  });
  assert.equal(reported, [
    "noted /skills/bom SKILL.md byte-order-mark",
    "skipped /skills/utf16 SKILL.md encoding",
  ]);
  assert.equal(names, ["bom"]);
});

test("special files are reported and not opened", async () => {
  const other = (name: string): FolderEntry => ({ name, type: "other", size: 0, stamp: "", modified: 0 });
  const folder = folderOf(new Map());
  const listed: string[] = [];
  const { reported } = await scan(new Map(), {
    list: async (path) => {
      listed.push(path);
      if (path === "") return [other("pipe"), { ...other("a"), type: "folder" }];
      return path === "a" ? [other("SKILL.md")] : await folder.list(path);
    },
  });
  assert.equal(reported, ["skipped /skills/pipe  special-file", "skipped /skills/a SKILL.md not-a-file"]);
  assert.equal(listed, ["", "a"]);
});

test("a link is followed only to a folder and only with followLinks", async () => {
  const link = (name: string, leadsTo: FolderEntry["leadsTo"]): FolderEntry => ({
    name,
    type: "link",
    size: 0,
    stamp: "",
    modified: 0,
    ...(leadsTo && { leadsTo }),
    ...(leadsTo === "folder" && { realPath: `/elsewhere/${name}` }),
  });
  const files = new Map([["good/SKILL.md", md("good")]]);
  const folder = folderOf(files);
  const top = [
    link("good", "folder"),
    link("file", "file"),
    link("pipe", "other"),
    link("gone", "nothing"),
    link("round", "itself"),
  ];
  const list = (path: string) => path === "" ? Promise.resolve(top) : folder.list(path);
  const bad = [
    "skipped /skills/file  link-to-file",
    "skipped /skills/pipe  link-to-file",
    "skipped /skills/gone  link-dangling",
    "skipped /skills/round  link-loop",
  ];
  assert.equal(await scan(files, { list }), { reported: ["skipped /skills/good  link", ...bad], names: [] });
  assert.equal(await scan(files, { list, followLinks: true }), { reported: bad, names: ["good"] });
});

test.run();
