import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic, { toFile } from "@anthropic-ai/sdk";
import { setupSkills } from "@anthropic-ai/sdk/tools/agent-toolset/node";
import OldAnthropic from "anthropic-sdk-0.121";
import { setupSkills as setupSkillsOld } from "anthropic-sdk-0.121/tools/agent-toolset/node";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skillFolder } from "../../runtime/skill_folder.ts";
import { temporaryFolder } from "../test_process.ts";
import { skillMarkdown, type SkillsServer, startSkills } from "../skills/test_skills_server.ts";

const test = suite("setupSkills of @anthropic-ai/sdk");
const folder = temporaryFolder();
const local = join(folder.path, "served");
let server: SkillsServer;

const encoder = new TextEncoder();
/** Names and contents that archive tools can damage. */
const FILES: Readonly<Record<string, Uint8Array>> = {
  "SKILL.md": encoder.encode(`\ufeff${skillMarkdown("odd-files").replaceAll("\n", "\r\n")}`),
  ".hidden": encoder.encode("hidden"),
  "a b & c's (1).md": encoder.encode("x"),
  "100%.txt": encoder.encode("%00"),
  "[x]/{y}.txt": encoder.encode("brackets"),
  "-dash.txt": encoder.encode("dash"),
  "empty": new Uint8Array(),
  "deep/a/b/c/d/e.txt": encoder.encode("deep"),
  "nested/SKILL.md": encoder.encode(skillMarkdown("nested")),
  "odd-files/odd-files.txt": encoder.encode("a folder with the name of its parent"),
  "archive.zip": Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0),
  "big.bin": Uint8Array.from({ length: 300_000 }, (_, i) => (i * i) >> 3),
};

test.before(async () => {
  mkdirSync(join(local, "local"), { recursive: true });
  writeFileSync(join(local, "local/SKILL.md"), skillMarkdown("local"));
  writeFileSync(join(local, "local/run.sh"), "#!/bin/sh\necho hello\n");
  chmodSync(join(local, "local/run.sh"), 0o755);
  server = await startSkills({ folders: [skillFolder(local)] });
});
test.after(async () => {
  await server.close();
  folder.remove();
});

/** The files of a folder by path. @throws {Error} for anything else in it */
function readTree(root: string, prefix = ""): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const name of readdirSync(join(root, prefix)).sort()) {
    const path = prefix + name;
    const stat = lstatSync(join(root, path));
    if (stat.isDirectory()) {
      for (const [each, bytes] of readTree(root, `${path}/`)) files.set(each, bytes);
    } else {
      assert.ok(stat.isFile(), path);
      files.set(path, new Uint8Array(readFileSync(join(root, path))));
    }
  }
  return files;
}

const expected = (files: Readonly<Record<string, Uint8Array>>): Map<string, Uint8Array> =>
  readTreeOrder(new Map(Object.entries(files)));
const readTreeOrder = (files: Map<string, Uint8Array>): Map<string, Uint8Array> =>
  new Map([...files].sort(([a], [b]) => a < b ? -1 : 1));

/** The messages that the SDK logs. */
const warnings: string[] = [];
const logger = {
  error: (text: string, ...rest: unknown[]) => void warnings.push(`${text} ${JSON.stringify(rest)}`),
  warn: (text: string, ...rest: unknown[]) => void warnings.push(`${text} ${JSON.stringify(rest)}`),
  info() {},
  debug() {},
};

/** A session whose agent has these skills, with the members that setupSkills reads. */
const sessionOf = (skills: readonly { skill_id: string; version: string }[]): never =>
  ({ agent: { skills: skills.map((each) => ({ type: "custom", ...each })) } }) as never;

test("setupSkills installs skills unchanged, at latest and at a version, and removes them", async () => {
  const client = new Anthropic({ apiKey: server.key, baseURL: server.url, maxRetries: 0, logger });
  const files = await Promise.all(
    Object.entries(FILES).map(([path, bytes]) => toFile(bytes, `odd-files/${path}`)),
  );
  const odd = await client.skills.create({ files });
  const pinned = await client.skills.create({
    files: [await toFile(encoder.encode(skillMarkdown("pinned", "Old. Use it.")), "SKILL.md")],
  });
  await client.skills.versions.create(pinned.id, {
    files: [await toFile(encoder.encode(skillMarkdown("pinned", "New. Use it.")), "pinned/SKILL.md")],
  });
  const localSkill = (await client.skills.list({ source: "local" })).data[0]!;

  const workdir = join(folder.path, "today");
  mkdirSync(workdir);
  const cleanUp = await setupSkills({
    workdir,
    client,
    session: sessionOf([
      { skill_id: odd.id, version: "latest" },
      { skill_id: pinned.id, version: pinned.latest_version_id },
      { skill_id: localSkill.id, version: "latest" },
    ]),
  });
  assert.equal(warnings.splice(0), []);
  const root = join(workdir, "skills");
  assert.equal(readdirSync(root).sort(), ["local", "odd-files", "pinned"]);
  assert.equal(readTreeOrder(readTree(join(root, "odd-files"))), expected(FILES));
  assert.equal(
    readTree(join(root, "pinned")),
    expected({ "SKILL.md": encoder.encode(skillMarkdown("pinned", "Old. Use it.")) }),
  );
  assert.equal(readTree(join(root, "local")), readTree(join(local, "local")));
  for (const path of Object.keys(FILES)) {
    assert.is(lstatSync(join(root, "odd-files", path)).mode & 0o777, 0o644, path);
  }
  await cleanUp();
  assert.equal(readdirSync(root), []);
});

test("setupSkills of 0.121 installs the same files", async () => {
  const client = new OldAnthropic({ apiKey: server.key, baseURL: server.url, maxRetries: 0, logger });
  const { id } = await client.beta.skills.create({
    files: await Promise.all(
      Object.entries(FILES).map(([path, bytes]) => toFile(bytes, `odd-files/${path}`)),
    ),
  });
  const workdir = join(folder.path, "before");
  mkdirSync(workdir);
  const session = sessionOf([{ skill_id: id, version: "latest" }]);
  const cleanUp = await setupSkillsOld({ workdir, client, session });
  assert.equal(warnings.splice(0), []);
  assert.equal(readTreeOrder(readTree(join(workdir, "skills/odd-files"))), expected(FILES));
  await cleanUp();
});

test.run();
