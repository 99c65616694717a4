import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SkillError } from "../error.ts";
import { type PackageRules, readPackage } from "./package.ts";
import { reportOn, reportRefusal } from "./validation_report.ts";

const test = suite("skills/package/validation_report");
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

test("texts of a report that are shortened are well-formed Unicode", async () => {
  const long = "x" + "😀".repeat(150);
  const sent = skill("demo", `description: "<b${long}>. Use it"`, "license: 'a'", `allowed-tools: [${long}]`);
  const colon = skill("demo", `description: Use when: ${long}`);
  for (const files of [sent, colon]) {
    const { errors, warnings } = await reportOn(files, LIMIT);
    const texts = [...errors, ...warnings].flatMap(({ message, hint }) => [message, hint ?? ""]);
    assert.ok(texts.some((text) => text.includes("😀")));
    assert.equal(texts.filter((text) => !text.isWellFormed()), []);
  }
});

test("the report of a valid package has name, description, sizes and tokens", async () => {
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

test("the report of an invalid package lists all problems with file, line, code, message and hint", async () => {
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
  assert.is(report.errors[0]!.hint, null);
  assert.match(report.errors[1]!.hint!, "<b>");
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

test("members that cannot be read are null", async () => {
  const { name, description, tokens, errors } = await reportOn(files({ "demo/SKILL.md": "x" }), LIMIT);
  assert.equal([name, description, tokens, errors.length], [null, null, null, 1]);
  const nothing = await reportOn([], LIMIT);
  assert.equal([nothing.valid, nothing.files, nothing.errors.map(({ code }) => code)], [false, 0, [
    "no-files",
  ]]);
});

test("upload-too-large is reported together with other problems", async () => {
  const sent = [...skill("demo"), ...files({ "demo/x": "y".repeat(LIMIT) })];
  assert.equal(await codes(sent), [["upload-too-large", "description-required"], []]);
});

test("reportRefusal() reports an archive that cannot be unpacked", () => {
  const empty = { name: null, description: null, files: 0, size_bytes: 0, tokens: null, warnings: [] };
  const problem = { file: "a", line: undefined, rule: "archive-crc", message: "is damaged" };
  const refusal = new SkillError("invalid_request_error", "Cannot read", { problems: [problem] });
  assert.equal(reportRefusal(refusal), {
    type: "skill_validation",
    valid: false,
    ...empty,
    errors: [{ code: "archive-crc", file: "a", line: null, message: "is damaged", hint: null }],
  });
  const error = { code: "invalid_request_error", file: null, line: null, message: "Cannot", hint: null };
  assert.equal(reportRefusal(new SkillError("invalid_request_error", "Cannot")).errors, [error]);
});

test("unknown keys give a warning, or with unknownKeys: refuse an error", async () => {
  const sent = skill("demo", "description: Use it.", "model: x");
  assert.equal(await codes(sent), [[], ["unknown-key"]]);
  assert.equal(await codes(sent, { unknownKeys: "refuse" }), [["unknown-key"], []]);
  const [error] = (await reportOn(sent, LIMIT, { unknownKeys: "refuse" })).errors;
  assert.match(
    error!.message,
    /'model'.*allowed-tools, compatibility, description, license, metadata, name\b/,
  );
});

test("reserved names are refused unless reservedNames is false, and latest always", async () => {
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

test("with wrapped: required SKILL.md must be in a folder with the skill's name", async () => {
  const { bytes } = skill("demo", "description: Use it.")[0]!;
  const errorsOf = async (path: string) =>
    (await reportOn([{ path, bytes }], LIMIT, { wrapped: "required" })).errors;
  assert.equal(await errorsOf("demo/SKILL.md"), []);
  assert.equal((await errorsOf("SKILL.md")).map(({ code }) => code), ["folder-required"]);
  const [error, ...more] = await errorsOf("x/SKILL.md");
  assert.equal([error!.code, more], ["name-folder", []]);
  assert.match(error!.message, /'x'.*'demo'/);
});

test("readPackage() throws an error with 20 problems in its message and 100 in its list", async () => {
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
