import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkMarkdown } from "./check_markdown.ts";

const test = suite("skills/package/check_markdown");
const check = (yaml: string, body = "Do it.\n", folder = "demo") =>
  checkMarkdown(new TextEncoder().encode(`---\n${yaml}\n---\n${body}`), folder, "lenient");

test("the result has name, description on one line, front matter, instructions and tokens", () => {
  const { skill, problems, warnings, advice } = check(
    "name: demo\ndescription: |\n  Shows it.\n\n  Use when testing.\nmodel: opus\nhooks: {Stop: [{run: 1}]}\nversion: '1.10'",
    "\n# Demo\n",
  );
  assert.equal(skill, {
    name: "demo",
    description: "Shows it. Use when testing.",
    frontMatter: {
      name: "demo",
      description: "Shows it.\n\nUse when testing.\n",
      model: "opus",
      hooks: { Stop: [{ run: 1 }] },
      version: "1.10",
    },
    instructions: "\n# Demo\n",
    tokens: { metadata: 9, instructions: 2 },
  });
  assert.equal([problems, warnings], [[], []]);
  assert.equal(advice.map(({ rule, line }) => [rule, line]), [
    ["unknown-key", 7],
    ["unknown-key", 8],
    ["unknown-key", 9],
  ]);
});

for (
  const [what, yaml] of [
    ["a name that YAML reads as a number", "name: 42\ndescription: Use it."],
    ["a description that YAML reads as a boolean", "name: demo\ndescription: true"],
    ["a number in metadata", "name: demo\ndescription: Use it.\nmetadata: {version: 1.0}"],
    ["a list in metadata", "name: demo\ndescription: Use it.\nmetadata: {tags: [a]}"],
    ["an empty compatibility", "name: demo\ndescription: Use it.\ncompatibility:"],
    ["a bad name", "name: Demo\ndescription: Use it."],
    ["no name", "description: Use it."],
    ["a description that had to be repaired", "name: demo\ndescription: Use it: now"],
  ] as const
) {
  test(`${what}: served with a warning and without front matter`, () => {
    const { skill, problems, warnings } = check(yaml);
    assert.equal(problems, []);
    assert.ok(warnings.length > 0);
    assert.is(skill?.frontMatter, undefined);
    assert.is(typeof skill?.description, "string");
  });
}

test("a skill without a name has an empty name; its folder names it later", () => {
  assert.is(check("description: Use it.").skill?.name, "");
  assert.is(check("name: ~\ndescription: Use it.").skill?.name, "");
});

test("hidden characters are reported once per line, in at most ten lines", () => {
  const { warnings } = check("name: demo\ndescription: Use it.", "a\u200bb\u200bc\nd\n\u202ee\n");
  assert.equal(warnings.map(({ line, rule, message }) => [line, rule, /U\+\w+/.exec(message)?.[0]]), [
    [5, "hidden-characters", "U+200B"],
    [7, "hidden-characters", "U+202E"],
  ]);
  assert.is(check("name: demo\ndescription: Use it.", "\u200b\n".repeat(50)).warnings.length, 10);
  for (const yaml of ['x: ["a\\u200b"]', 'metadata: {"a\\u200b": b}', 'license: "\\u202e"']) {
    const [hidden] = check(`name: demo\ndescription: Use it.\n${yaml}`).warnings;
    assert.equal([hidden?.line, hidden?.rule], [4, "hidden-characters"], yaml);
  }
});

for (
  const [what, description, isReported] of [
    ["says when", "Shows it. Use when testing.", false],
    ["mentions the user", "Fills forms whenever the user mentions PDFs.", false],
    ["only says what it does", "Shows how it is done.", true],
    ["is in another language", "Füllt Formulare aus.", false],
    ["is in another script", "填写表格", false],
  ] as const
) {
  test(`a description that ${what} is ${isReported ? "" : "not "}reported`, () => {
    const { advice } = check(`name: demo\ndescription: ${description}`);
    assert.is(advice.some(({ rule }) => rule === "description-when"), isReported);
  });
}

test("values of exactly the limit are not reported", () => {
  const long = (name: string, description: string, more = "", body = "x") =>
    check(`name: ${name}\ndescription: ${description}${more}`, body, name).warnings.map(({ rule }) => rule);
  const described = "Use " + "é".repeat(1020);
  assert.equal(long("n".repeat(64), described, `\ncompatibility: ${"x".repeat(500)}`), []);
  assert.equal(long("n".repeat(65), described + "é", `\ncompatibility: ${"x".repeat(501)}`), [
    "name-length",
    "description-length",
    "compatibility-length",
  ]);
  assert.equal(long("demo", "Use it.", "", "x".repeat(20_000)), []);
  assert.equal(long("demo", "Use it.", "", "x".repeat(20_001)), ["instructions-tokens"]);
  const lines = (count: number) => check("name: demo\ndescription: Use it.", "x\n".repeat(count)).advice;
  assert.equal(lines(500), []);
  assert.equal(lines(501).map(({ rule, line }) => [rule, line]), [["instructions-lines", 5]]);
});

test.run();
