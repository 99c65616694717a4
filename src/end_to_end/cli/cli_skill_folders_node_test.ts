import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet, type Trivet } from "../../trivet.ts";
import { watchSkills } from "../../runtime/cli/serve/watch_skills.ts";
import { skillFolder } from "../../runtime/skill_folder.ts";
import { type RunningTrivet, startTrivet, temporaryFolder, trivet } from "../test_process.ts";
import { until } from "../../test_until.ts";

const test = suite("trivet serve and stdio: skill folders");
const temporary = temporaryFolder();
const root = realpathSync(temporary.path);
test.after(() => temporary.remove());

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const md = (name: string, description = "Use it when asked."): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\nInstructions.\n`;

async function listNames({ facts }: RunningTrivet): Promise<string[]> {
  const response = await fetch(facts.mcp, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_skills" } }),
  });
  const { result } = await response.json() as { result: { content: { text: string }[] } };
  return result.content[0]!.text.split("\n").map((line) => line.split(":")[0]!.slice(2));
}

test("serve: --skills is repeatable, the first folder with a name wins, and --follow-links follows links", async () => {
  put("serve/a/one/SKILL.md", md("one"));
  put("serve/b/one/SKILL.md", md("one"));
  put("serve/b/two/SKILL.md", md("two"));
  put("serve/away/SKILL.md", md("away"));
  symlinkSync(join(root, "serve/away"), join(root, "serve/b/away"));
  const args = ["--store", "memory", "--no-demo", "--data", join(root, "serve/data")];
  const folders = ["--skills", join(root, "serve/a"), "--skills", join(root, "serve/b")];
  const server = await startTrivet([...args, ...folders, "--follow-links"]);
  try {
    assert.is(server.facts.skills_dir, join(root, "serve/a"));
    assert.equal(await listNames(server), ["away", "one", "two"]);
  } finally {
    assert.is(await server.stop(), 0);
  }
  const [line, ...rest] = server.problems().split("\n");
  assert.equal(rest, [""]);
  const { level, event, message } = JSON.parse(line!);
  assert.equal([level, event], ["warn", "skills"]);
  assert.ok(message.startsWith(`skipped ${root}/serve/b/one: `), message);
  assert.ok(message.includes(`"one"`) && message.includes(`${root}/serve/a/one (`), message);
});

test("serve: a skipped skill is printed once each time it appears; notes take one line", async () => {
  put("reported/skills/noted/SKILL.md", md("other-name"));
  put("reported/skills/broken/SKILL.md", "x");
  const server = await startTrivet([
    ...["--store", "memory", "--no-demo", "--data", join(root, "reported/data")],
    ...["--skills", join(root, "reported/skills")],
  ]);
  const times = (text: string): number => server.stderr().split(text).length - 1;
  try {
    await until(() => times("skipped") === 1 && times(join(root, "reported/skills/noted")) === 1);
    assert.equal([times("skipped"), times("skipped " + join(root, "reported/skills/broken"))], [1, 1]);
    assert.is(times(join(root, "reported/skills/noted")), 1);
    put("reported/skills/later.md", "x");
    await until(() => times("later.md") === 1);
    put("reported/skills/broken/SKILL.md", md("broken"));
    await until(async () => (await listNames(server)).includes("broken"));
    // The poll that finds this file has read the corrected skill.
    put("reported/skills/another.md", "x");
    await until(() => times("another.md") === 1);
    put("reported/skills/broken/SKILL.md", "x");
    await until(() => times("reported/skills/broken") === 2);
    assert.equal([times("later.md"), times("reported/skills/noted")], [1, 1]);
  } finally {
    assert.is(await server.stop(), 0);
  }
});

test("serve: --publish alone lists the uploads of a workspace at the well-known URI", async () => {
  const names = async (args: readonly string[]): Promise<string[]> => {
    const folder = join(root, `published-data-${args.length}`);
    const server = await startTrivet(["--store", "sqlite", "--data", folder, ...args]);
    try {
      const body = new FormData();
      body.append("files[]", new Blob([md("published")]), "published/SKILL.md");
      const headers = { "x-api-key": server.facts.api_key as string };
      const { status } = await fetch(`${server.facts.issuer}/v1/skills`, { method: "POST", headers, body });
      assert.is(status, 200);
      const index = await fetch(`${server.facts.issuer}/.well-known/agent-skills/index.json`);
      const { skills } = await index.json() as { skills: { name: string }[] };
      return skills.map(({ name }) => name).filter((name) => name === "published");
    } finally {
      assert.is(await server.stop(), 0);
    }
  };
  assert.equal(await names([]), []);
  assert.equal(await names(["--publish", "default"]), ["published"]);
});

test("serve: --publish lists no local skill where the tool server requires a token", async () => {
  put("team/secret/SKILL.md", md("secret"));
  for (const [auth, status] of [["required", 404], ["optional", 200]] as const) {
    const server = await startTrivet([
      ...["--store", "memory", "--no-demo", "--data", join(root, `team-data-${auth}`)],
      ...["--skills", join(root, "team"), "--mcp-auth", auth, "--publish", "default"],
    ]);
    try {
      const url = `${server.facts.issuer}/.well-known/agent-skills`;
      const { skills } = await (await fetch(`${url}/index.json`)).json() as { skills: { name: string }[] };
      assert.is(skills.some(({ name }) => name === "secret"), status === 200);
      assert.is((await fetch(`${url}/secret/SKILL.md`)).status, status);
    } finally {
      assert.is(await server.stop(), 0);
    }
  }
});

test("stdio: --client-skills serves the project's skills before the user's and prints skipped ones", async () => {
  put("stdio/.agents/skills/here/SKILL.md", md("here", "Use it in the project."));
  put("stdio/.claude/skills/broken/SKILL.md", "x");
  put("home/.claude/skills/here/SKILL.md", md("here", "Use it at home."));
  put("home/.claude/skills/home/SKILL.md", md("home"));
  put("stdio/data/skills/own/SKILL.md", md("own"));
  const before = process.env.HOME;
  process.env.HOME = join(root, "home");
  try {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_skills" } };
    const { code, stdout, stderr } = await trivet(["stdio", "--store", "memory", "--client-skills"], {
      input: JSON.stringify(call) + "\n",
      cwd: join(root, "stdio"),
    });
    assert.is(code, 0);
    const { result } = JSON.parse(stdout.trim().split("\n").at(-1)!);
    assert.is(
      result.content[0].text,
      "- here: Use it in the project.\n- home: Use it when asked.\n- own: Use it when asked.",
    );
    assert.match(stderr, `skipped ${root}/stdio/.claude/skills/broken: SKILL.md line 1: `);
  } finally {
    process.env.HOME = before;
  }
});

test("the tool server notifies clients once of each changed list and file", async () => {
  put("watch/one/SKILL.md", md("one"));
  put("watch/one/a b.txt", "a");
  const running: Trivet = createTrivet({
    issuer: "http://127.0.0.1:8787",
    store: memoryStore(),
    skills: { auth: "off", folders: [skillFolder(join(root, "watch"))] },
  });
  const notified: string[] = [];
  const watched: Trivet = {
    ...running,
    mcp: {
      ...running.mcp!,
      listChanged: (list) => Promise.resolve(void notified.push(list)),
      resourceUpdated: (uri) => Promise.resolve(void notified.push(uri)),
    },
  };
  const stop = await watchSkills(watched);
  try {
    assert.equal(notified, []);
    put("watch/one/a b.txt", "b");
    await until(() => notified.length > 0);
    put("watch/two/SKILL.md", md("two"));
    await until(() => notified.length > 1);
    put("watch/two/SKILL.md", md("two", "Use it otherwise."));
    await until(() => notified.length > 3);
    rmSync(join(root, "watch/two"), { recursive: true });
    await until(() => notified.length > 4);
    await wait(2500);
  } finally {
    stop();
  }
  put("watch/three/SKILL.md", md("three"));
  await wait(2500);
  assert.equal(notified, [
    "skill://one/a%20b.txt",
    "resources",
    "resources",
    "skill://two/SKILL.md",
    "resources",
  ]);
});

test.run();
