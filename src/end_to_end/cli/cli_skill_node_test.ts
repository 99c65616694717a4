import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { zip } from "../../skills/test_service.ts";
import { newDataFolder, temporaryFolder } from "../test_process.ts";
import { runCommand } from "./test_command.ts";
import { runSkill, runSkillJson, writeSkill } from "./test_skill_command.ts";
import { skillMarkdown, type SkillsServer, startSkills, TIME } from "../skills/test_skills_server.ts";

const test = suite("trivet skill on a store and on a server");
const folder = temporaryFolder();
let folders = 0;
const newFolder = (): string => join(folder.path, String(++folders));
let server: SkillsServer;
test.before(async () => {
  server = await startSkills();
});
test.after(async () => {
  await server.close();
  folder.remove();
});

const BINARY = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 7919) >> 3 & 255);
const SKILL = { id: /^skill_\w+$/, version: /^skver_\w+$/ };

/** The arguments that select an empty store or server, and the API key that it requires. */
const PLACES: Readonly<Record<string, () => Promise<{ args: string[]; key?: string }>>> = {
  store: async () => ({ args: ["--data", await newDataFolder(newFolder())] }),
  async server() {
    // Earlier tests leave skills on this server.
    for (
      const { id } of await runSkillJson(["list", "--url", server.url], server.key) as never as {
        id: string;
      }[]
    ) {
      await runSkill(["remove", id, "--url", server.url], server.key);
    }
    return { args: ["--url", server.url], key: server.key };
  },
};

test("changes of skills on a store are in its audit trail, by the command line", async () => {
  const data = ["--data", await newDataFolder(newFolder())];
  const source = writeSkill(newFolder(), "demo");
  const { id, latest_version_id: first } = await runSkillJson(["add", source, ...data]);
  const again = await runSkillJson(["add", source, "--as-version", ...data]);
  const second = (again as { version: { id: string } }).version.id;
  await runSkill(["list", ...data]);
  assert.is((await runSkill(["remove", String(id), "--version", String(first), ...data])).code, 0);
  assert.is((await runSkill(["remove", String(id), ...data])).code, 0);
  const listed = await runCommand(["audit", "list", "--about", String(id), "--json", ...data]);
  assert.is(listed.code, 0, listed.stderr);
  const records = JSON.parse(listed.stdout).data as { type: string; fields: Record<string, unknown> }[];
  assert.equal(records.map(({ type, fields }) => [type, fields.principal, fields.version]), [
    ["skill_created", "command line", undefined],
    ["skill_version_created", "command line", second],
    ["skill_version_deleted", "command line", first],
    ["skill_deleted", "command line", undefined],
  ]);
  assert.is((await runCommand(["audit", "verify", ...data])).code, 0);
});

for (const [name, openPlace] of Object.entries(PLACES)) {
  test(`${name}: add, show, pull and remove keep a folder byte for byte`, async () => {
    const { args, key } = await openPlace();
    const source = writeSkill(newFolder(), "demo", { "data/x.bin": BINARY, "empty.txt": "", "a b.txt": "ä" });
    const added = await runSkillJson(["add", source, "--display-name", "A demo", ...args], key);
    const { id, latest_version_id, created_at, updated_at, version, ...rest } = added;
    assert.match(String(id), SKILL.id);
    assert.match(String(latest_version_id), SKILL.version);
    assert.match(String(created_at), TIME);
    assert.is(updated_at, created_at);
    const description = "Does demo. Use it in tests.";
    assert.equal(rest, { name: "demo", display_name: "A demo", description, source: "custom" });
    assert.equal(version, { id: latest_version_id, name: "demo", description, created_at });

    const listed = await runSkillJson(["list", ...args], key) as never as Record<string, unknown>[];
    // Lists of the API contain the label only.
    const labels = name === "server" ? { name: null, description: null } : { name: "demo", description };
    const { version: _, ...skill } = added;
    assert.equal(listed, [{ ...skill, ...labels }]);
    const table = await runSkill(["list", ...args], key);
    assert.match(table.stdout, /^ID +NAME +SOURCE +UPDATED +DESCRIPTION\nskill_/);

    const shown = await runSkillJson(["show", "demo", ...args], key);
    const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const { tokens, files } = shown.version as { tokens: unknown; files: { path: string }[] };
    assert.equal(tokens, { metadata: 9, instructions: 5 });
    assert.equal(files.map(({ path }) => path), ["SKILL.md", "a b.txt", "data/x.bin", "empty.txt"]);
    assert.equal(files[3], { path: "empty.txt", size: 0, type: "text/plain", digest });
    assert.equal(shown.versions, [version]);
    const text = await runSkill(["show", String(id), ...args], key);
    assert.match(text.stdout, `demo  ${id}\n  label       A demo\n`);
    assert.match(text.stdout, new RegExp(`^ {2}version {5}${latest_version_id}, .*${created_at}$`, "m"));
    assert.match(text.stdout, /^ {2}tokens {6}.*\b9\b.*\b5\b/m);
    assert.match(text.stdout, `     0 B  ${digest}  empty.txt\n`);

    const output = newFolder();
    const pulled = await runSkillJson(["pull", "demo", "--output", output, ...args], key);
    const path = join(output, "demo");
    const size_bytes = BINARY.length + skillMarkdown("demo").length + 2;
    assert.equal(pulled, { id, version: latest_version_id, name: "demo", path, files: 4, size_bytes });
    assert.equal(readdirSync(output), ["demo"]);
    for (const file of ["SKILL.md", "data/x.bin", "empty.txt", "a b.txt"]) {
      assert.ok(readFileSync(join(path, file)).equals(readFileSync(join(source, file))), file);
    }

    assert.match((await runSkill(["remove", String(id), ...args], key)).stdout, `Removed ${id}\n`);
    assert.equal(await runSkillJson(["list", ...args], key), []);
    const repeated = await runSkill(["remove", String(id), ...args], key);
    assert.is(repeated.code, 1);
    assert.match(repeated.stderr, `"${id}"`);
  });

  test(`${name}: files that are not part of a skill are not uploaded, and the command names them`, async () => {
    const { args, key } = await openPlace();
    const excluded = [".env", ".git/config", "a/.env.local", "a/node_modules/x/index.js", "a/x.swp"];
    const source = writeSkill(newFolder(), "demo", {
      ...Object.fromEntries(excluded.map((path) => [path, "secret"])),
      "a/.env.example": "x",
      ".gitignore": "x",
    });
    symlinkSync("/nowhere", join(source, "node_modules"));
    const added = await runSkill(["add", source, ...args], key);
    assert.is(added.code, 0, added.stderr);
    for (const path of [".env", ".git/", "a/.env.local", "a/node_modules/", "a/x.swp", "node_modules"]) {
      assert.ok(added.stderr.includes(path), `${path} in ${added.stderr}`);
    }
    assert.is((await runSkill(["validate", source], key)).stderr, added.stderr);
    const output = newFolder();
    await runSkillJson(["pull", "demo", "--output", output, ...args], key);
    const pulled = readdirSync(join(output, "demo"), { recursive: true }).map(String).sort();
    assert.equal(pulled, [".gitignore", "SKILL.md", "a", join("a", ".env.example")]);
  });

  test(`${name}: --as-version and --skill add a version, which is pulled and removed by its id`, async () => {
    const { args, key } = await openPlace();
    const parent = newFolder();
    const source = writeSkill(parent, "demo", { "one.txt": "1" });
    const missing = await runSkill(["add", source, "--as-version", ...args], key);
    assert.is(missing.code, 1);
    assert.match(missing.stderr, /"demo".*--as-version/);
    const first = await runSkillJson(["add", source, ...args], key);
    const again = await runSkill(["add", source, ...args], key);
    assert.is(again.code, 1);
    for (const mention of [`"demo"`, String(first.id), "--as-version", "--display-name"]) {
      assert.match(again.stderr, mention);
    }
    // Two skills can have the same name: the name selects the newer one.
    const second = await runSkillJson(["add", source, "--display-name", "Other", ...args], key);
    writeFileSync(join(source, "one.txt"), "2");
    const third = await runSkillJson(["add", source, "--as-version", ...args], key);
    assert.is(third.id, second.id);
    assert.is.not(third.latest_version_id, second.latest_version_id);
    writeFileSync(join(source, "one.txt"), "3");
    const fourth = await runSkillJson(["add", source, "--skill", String(first.id), ...args], key);
    assert.is(fourth.id, first.id);
    const versions = await runSkillJson(["versions", "demo", ...args], key) as never as { id: string }[];
    assert.equal(versions.map(({ id }) => id), [third.latest_version_id, second.latest_version_id]);

    const ambiguous = await runSkill(["remove", "demo", ...args], key);
    assert.is(ambiguous.code, 1);
    for (const { id } of [first, second]) assert.match(ambiguous.stderr, String(id));

    const output = newFolder();
    const old = ["--version", String(second.latest_version_id)];
    await runSkillJson(["pull", "demo", "--output", output, ...old, ...args], key);
    assert.is(readFileSync(join(output, "demo/one.txt"), "utf8"), "1");
    await runSkillJson(["pull", "demo", "--output", output, "--force", ...args], key);
    assert.is(readFileSync(join(output, "demo/one.txt"), "utf8"), "2");

    assert.is((await runSkill(["remove", String(second.id), ...old, ...args], key)).code, 0);
    const removed = await runSkill(["show", String(second.id), ...old, ...args], key);
    assert.is(removed.code, 1);
    assert.match(removed.stderr, `"${second.latest_version_id}"`);
    const last = ["--version", String(third.latest_version_id)];
    const only = await runSkill(["remove", String(second.id), ...last, ...args], key);
    assert.is(only.code, 1);
    assert.match(only.stderr, "only version");
    await runSkillJson(["remove", String(second.id), ...args], key);
    const other = writeSkill(parent, "other");
    const renamed = await runSkill(["add", other, "--skill", String(first.id), ...args], key);
    assert.is(renamed.code, 1);
    assert.match(renamed.stderr, /"demo".* "other" \[name-changed\]/);
    assert.is((await runSkill(["remove", "demo", ...args], key)).stdout, `Removed demo (${first.id})\n`);
    const gone = await runSkill(["remove", "demo", ...args], key);
    assert.match(gone.stderr, /not found/i);
    // Without --url, local skills are not found.
    assert.is(gone.stderr.includes("--url"), name === "store");
  });

  test(`${name}: add uploads an archive unchanged; pull --zip downloads an archive`, async () => {
    const { args, key } = await openPlace();
    const parent = newFolder();
    mkdirSync(parent);
    const file = join(parent, "demo.skill");
    const bytes = await zip([
      { name: "demo/SKILL.md", content: skillMarkdown("demo"), method: 8 },
      { name: "demo/x.bin", content: BINARY, method: 8 },
    ]);
    writeFileSync(file, bytes);
    assert.is((await runSkill(["add", file, ...args], key)).code, 0);
    for (
      const [output, path] of [[parent, join(parent, "demo.zip")], [
        join(parent, "to/x.zip"),
        join(parent, "to/x.zip"),
      ]]
    ) {
      const pulled = await runSkillJson(["pull", "demo", "--zip", "--output", output!, ...args], key);
      assert.is(pulled.path, path);
      assert.is(pulled.files, null);
      assert.is(pulled.size_bytes, readFileSync(path!).length);
    }
    // A pulled archive can be added like any other.
    const validated = await runSkillJson(["validate", join(parent, "demo.zip"), ...args.slice(0, 2)], key);
    assert.is(validated.valid, true);
    assert.is(validated.files, 2);
    const refused = await runSkill(["pull", "demo", "--zip", "--output", parent, ...args], key);
    assert.is(refused.code, 1);
    assert.match(refused.stderr, "--force");
    assert.is(
      (await runSkill(["pull", "demo", "--zip", "--force", "--output", parent, ...args], key)).code,
      0,
    );
  });

  test(`${name}: add and validate print every broken rule with file, line, code and hint`, async () => {
    const { args, key } = await openPlace();
    const bad = writeSkill(newFolder(), "Bad_Name", {
      "SKILL.md": `---\nname: Bad_Name\ndescription: ${"x".repeat(1025)}\n---\n`,
    });
    /** Each problem is a line with file, line, message and code, and a line with a hint. */
    const expected = [
      /^ {2}SKILL\.md line 2: .*'name'.* \[name-form\]$/,
      /^ {4}.*bad-name/,
      /^ {2}SKILL\.md line 3: .*'description'.*1025.* \[description-length\]$/,
      /^ {4}.*1$/,
    ];
    const matchProblems = (lines: readonly string[]): void => {
      assert.is(lines.length, expected.length);
      lines.forEach((line, i) => assert.match(line, expected[i]!));
    };
    const added = await runSkill(["add", bad, ...args], key);
    assert.is(added.code, 1);
    assert.is(added.stdout, "");
    const lines = added.stderr.split("\n");
    assert.match(lines[0]!, /^trivet skill: .*2 problems/);
    if (name === "server") assert.match(lines[0]!, / \(invalid_request_error, request req_[\w-]+\)$/);
    matchProblems(lines.slice(1, -1));
    assert.equal(await runSkillJson(["list", ...args], key), []);

    const checked = await runSkill(["validate", bad, ...args], key);
    assert.is(checked.code, 1);
    assert.is(checked.stdout.split("\n")[1], "errors:");
    matchProblems(checked.stdout.split("\n").slice(2, 6));
    assert.match(checked.stderr, `"${bad}": 2 problems`);
    const report = await runSkill(["validate", bad, "--json", ...args], key);
    assert.is(report.code, 1);
    const { type, valid, errors } = JSON.parse(report.stdout);
    assert.equal([type, valid, errors.length], ["skill_validation", false, 2]);
    const { message, hint, ...place } = errors[0];
    assert.equal(place, { code: "name-form", file: "SKILL.md", line: 2 });
    assert.match(message, "'name'");
    assert.match(hint, "bad-name");

    const file = join(newFolder(), "broken.zip");
    mkdirSync(join(file, ".."));
    writeFileSync(file, await zip([{ name: "demo/SKILL.md", content: skillMarkdown("demo"), crc: 1 }]));
    const broken = await runSkill(["validate", file, ...args], key);
    assert.is(broken.code, 1);
    assert.match(broken.stdout, /\[archive-damaged\]/);
  });
}

test("validate creates no store", async () => {
  const data = newFolder();
  const source = writeSkill(newFolder(), "demo");
  const { valid, size_bytes } = await runSkillJson(["validate", source, "--data", data]);
  assert.equal([valid, size_bytes], [true, skillMarkdown("demo").length]);
  assert.not.ok(existsSync(data));
});

test("JSON for programs has no characters that act on a terminal", async () => {
  const markdown = "---\nname: demo\ndescription: Does \x9b31m \u202ethings. Use it when asked.\n---\nText\n";
  const source = writeSkill(newFolder(), "demo", { "SKILL.md": markdown });
  const { stdout } = await runSkill(["validate", source, "--json"]);
  assert.ok(/^[^\p{Cc}\p{Cf}]*\n$/u.test(stdout), stdout);
  assert.is(JSON.parse(stdout).description, "Does \x9b31m \u202ethings. Use it when asked.");
});

test("add refuses an invalid source before it sends a request", async () => {
  const parent = newFolder();
  const linked = writeSkill(parent, "linked");
  symlinkSync("/etc/hostname", join(linked, "link"));
  writeFileSync(join(parent, "text.zip"), "no archive");
  const url = ["--url", "http://127.0.0.1:9"];
  for (
    const [path, message] of [
      [linked, /"[^"]*linked\/link"/],
      [join(parent, "text.zip"), /"[^"]*text\.zip"/],
      [join(parent, "missing"), /"[^"]*missing"/],
    ] as const
  ) {
    const { code, stderr } = await runSkill(["add", path, ...url]);
    assert.is(code, 1);
    assert.match(stderr, message);
  }
  rmSync(join(linked, "link"));
  writeFileSync(join(linked, "large.bin"), new Uint8Array(8 * 1024 * 1024));
  const { code, stderr } = await runSkill(["add", linked, "--data", await newDataFolder(newFolder())]);
  assert.is(code, 1);
  assert.match(stderr, "8388608");
});

for (
  const [args, mentions] of [
    [[], ["add, list, show, versions, pull, remove, validate, doctor"]],
    [["fly"], ['"fly"']],
    [["add"], [": FOLDER or ZIP"]],
    [["show"], [": ID or NAME"]],
    [["versions"], [": ID or NAME"]],
    [["pull"], [": ID or NAME"]],
    [["remove"], [": ID"]],
    [["validate"], [": FOLDER or ZIP"]],
    [["list", "a"], ['"a"']],
    [["list", "--force"], ["--force ", "trivet skill list"]],
    [["list", "--no-such"], ["'--no-such'"]],
    [["remove", "x", "--version", "latest"], ["--version ", '"latest"']],
    [["add", "x", "--skill", "y", "--as-version"], ["--skill and --as-version"]],
    [["add", "x", "--skill", "y", "--display-name", "z"], ["--display-name "]],
    [["list", "--url", "http://h", "--data", "d"], ["--data and --url"]],
    [["list", "--url", "http://h", "--workspace", "w"], ["--workspace and --url"]],
    [["list", "--key-file", "k"], ["--key-file ", "--url\n"]],
    [["list", "--url", "agents.example.com"], ["--url ", '"agents.example.com"']],
    [["list", "--url", "file:///etc"], ["--url ", '"file:///etc"']],
    [["list", "--url", "https://me:secret@h"], ["--url ", "password"]],
    [["list", "--url", "https://h", "--key-file", "/no/such"], ["--key-file: ", '"/no/such"']],
    [["list", "--url", "http://h", "--timeout", "0"], ["--timeout ", '"0"']],
  ] as const
) {
  test(`trivet skill ${args.join(" ")} ends with exit code 2 and an error that names ${mentions.join(" and ")}`, async () => {
    const { code, stdout, stderr } = await runSkill(args);
    assert.is(code, 2);
    assert.is(stdout, "");
    for (const mention of mentions) assert.match(stderr, mention);
    assert.not.match(stderr, "secret");
    assert.not.match(stderr, /\n\s+at /);
  });
}

test.run();
