import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { DoctorReport } from "../../runtime/cli/skill/skill_doctor.ts";
import {
  CLI,
  newDataFolder,
  type Outcome,
  runtimeCommand,
  temporaryFolder,
  trivet,
} from "../test_process.ts";

const test = suite("trivet skill doctor");
const temporary = temporaryFolder();
const home = join(realpathSync(temporary.path), "home");
const userHome = process.env.HOME;
test.before(() => {
  mkdirSync(home);
  process.env.HOME = home;
});
test.after(() => {
  process.env.HOME = userHome;
  temporary.remove();
});

/** Asserts that each line matches the pattern at its position. */
function matchLines(text: string, patterns: readonly string[]): void {
  const lines = text.split("\n");
  assert.is(lines.length, patterns.length, text);
  lines.forEach((line, i) => assert.match(line, new RegExp(`^${patterns[i]}$`)));
}

let projects = 0;
/** Creates an empty working directory. */
function newProject(): string {
  const path = join(realpathSync(temporary.path), String(projects++));
  mkdirSync(path);
  return path;
}

function addSkill(folder: string, name: string, text = "Instructions."): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(
    join(path, "SKILL.md"),
    `---\nname: ${name}\ndescription: Use it when asked.\n---\n${text}\n`,
  );
  return path;
}

const doctor = (cwd: string, ...args: string[]): Promise<Outcome> =>
  trivet(["skill", "doctor", ...args], { cwd });
const report = async (cwd: string, ...args: string[]): Promise<DoctorReport> =>
  JSON.parse((await doctor(cwd, "--json", ...args)).stdout);
const placesOf = (cwd: string, { skills }: DoctorReport): string[] =>
  skills.map(({ folder }) => folder.replace(home, "~").replace(cwd, "."));

test("the report lists served skills, their tokens and their warnings; exit code 0", async () => {
  const cwd = newProject();
  addSkill(join(cwd, "skills"), "good");
  const wordy = addSkill(join(cwd, "skills"), "wordy", "x".repeat(24_000));
  writeFileSync(join(wordy, "notes.txt"), "x".repeat(1000));
  const { code, stdout, stderr } = await doctor(cwd, "skills");
  assert.equal([code, stderr], [0, ""]);
  matchLines(stdout, [
    `OK       good: 6 \\+ 4 tokens, 1 file, 65 B, ${cwd}/skills/good`,
    `WARNING  wordy: 7 \\+ 6001 tokens, 2 files, 25 kB, ${cwd}/skills/wordy`,
    ` {9}SKILL\\.md line 5: .*6001.*5000 \\[instructions-tokens\\]`,
    ` {11}\\S.*`,
    "",
    `2 skills in ${cwd}/skills`,
    `1 with warnings, 0 skipped`,
    `.*\\b13\\b.*\\b6005\\b.*`,
    "",
  ]);
});

test("the report lists skipped skills with path, rule and hint; exit code 1", async () => {
  const cwd = newProject();
  addSkill(join(cwd, "skills"), "good");
  mkdirSync(join(cwd, "skills/lower"));
  writeFileSync(join(cwd, "skills/lower/skill.md"), "x");
  writeFileSync(join(cwd, "skills/flat.md"), "x");
  mkdirSync(join(cwd, "skills/bare"));
  writeFileSync(join(cwd, "skills/bare/SKILL.md"), "# No front matter\n");
  const { code, stdout, stderr } = await doctor(cwd, "skills", "missing");
  assert.is(code, 1);
  assert.match(stderr, /^trivet skill: .*\b4\b.*\n$/);
  matchLines(stdout, [
    `OK       good: 6 \\+ 4 tokens, 1 file, 65 B, ${cwd}/skills/good`,
    `SKIPPED  ${cwd}/missing`,
    ` {9}.* \\[folder-missing\\]`,
    `SKIPPED  ${cwd}/skills/bare`,
    ` {9}SKILL\\.md line 1: .* \\[front-matter\\]`,
    `SKIPPED  ${cwd}/skills/flat.md`,
    ` {9}.* \\[flat-file\\]`,
    ` {11}.*flat/SKILL\\.md`,
    `SKIPPED  ${cwd}/skills/lower`,
    ` {9}skill\\.md: .* \\[skill-md-name\\]`,
    "",
    `1 skill in ${cwd}/skills, ${cwd}/missing`,
    `0 with warnings, 4 skipped`,
    `.*\\b6\\b.*\\b4\\b.*`,
    "",
  ]);
});

test("--json prints the report as one object", async () => {
  const cwd = newProject();
  addSkill(join(cwd, "skills"), "good");
  writeFileSync(join(cwd, "skills/flat.md"), "x");
  const { code, stdout } = await doctor(cwd, "skills", "--json");
  assert.is(code, 1);
  const { skills: [{ version, ...skill }, ...more], ...rest } = JSON.parse(stdout);
  const { message, hint, ...problem } = rest.skipped[0].errors[0];
  assert.match(message, "SKILL.md");
  assert.match(hint, "flat/SKILL.md");
  rest.skipped[0].errors[0] = problem;
  assert.match(version, /^skver_local_[\w-]{22}$/);
  assert.equal(more, []);
  assert.equal(skill, {
    name: "good",
    id: "skill_local_dw5gdiTWiSZcpsRIhNCAfQ",
    folder: `${cwd}/skills/good`,
    files: 1,
    size_bytes: 65,
    tokens: { metadata: 6, instructions: 4 },
    warnings: [],
  });
  assert.equal(rest, {
    type: "skill_doctor_report",
    folders: [`${cwd}/skills`],
    skipped: [{
      place: `${cwd}/skills/flat.md`,
      errors: [{ code: "flat-file", file: null, line: null }],
    }],
    totals: { skills: 1, with_warnings: 0, skipped: 1, tokens: { metadata: 6, instructions: 4 } },
  });
});

test("a folder that is itself a skill is read as that skill alone", async () => {
  const cwd = newProject();
  addSkill(cwd, "one");
  mkdirSync(join(cwd, "broken"));
  assert.equal(placesOf(cwd, await report(cwd, "one")), ["./one"]);
  assert.equal(placesOf(cwd, await report(join(cwd, "one"), ".")), ["./one"]);
});

test("named folders take precedence over those of the project, and those over the user's; .agents over .claude", async () => {
  const cwd = newProject();
  const folders = [
    join(cwd, "first"),
    join(cwd, "second"),
    join(cwd, ".agents/skills"),
    join(cwd, ".claude/skills"),
    join(home, ".agents/skills"),
    join(home, ".claude/skills"),
  ];
  // All folders have s5; the last folder alone has s0.
  folders.forEach((folder, i) => {
    for (let n = 0; n <= i; n++) addSkill(folder, `s${5 - n}`);
  });
  const expected = folders.map((_, i) => `s${i}`);
  const served = await report(cwd, "second", "first", "--client-skills");
  assert.equal(served.folders.map((folder) => folder.replace(home, "~").replace(cwd, ".")), [
    "./second",
    "./first",
    "./.agents/skills",
    "./.claude/skills",
    "~/.agents/skills",
    "~/.claude/skills",
  ]);
  assert.equal(expected, served.skills.map(({ name }) => name));
  assert.equal(placesOf(cwd, served), [
    "~/.claude/skills/s0",
    "~/.agents/skills/s1",
    "./.claude/skills/s2",
    "./.agents/skills/s3",
    "./second/s4",
    "./second/s5",
  ]);
  const codes = new Set(served.skipped.flatMap(({ errors }) => errors.map(({ code }) => code)));
  assert.equal([...codes], ["name-taken"]);
  assert.equal((await report(cwd, "first")).skills.map(({ name }) => name), ["s5"], "only the named folder");
});

test("links between client folders are accepted; other links need --follow-links", async () => {
  const cwd = newProject();
  const good = addSkill(join(cwd, ".agents/skills"), "good");
  const away = addSkill(join(cwd, "away"), "away");
  mkdirSync(join(cwd, ".claude/skills"), { recursive: true });
  symlinkSync(good, join(cwd, ".claude/skills/good"));
  symlinkSync(away, join(cwd, ".claude/skills/away"));
  const named = ["./.agents/skills", "./.claude/skills"].map((path) => join(cwd, path));
  const closed = await report(cwd, ...named);
  assert.equal(placesOf(cwd, closed), ["./.agents/skills/good"]);
  assert.equal(closed.skipped.map(({ place, errors }) => [place, errors[0]!.code]), [
    [join(cwd, ".claude/skills/away"), "link"],
  ]);
  const open = await report(cwd, ...named, "--follow-links");
  assert.equal(placesOf(cwd, open), ["./.claude/skills/away", "./.agents/skills/good"]);
  assert.equal(open.skipped, []);
});

test("an uploaded skill of the same name is a warning; no store is created", async () => {
  const cwd = newProject();
  addSkill(join(cwd, "data/skills"), "good");
  assert.equal((await report(cwd)).skills[0]!.warnings, []);
  assert.not.ok(existsSync(join(cwd, "data/trivet.db")));
  await newDataFolder(join(cwd, "data"));
  const { id } = JSON.parse((await trivet(["skill", "add", "data/skills/good", "--json"], { cwd })).stdout);
  assert.equal(
    (await report(cwd)).skills[0]!.warnings.map(({ code, message }) => [code, message.includes(id)]),
    [
      ["name-uploaded", true],
    ],
  );
});

test("a skill that is served but not listed has a warning", async () => {
  const cwd = newProject();
  addSkill(join(cwd, "skills"), "good");
  addSkill(join(cwd, "skills"), "Not_Good");
  const { skills } = await report(cwd, "skills");
  const codes = skills.map(({ name, warnings }) => [name, warnings.map(({ code }) => code)] as const);
  assert.equal(new Map(codes), new Map([["good", []], ["Not_Good", ["name-form", "not-listed"]]]));
});

test("unreadable files are reported; the rest is served", async () => {
  const cwd = newProject();
  addSkill(join(cwd, "skills"), "good");
  chmodSync(addSkill(join(cwd, "skills"), "closed"), 0);
  chmodSync(join(addSkill(join(cwd, "skills"), "half"), "SKILL.md"), 0);
  writeFileSync(join(cwd, "skills/good/secret"), "x");
  chmodSync(join(cwd, "skills/good/secret"), 0);
  mkdirSync(join(cwd, "unreadable"));
  chmodSync(join(cwd, "unreadable"), 0);
  const { code, stdout } = await asUnprivileged(cwd, ["skill", "doctor", "skills", "unreadable", "--json"]);
  assert.is(code, 1);
  const { skills, skipped } = JSON.parse(stdout) as DoctorReport;
  const codes = (problems: DoctorReport["skipped"][number]["errors"]) =>
    problems.map(({ code, file, message }) => [code, file, message.includes("EACCES")]);
  assert.equal(skills.map(({ name, files, warnings }) => [name, files, codes(warnings)]), [
    ["good", 1, [["unreadable", "secret", true]]],
  ]);
  assert.equal(skipped.map(({ place, errors }) => [place.replace(cwd, "."), codes(errors)]), [
    ["./unreadable", [["unreadable", null, true]]],
    ["./skills/closed", [["unreadable", null, true]]],
    ["./skills/half", [["unreadable", "SKILL.md", true]]],
  ]);
  for (const path of ["skills/closed", "unreadable"]) chmodSync(join(cwd, path), 0o755);
});

/** Runs `trivet` as a user without root's permissions. */
function asUnprivileged(
  cwd: string,
  args: readonly string[],
): Promise<{ code: number | null; stdout: string }> {
  chmodSync(temporary.path, 0o755);
  const [command, before] = runtimeCommand();
  const isRoot = process.getuid?.() === 0;
  const child = spawn(command, [...before, CLI, ...args], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    ...(isRoot && { uid: 65534, gid: 65534 }),
  });
  let stdout = "";
  child.stdout!.on("data", (chunk) => stdout += chunk);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout }));
  });
}

test.run();
