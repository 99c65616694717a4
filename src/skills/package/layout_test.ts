import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findLayout, type LayoutRules } from "./layout.ts";

const test = suite("skills/package/layout");
const layoutOf = (paths: readonly string[], rules: LayoutRules = {}) =>
  findLayout(paths.map((path) => ({ path, bytes: new Uint8Array() })), rules);
const summarize = async (paths: readonly string[], rules?: LayoutRules) => {
  const { directory, files, problems } = await layoutOf(paths, rules);
  return [directory, files.map(({ path }) => path), problems.map(({ rule }) => rule)];
};

test("the package is the folder of the only SKILL.md that is nearest to the top", async () => {
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
    assert.equal(await summarize(paths), [directory, inside, []]);
  }
});

test("all invalid paths, files outside and collisions are reported by path", async () => {
  const { problems } = await layoutOf([
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

test("a SKILL.md with an invalid path is reported once, and not as missing", async () => {
  assert.equal(await summarize(["../demo/SKILL.md"]), ["", [], ["path-dots"]]);
});

test("with wrapped: required SKILL.md must be in one folder", async () => {
  const rules = { wrapped: "required" } as const;
  assert.equal(await summarize(["demo/SKILL.md"], rules), ["demo", ["SKILL.md"], []]);
  for (const paths of [["SKILL.md", "x"], ["a/b/SKILL.md"]]) {
    const { problems } = await layoutOf(paths, rules);
    assert.equal(problems.map(({ file, line, rule }) => [file, line, rule]), [
      ["", undefined, "folder-required"],
    ]);
  }
  assert.equal((await layoutOf(["a/skill.md"], rules)).problems.map(({ rule }) => rule), [
    "skill-md-missing",
  ]);
});

test("with anyCase a single skill.md in another case is accepted and stored as SKILL.md", async () => {
  const rules = { anyCase: true };
  for (const name of ["skill.md", "Skill.MD"]) {
    assert.equal(await summarize([`demo/${name}`, "demo/x"], rules), ["demo", ["SKILL.md", "x"], []]);
    assert.equal(await summarize([name], rules), ["", ["SKILL.md"], []]);
    assert.equal((await layoutOf([name], rules)).warnings.map(({ rule }) => rule), ["skill-md-case"]);
    assert.equal((await summarize([`demo/${name}`]))[2], ["skill-md-missing"], "not without the option");
  }
  assert.equal((await summarize(["demo/SKILL.md", "demo/skill.md"], rules))[2], ["path-collision"]);
  assert.equal((await summarize(["a/skill.md", "b/skill.md"], rules))[2], ["several-skills"]);
});

test("hidden characters of a reported path are escaped", async () => {
  const [problem] = (await layoutOf(["SKILL.md", "a\u202eb\u{e0041}\n" + "x".repeat(600)])).problems;
  assert.is(problem?.file, "a\\u{202e}b\\u{e0041}\\u{a}" + "x".repeat(93) + "…");
});

test.run();
