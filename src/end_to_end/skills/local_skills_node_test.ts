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

const test = suite("local skills that change");
const temporary = temporaryFolder();
test.after(() => temporary.remove());

const md = (name: string, description: string): string =>
  `---\nname: ${name}\ndescription: Use it ${description}.\n---\nInstructions.\n`;

let folders = 0;
/** A server over a folder with one skill of two files, and what it says over HTTP. */
function started() {
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

/** How old a response can be. */
const aSecond = () => wait(1010);

test("a change to SKILL.md or to any file is in the first answer that is asked for a second later", async () => {
  const { root, list, call } = started();
  const changes: (() => void)[] = [
    () => writeFileSync(join(root, "one/SKILL.md"), md("one", "second")),
    () => writeFileSync(join(root, "one/a.txt"), "bbbb"),
    () => appendFileSync(join(root, "one/a.txt"), "b"),
    () => writeFileSync(join(root, "one/b.txt"), "new"),
    () => renameSync(join(root, "one/b.txt"), join(root, "one/c.txt")),
    () => rmSync(join(root, "one/c.txt")),
    // Of the same size, put in the place of the old one, with its time.
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
    await aSecond();
    const after = (await list())[0]!;
    assert.is(after.id, before.id);
    assert.is.not(after.latest_version_id, before.latest_version_id, `change ${i} was not seen`);
    before = after;
  }
  assert.match(await call("list_skills", {}), "one: Use it second.");
  assert.is(await call("read_skill_file", { name: "one", path: "a.txt" }), "cccca");
});

test("a file that is written again right after it was looked at, with the same size, is seen as it ends", async () => {
  const { root, list, version } = started();
  await list();
  const seen = new Set<string | undefined>();
  for (let i = 0; i < 4; i++) {
    writeFileSync(join(root, "one/a.txt"), `${i}aaa`);
    await aSecond();
    const before = version();
    writeFileSync(join(root, "one/a.txt"), `${i}bbb`);
    await before;
    await aSecond();
    seen.add(await version());
  }
  assert.is(seen.size, 4);
});

test("skills appear and disappear with their folders", async () => {
  const { root, list } = started();
  assert.is((await list()).length, 1);
  mkdirSync(join(root, "two"));
  writeFileSync(join(root, "two/SKILL.md"), md("two", "also"));
  await aSecond();
  assert.is((await list()).length, 2);
  rmSync(join(root, "one"), { recursive: true });
  await aSecond();
  assert.equal((await list()).length, 1);
  rmSync(root, { recursive: true });
  await aSecond();
  assert.equal(await list(), []);
  mkdirSync(join(root, "one"), { recursive: true });
  writeFileSync(join(root, "one/SKILL.md"), md("one", "again"));
  await aSecond();
  assert.is((await list()).length, 1);
});

test("a skill whose folder becomes a link is no longer served, and reported", async () => {
  const { root, trivet, list } = started();
  assert.is((await list()).length, 1);
  renameSync(join(root, "one"), join(temporary.path, "moved"));
  symlinkSync(join(temporary.path, "moved"), join(root, "one"));
  await aSecond();
  assert.equal(await list(), []);
  const [diagnostic] = await trivet.skills!.diagnostics();
  assert.is(diagnostic!.where, join(root, "one"));
  assert.is(diagnostic!.problems[0]!.rule, "link");
});

test.run();
