import { suite } from "uvu";
import * as assert from "uvu/assert";
import { openDirectory } from "../local/directory.ts";
import type { FolderEntry, SkillFolder } from "../local/folder.ts";
import { folderOf } from "../test_service.ts";

const test = suite("skills/near_miss");
const md = (name: string) => `---\nname: ${name}\ndescription: Does it when asked.\n---\nInstructions.`;

/** What is told of these files, as `place rule`, and the names of the skills. */
async function look(files: Map<string, string | null>, change: Partial<SkillFolder> = {}) {
  const directory = openDirectory([{ ...folderOf(files), ...change }], () => 0);
  const told = (await directory.diagnostics()).flatMap(({ where, problems, skipped }) =>
    problems.map(({ file, rule }) => `${skipped ? "skipped" : "noted"} ${where} ${file} ${rule}`)
  );
  return { told, names: (await directory.skills()).map(({ name }) => name) };
}

test("SKILL.md under a name that is nearly right is told", async () => {
  for (
    const name of ["skill.md", "Skill.md", "SKILL.MD", "SKILLS.md", "SKILL", "SKILL.md.txt", "skill.markdown"]
  ) {
    const { told, names } = await look(new Map([[`a/${name}`, md("a")]]));
    assert.equal([told, names], [[`skipped /skills/a ${name} skill-md-name`], []]);
  }
  const { told } = await look(new Map([["a/skills/SKILL.md", md("a")], ["b/my-skill.md", md("b")]]));
  assert.equal(told, [
    "skipped /skills/a skills/SKILL.md skill-md-depth",
    "skipped /skills/b  skill-md-missing",
  ]);
});

test("a skill that lies too deep is found a folder further down, and no file of a skill is taken for one", async () => {
  const files = new Map([
    ["pack/one/SKILL.md", md("one")],
    ["pack/two/SKILL.md", md("two")],
    ["good/SKILL.md", md("good")],
    ["good/examples/SKILL.md", md("example")],
  ]);
  const { told, names } = await look(files);
  assert.equal(told, ["skipped /skills/pack one/SKILL.md skill-md-depth"]);
  assert.equal(names, ["good"]);
});

test("only so many folders are looked into for what is nearly right", async () => {
  const files = new Map<string, string | null>();
  for (let i = 0; i < 500; i++) files.set(`many/${String(i).padStart(3, "0")}/x`, "");
  const folder = folderOf(files);
  let looks = 0;
  const { told } = await look(files, { list: (path) => (looks++, folder.list(path)) });
  assert.equal(told, ["skipped /skills/many  skill-md-missing"]);
  assert.ok(looks < 20, String(looks));
});

test("a flat file is told where it belongs, a skill that is the folder itself too; what accompanies skills is not", async () => {
  const files = new Map([
    ["flat.md", md("flat")],
    ["SKILL.md", md("skills")],
    ["README.md", "x"],
    ["LICENSE.md", "x"],
    ["CHANGELOG.md", "x"],
    ["CLAUDE.md", "x"],
    ["notes.txt", "x"],
  ]);
  assert.equal(await look(files), {
    told: ["skipped /skills/SKILL.md  folder-is-skill", "skipped /skills/flat.md  flat-file"],
    names: [],
  });
});

test("a byte order mark and UTF-16 are told; the former is read", async () => {
  const utf16 = new Uint8Array([0xff, 0xfe, 0x2d, 0, 0x2d, 0]);
  const files = new Map([["bom/SKILL.md", "\ufeff" + md("bom")], ["utf16/SKILL.md", ""]]);
  const folder = folderOf(files);
  const { told, names } = await look(files, {
    read: (path, limit) => path === "utf16/SKILL.md" ? Promise.resolve(utf16) : folder.read(path, limit),
  });
  assert.equal(told, [
    "noted /skills/bom SKILL.md byte-order-mark",
    "skipped /skills/utf16 SKILL.md encoding",
  ]);
  assert.equal(names, ["bom"]);
});

test("what is neither file nor folder is told, and not looked into", async () => {
  const other = (name: string): FolderEntry => ({ name, type: "other", size: 0, stamp: "", modified: 0 });
  const folder = folderOf(new Map());
  const asked: string[] = [];
  const { told } = await look(new Map(), {
    list: async (path) => {
      asked.push(path);
      if (path === "") return [other("pipe"), { ...other("a"), type: "folder" }];
      return path === "a" ? [other("SKILL.md")] : await folder.list(path);
    },
  });
  assert.equal(told, ["skipped /skills/pipe  special-file", "skipped /skills/a SKILL.md not-a-file"]);
  assert.equal(asked, ["", "a"]);
});

test("where a link leads decides what is said of it, and whether it can be followed", async () => {
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
  assert.equal(await look(files, { list }), { told: ["skipped /skills/good  link", ...bad], names: [] });
  assert.equal(await look(files, { list, followLinks: true }), { told: bad, names: ["good"] });
});

test.run();
