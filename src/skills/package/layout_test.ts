import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findLayout, type LayoutRules } from "./layout.ts";

const test = suite("skills/layout");
const look = (paths: readonly string[], rules: LayoutRules = {}) =>
  findLayout(paths.map((path) => ({ path, bytes: new Uint8Array() })), rules);
const found = async (paths: readonly string[], rules?: LayoutRules) => {
  const { directory, files, problems } = await look(paths, rules);
  return [directory, files.map(({ path }) => path), problems.map(({ rule }) => rule)];
};

test("the package is where the one SKILL.md lies that is nearest to the top", async () => {
  for (
    const [paths, directory, inside] of [
      [["SKILL.md", "a/x"], "", ["SKILL.md", "a/x"]],
      [["demo/a/x", "demo/SKILL.md"], "demo", ["a/x", "SKILL.md"]],
      [["demo/SKILL.md", "demo/sub/SKILL.md"], "demo", ["SKILL.md", "sub/SKILL.md"]],
      [["SKILL.md", "a/SKILL.md", "b/SKILL.md"], "", ["SKILL.md", "a/SKILL.md", "b/SKILL.md"]],
      [["__MACOSX/demo/._SKILL.md", ".DS_Store", "demo/SKILL.md"], "demo", ["SKILL.md"]],
      [["__MACOSX/SKILL.md", "demo/SKILL.md"], "demo", ["SKILL.md"]],
      [["a.txt", "SKILL.md", "b.txt"], "", ["a.txt", "SKILL.md", "b.txt"]],
    ] as const
  ) {
    assert.equal(await found(paths), [directory, inside, []]);
  }
});

test("all bad names, all files outside and all collisions are told, each by its name", async () => {
  const { problems } = await look([
    "demo/SKILL.md",
    "demo/a?",
    "../x",
    "other/y",
    "z",
    "demo/b",
    "demo/B",
    "demo/b/c",
  ]);
  assert.equal(problems.map(({ file, rule }) => [file, rule]), [
    ["demo/a?", "path-character"],
    ["../x", "path-dots"],
    ["other/y", "outside-folder"],
    ["z", "outside-folder"],
    ["B", "path-collision"],
    ["b/c", "path-file-and-folder"],
  ]);
});

test("a SKILL.md with a bad name is told once, and not as missing", async () => {
  assert.equal(await found(["../demo/SKILL.md"]), ["", [], ["path-dots"]]);
});

test("skills-2025-10-02: SKILL.md must lie in one folder", async () => {
  const rules = { wrapped: "required" } as const;
  assert.equal(await found(["demo/SKILL.md"], rules), ["demo", ["SKILL.md"], []]);
  for (const paths of [["SKILL.md", "x"], ["a/b/SKILL.md"]]) {
    const { problems } = await look(paths, rules);
    assert.equal(problems.map(({ file, line, rule, message }) => [file, line, rule, message]), [
      ["", undefined, "folder-required", "SKILL.md file must be exactly in the top-level folder."],
    ]);
  }
  assert.equal((await look(["a/skill.md"], rules)).problems.map(({ rule }) => rule), ["skill-md-missing"]);
});

test("skill.md in another case is taken where that is asked for and it is the only one, and stored as SKILL.md", async () => {
  const rules = { anyCase: true };
  for (const name of ["skill.md", "Skill.MD"]) {
    assert.equal(await found([`demo/${name}`, "demo/x"], rules), ["demo", ["SKILL.md", "x"], []]);
    assert.equal(await found([name], rules), ["", ["SKILL.md"], []]);
    assert.equal((await look([name], rules)).warnings.map(({ rule }) => rule), ["skill-md-case"]);
    assert.equal((await found([`demo/${name}`]))[2], ["skill-md-missing"], "not where it is not asked for");
  }
  assert.equal((await found(["demo/SKILL.md", "demo/skill.md"], rules))[2], ["path-collision"]);
  assert.equal((await found(["a/skill.md", "b/skill.md"], rules))[2], ["several-skills"]);
});

test("what cannot be seen in a name is written out where it is told", async () => {
  const [problem] = (await look(["SKILL.md", "a\u202eb\u{e0041}\n" + "x".repeat(600)])).problems;
  assert.is(problem?.file, "a\\u{202e}b\\u{e0041}\\u{a}" + "x".repeat(93) + "…");
});

test.run();
