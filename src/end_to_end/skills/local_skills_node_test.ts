import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet, type Trivet } from "../../trivet.ts";
import { skillFolder } from "../../runtime/skill_folder.ts";
import { temporaryFolder } from "../test_process.ts";

const test = suite("changes of local skills");
const temporary = temporaryFolder();
test.after(() => temporary.remove());

const md = (name: string, description: string): string =>
  `---\nname: ${name}\ndescription: Use it ${description}.\n---\nInstructions.\n`;

let folders = 0;
/** A server for a folder with one skill of two files, and functions that read from it. */
function newServer() {
  const root = join(temporary.path, String(folders++));
  mkdirSync(join(root, "one"), { recursive: true });
  writeFileSync(join(root, "one/SKILL.md"), md("one", "first"));
  writeFileSync(join(root, "one/a.txt"), "aaaa");
  const trivet: Trivet = createTrivet({
    issuer: "http://127.0.0.1:8787",
    store: memoryStore(),
    skills: { auth: "off", folders: [skillFolder(root)] },
  });
  const list = async () => {
    const response = await trivet.fetch(new Request("http://127.0.0.1:8787/v1/skills"));
    const { data } = await response.json() as { data: { id: string; latest_version_id: string }[] };
    return data;
  };
  const version = async () => (await list())[0]?.latest_version_id;
  const call = async (name: string, args: unknown) => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args },
    });
    const headers = { "content-type": "application/json" };
    const request = new Request("http://127.0.0.1:8787/mcp", { method: "POST", headers, body });
    const { result } = await (await trivet.fetch(request)).json() as {
      result: { content: { text: string }[] };
    };
    return result.content[0]!.text;
  };
  return { root, trivet, list, version, call };
}

/** Waits until the server reads its folders again. */
const waitForRefresh = () => wait(1010);

test("a response contains every change of a file that is a second old", async () => {
  const { root, list, call } = newServer();
  const changes: (() => void)[] = [
    () => writeFileSync(join(root, "one/SKILL.md"), md("one", "second")),
    () => writeFileSync(join(root, "one/a.txt"), "bbbb"),
    () => appendFileSync(join(root, "one/a.txt"), "b"),
    () => writeFileSync(join(root, "one/b.txt"), "new"),
    () => renameSync(join(root, "one/b.txt"), join(root, "one/c.txt")),
    () => rmSync(join(root, "one/c.txt")),
    // A file of the same size and modification time replaces the old one.
    () => {
      writeFileSync(join(root, "one/next"), "cccca");
      utimesSync(join(root, "one/next"), 1, 1);
      utimesSync(join(root, "one/a.txt"), 1, 1);
      renameSync(join(root, "one/next"), join(root, "one/a.txt"));
    },
  ];
  let before = (await list())[0]!;
  for (const [i, change] of changes.entries()) {
    change();
    await waitForRefresh();
    const after = (await list())[0]!;
    assert.is(after.id, before.id);
    assert.is.not(after.latest_version_id, before.latest_version_id, `change ${i}`);
    before = after;
  }
  assert.match(await call("list_skills", {}), "one: Use it second.");
  assert.is(await call("read_skill_file", { name: "one", path: "a.txt" }), "cccca");
});

test("a file that is written while the server reads it is read again", async () => {
  const { root, list, version } = newServer();
  await list();
  const versions = new Set<string | undefined>();
  for (let i = 0; i < 4; i++) {
    writeFileSync(join(root, "one/a.txt"), `${i}aaa`);
    await waitForRefresh();
    const before = version();
    writeFileSync(join(root, "one/a.txt"), `${i}bbb`);
    await before;
    await waitForRefresh();
    versions.add(await version());
  }
  assert.is(versions.size, 4);
});

test("skills appear and disappear with their folders", async () => {
  const { root, list } = newServer();
  const assertCount = async (count: number): Promise<void> => {
    await waitForRefresh();
    // A scan that takes long on a machine under load is not repeated at once (`fresh.ts`).
    for (let i = 0; i < 20 && (await list()).length !== count; i++) await wait(500);
    assert.is((await list()).length, count);
  };
  assert.is((await list()).length, 1);
  mkdirSync(join(root, "two"));
  writeFileSync(join(root, "two/SKILL.md"), md("two", "also"));
  await assertCount(2);
  rmSync(join(root, "one"), { recursive: true });
  await assertCount(1);
  rmSync(root, { recursive: true });
  await assertCount(0);
  mkdirSync(join(root, "one"), { recursive: true });
  writeFileSync(join(root, "one/SKILL.md"), md("one", "once more"));
  await assertCount(1);
});

test("a skill whose folder becomes a symbolic link is skipped and reported", async () => {
  const { root, trivet, list } = newServer();
  assert.is((await list()).length, 1);
  renameSync(join(root, "one"), join(temporary.path, "moved"));
  symlinkSync(join(temporary.path, "moved"), join(root, "one"));
  await waitForRefresh();
  assert.equal(await list(), []);
  const [diagnostic] = await trivet.skills!.diagnostics();
  assert.is(diagnostic!.where, join(root, "one"));
  assert.is(diagnostic!.problems[0]!.rule, "link");
});

test.run();
