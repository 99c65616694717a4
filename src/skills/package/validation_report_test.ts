import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SkillError } from "../error.ts";
import { type PackageRules, readPackage } from "./package.ts";
import { reportOn, reportRefusal } from "./validation_report.ts";

const test = suite("skills/validation_report");
const LIMIT = 1000;
const files = (sent: Readonly<Record<string, string>>) =>
  Object.entries(sent).map(([path, text]) => ({ path, bytes: new TextEncoder().encode(text) }));
const skill = (name: string, ...lines: readonly string[]) =>
  files({ [`${name}/SKILL.md`]: ["---", `name: ${name}`, ...lines, "---", "Do it.", ""].join("\n") });
const codes = async (sent: ReturnType<typeof files>, rules?: PackageRules) => {
  const { valid, errors, warnings } = await reportOn(sent, LIMIT, rules);
  assert.is(valid, errors.length === 0);
  return [errors.map(({ code }) => code), warnings.map(({ code }) => code)];
};

test("a good package: what it is, what it costs, and nothing to say", async () => {
  const sent = [
    ...skill("demo", "description: Use when testing."),
    ...files({ "demo/x": "y", ".DS_Store": "z" }),
  ];
  assert.equal(await reportOn(sent, LIMIT), {
    type: "skill_validation",
    valid: true,
    name: "demo",
    description: "Use when testing.",
    files: 2,
    size_bytes: sent[0]!.bytes.length + 1,
    tokens: { metadata: 6, instructions: 2 },
    errors: [],
    warnings: [],
  });
});

test("a bad package: everything that is wrong, in one list, with file, line, code, message and hint", async () => {
  const sent = [...skill("demo", "description: <b>x</b>", "extra: 1"), ...files({ "demo/a?": "y" })];
  const report = await reportOn(sent, LIMIT);
  const places = (problems: typeof report.errors) =>
    problems.map(({ code, file, line }) => [code, file, line]);
  assert.equal(places(report.errors), [
    ["path-character", "demo/a?", null],
    ["description-markup", "SKILL.md", 3],
  ]);
  assert.equal(places(report.warnings), [["description-when", "SKILL.md", 3], [
    "unknown-key",
    "SKILL.md",
    4,
  ]]);
  for (const { message, hint, ...rest } of [...report.errors, ...report.warnings]) {
    assert.ok(message !== "" && hint !== "", message);
    assert.equal(Object.keys(rest), ["code", "file", "line"]);
  }
  assert.equal(report.errors.map(({ hint }) => hint), [null, "write <b> without < and >"]);
  assert.equal({ ...report, errors: [], warnings: [] }, {
    type: "skill_validation",
    valid: false,
    name: "demo",
    description: "<b>x</b>",
    files: 1,
    size_bytes: sent[0]!.bytes.length,
    tokens: { metadata: 4, instructions: 2 },
    errors: [],
    warnings: [],
  });
});

test("what cannot be read is null", async () => {
  const { name, description, tokens, errors } = await reportOn(files({ "demo/SKILL.md": "x" }), LIMIT);
  assert.equal([name, description, tokens, errors.length], [null, null, null, 1]);
  const nothing = await reportOn([], LIMIT);
  assert.equal([nothing.valid, nothing.files, nothing.errors.map(({ code }) => code)], [false, 0, [
    "no-files",
  ]]);
});

test("too many bytes are told beside what else is wrong", async () => {
  const sent = [...skill("demo"), ...files({ "demo/x": "y".repeat(LIMIT) })];
  assert.equal(await codes(sent), [["upload-too-large", "description-required"], []]);
});

test("a refusal of what could not be unpacked is a report too", () => {
  const empty = { name: null, description: null, files: 0, size_bytes: 0, tokens: null, warnings: [] };
  const problem = { file: "a", line: undefined, rule: "archive-crc", message: "is damaged" };
  const told = new SkillError("invalid_request_error", "Cannot read", { problems: [problem] });
  assert.equal(reportRefusal(told), {
    type: "skill_validation",
    valid: false,
    ...empty,
    errors: [{ code: "archive-crc", file: "a", line: null, message: "is damaged", hint: null }],
  });
  const error = { code: "invalid_request_error", file: null, line: null, message: "Cannot", hint: null };
  assert.equal(reportRefusal(new SkillError("invalid_request_error", "Cannot")).errors, [error]);
});

test("unknownKeys: they are kept and told, or refused in the words of those who refuse them", async () => {
  const sent = skill("demo", "description: Use it.", "model: x");
  assert.equal(await codes(sent), [[], ["unknown-key"]]);
  assert.equal(await codes(sent, { unknownKeys: "refuse" }), [["unknown-key"], []]);
  assert.is(
    (await reportOn(sent, LIMIT, { unknownKeys: "refuse" })).errors[0]?.message,
    "unexpected key in SKILL.md frontmatter: 'model': properties must be in " +
      "(allowed-tools, compatibility, description, license, metadata, name)",
  );
});

test("reservedNames: anthropic and claude are refused, or allowed; latest never is", async () => {
  for (const name of ["claude", "my-anthropic-skill"]) {
    const sent = skill(name, "description: Use it.");
    assert.equal(await codes(sent), [["name-reserved"], []]);
    assert.equal(await codes(sent, { reservedNames: false }), [[], []]);
  }
  assert.equal(await codes(skill("latest", "description: Use it."), { reservedNames: false }), [
    ["name-reserved"],
    [],
  ]);
});

test("skills-2025-10-02: the folder is required, and its name is the skill's", async () => {
  const { bytes } = skill("demo", "description: Use it.")[0]!;
  const say = async (path: string) =>
    (await reportOn([{ path, bytes }], LIMIT, { wrapped: "required" })).errors[0]?.message;
  assert.is(await say("demo/SKILL.md"), undefined);
  assert.is(await say("SKILL.md"), "SKILL.md file must be exactly in the top-level folder.");
  assert.is(await say("x/SKILL.md"), "The folder name 'x' must match the skill name 'demo' in SKILL.md.");
});

test("readPackage() throws all of it: one message that has room for twenty, and the list for programs", async () => {
  const bad = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`demo/${i}?`, "x"]));
  const sent = [...skill("demo"), ...files(bad)];
  const refusal = async (sent: ReturnType<typeof files>): Promise<SkillError> => {
    const error = await readPackage(sent, LIMIT).then(() => undefined, (error) => error);
    assert.instance(error, SkillError);
    return error;
  };
  const { type, status, message, problems } = await refusal(sent);
  assert.equal([type, status], ["invalid_request_error", 400]);
  assert.match(message, /^demo\/0\?: [^;]*; .*; demo\/19\?: [^;]*; and 131 more$/);
  assert.is(problems.length, 101);
  assert.is(problems.at(-1)?.rule, "more-problems");
  assert.match(problems.at(-1)!.message, "51");
  const large = await refusal(skill("demo", `description: ${"x".repeat(LIMIT)}`));
  assert.equal([large.type, large.status], ["request_too_large", 413]);
});

test.run();
