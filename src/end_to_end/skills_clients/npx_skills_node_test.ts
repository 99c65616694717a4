import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore } from "../../mod.ts";
import type { FetchHandler } from "../../runtime/server.ts";
import { skillFolder } from "../../runtime/skill_folder.ts";
import { entries } from "../test_entries.ts";
import { type Outcome, temporaryFolder } from "../test_process.ts";
import { type SkillsServer, type SkillsServerOptions, startSkills } from "../skills/test_skills_server.ts";

const test = suite("npx skills");
const MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const folder = temporaryFolder();
const served = join(folder.path, "served");
test.after(() => folder.remove());

type Files = Readonly<Record<string, string | Uint8Array>>;
const skillMd = (name: string, more = ""): string =>
  `---\nname: ${name}\ndescription: What ${name} does.\n${more}---\nText of ${name}\n`;

const PLAIN: Files = { "SKILL.md": skillMd("plain") };
const TOOLS: Files = {
  "SKILL.md": skillMd("tools", "metadata:\n  author: me\n").replaceAll("\n", "\r\n"),
  "scripts/run.sh": "#!/bin/sh\necho hello\n",
  "a b & c's (1).md": "x",
  "100%.txt": "%00",
  "a%20b.txt": "literally",
  ".hidden": "hidden",
  "empty": "",
  "data.bin": Uint8Array.from({ length: 300_000 }, (_, i) => (i * i) >> 3),
  "archive.zip": Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0),
  "deep/a/b/c/d.txt": "deep",
  "nested/SKILL.md": skillMd("nested"),
};
/** Paths that v0.1 cannot express. */
const ODD: Files = { "SKILL.md": skillMd("odd"), "ünïcode/日本語.txt": "é", "a#b[1].txt": "hash" };
const UPLOADED: Files = { "SKILL.md": skillMd("uploaded"), "x.bin": Uint8Array.of(0, 255, 13, 10) };

test.before(() => {
  const skills: Readonly<Record<string, Files>> = {
    plain: PLAIN,
    tools: TOOLS,
    odd: ODD,
    secret: { "SKILL.md": skillMd("secret", "metadata:\n  internal: true\n") },
  };
  for (const [name, files] of Object.entries(skills)) {
    for (const [path, content] of Object.entries(files)) {
      const target = join(served, name, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content);
    }
  }
});

/** Runs `npx skills` in an empty project of a new user. */
function skills(project: string, ...args: readonly string[]): Promise<Outcome> {
  const home = join(folder.path, "home-" + project);
  const cwd = join(folder.path, project);
  for (const each of [home, cwd]) mkdirSync(each, { recursive: true });
  const child = spawn(join(MODULES, ".bin/node"), [join(MODULES, "skills/bin/cli.mjs"), ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: home, DISABLE_TELEMETRY: "1", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve) => {
    let [stdout, stderr] = ["", ""];
    const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
    child.stdout.on("data", (chunk) => stdout += chunk);
    child.stderr.on("data", (chunk) => stderr += chunk);
    child.on("close", (code) => {
      clearTimeout(late);
      resolve({ code, stdout, stderr });
    });
  });
}

/** The files that were installed for Claude Code, by path. */
function installed(project: string): Record<string, Buffer> {
  const root = join(folder.path, project, ".claude/skills");
  const files: Record<string, Buffer> = {};
  const walk = (relative: string): void => {
    for (const name of readdirSync(join(root, relative)).sort()) {
      const path = join(relative, name);
      if (statSync(join(root, path)).isDirectory()) walk(path);
      else files[path] = readFileSync(join(root, path));
    }
  };
  walk("");
  return files;
}

const expected = (named: Readonly<Record<string, Files>>): Record<string, Buffer> =>
  Object.fromEntries(
    Object.entries(named).flatMap(([name, files]) =>
      Object.entries(files).map(([path, content]) => [join(name, path), Buffer.from(content)])
    ),
  );

/** Asserts equal files; the error names the file, since a difference of large buffers is unreadable. */
function assertFiles(actual: Record<string, Buffer>, wanted: Record<string, Buffer>): void {
  assert.equal(Object.keys(actual).sort(), Object.keys(wanted).sort());
  for (const [path, content] of Object.entries(wanted)) assert.ok(content.equals(actual[path]!), path);
}

async function start(options: SkillsServerOptions = {}): Promise<SkillsServer> {
  const server = await startSkills({
    folders: [skillFolder(served)],
    discovery: { workspaces: ["default"] },
    ...options,
  });
  const body = new FormData();
  for (const [path, content] of Object.entries(UPLOADED)) {
    body.append("files[]", new Blob([content as Uint8Array<ArrayBuffer>]), `uploaded/${path}`);
  }
  const headers = { "x-api-key": server.key };
  const response = await fetch(server.url + "/v1/skills", { method: "POST", headers, body });
  assert.is(response.status, 200, await response.text());
  server.seen.length = 0;
  return server;
}

test("npx skills lists only public skills", async () => {
  const server = await start();
  try {
    const { code, stdout, stderr } = await skills("list", "add", server.url, "--list");
    assert.is(code, 0, stdout + stderr);
    for (const name of ["plain", "tools", "odd", "uploaded"]) {
      assert.ok(stdout.includes(`What ${name} does.`), stdout);
    }
    assert.not(/secret/.test(stdout), stdout);
  } finally {
    await server.close();
  }
});

test("npx skills installs every file unchanged and locks the digests of the index", async () => {
  const server = await start();
  try {
    const { code, stdout, stderr } = await skills("install", "add", server.url, "-y", "-a", "claude-code");
    assert.is(code, 0, stdout + stderr);
    const wanted = expected({ plain: PLAIN, tools: TOOLS, odd: ODD, uploaded: UPLOADED });
    assertFiles(installed("install"), wanted);
    const index = await (await fetch(server.url + "/.well-known/agent-skills/index.json")).json();
    const lock = JSON.parse(readFileSync(join(folder.path, "install/skills-lock.json"), "utf8"));
    for (const { name, digest } of index.skills) {
      assert.is(lock.skills[name].wellKnownDigest, digest, name);
    }
    // v0.2 has archives, so single files are not requested.
    const paths = server.seen.map(({ url }) => new URL(url).pathname);
    assert.ok(paths.includes("/.well-known/agent-skills/tools.zip"));
    assert.not(paths.some((path) => path.startsWith("/.well-known/skills/tools/")));
  } finally {
    await server.close();
  }
});

test("with v0.1 alone, npx skills installs the skills whose paths v0.1 can express", async () => {
  const server = await start({
    before: ({ url }) =>
      url.includes("/.well-known/agent-skills/") ? new Response(null, { status: 404 }) : undefined,
  });
  try {
    const { code, stdout, stderr } = await skills("older", "add", server.url, "-y", "-a", "claude-code");
    assert.is(code, 0, stdout + stderr);
    assertFiles(installed("older"), expected({ plain: PLAIN, tools: TOOLS, uploaded: UPLOADED }));
  } finally {
    await server.close();
  }
});

test("--skill installs one skill by name", async () => {
  const server = await start();
  try {
    const args = ["add", server.url, "-y", "-a", "claude-code", "--skill", "tools"];
    const { code, stdout, stderr } = await skills("one", ...args);
    assert.is(code, 0, stdout + stderr);
    assertFiles(installed("one"), expected({ tools: TOOLS }));
  } finally {
    await server.close();
  }
});

test("npx skills finds a server below a path", async () => {
  const paths: string[] = [];
  const handler: FetchHandler = { fetch: () => Promise.reject(new Error("The server is not ready")) };
  const server = await Object.values(entries)[0]!(handler, { port: 0 });
  const issuer = server.url + "/tenant";
  const trivet = createTrivet({ issuer, store: memoryStore(), skills: { folders: [skillFolder(served)] } });
  handler.fetch = (request) => {
    paths.push(new URL(request.url).pathname);
    return trivet.fetch(request);
  };
  try {
    for (const [project, address] of [["tenant", issuer], ["tenant-slash", issuer + "/"]] as const) {
      const { code, stdout, stderr } = await skills(project, "add", address, "-y", "-a", "claude-code");
      assert.is(code, 0, stdout + stderr);
      assertFiles(installed(project), expected({ plain: PLAIN, tools: TOOLS, odd: ODD }));
    }
    assert.is(paths[0], "/tenant/.well-known/agent-skills/index.json");
    // The root of the host has no skills.
    assert.is((await fetch(server.url + "/.well-known/agent-skills/index.json")).status, 404);
  } finally {
    await server.close();
  }
});

test.run();
