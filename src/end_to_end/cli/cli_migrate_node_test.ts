import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dropStore, openStore } from "../../../scripts/cluster/cluster.ts";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import { findEngine } from "../../store/test_engines.ts";
import { newDataFolder, temporaryFolder } from "../test_process.ts";
import { type CommandOutcome, runCommand } from "./test_command.ts";
import { runSkill, runSkillJson, writeSkill } from "./test_skill_command.ts";

const test = suite("cli/migrate");
const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder.path, ...names);
const NAME = `trivet_migrate_${process.pid}`;

const migrate = (from: string, to: string, data: string): Promise<CommandOutcome> =>
  runCommand(["migrate", "--from", from, "--to", to, "--data", data, "--json"]);

/** A store in a folder with a skill of two files. */
async function newSource(name: string): Promise<string> {
  const data = await newDataFolder(at(name));
  await runSkillJson([
    "add",
    writeSkill(at(), `${name}-skill`, { "data.txt": `of ${name}` }),
    "--data",
    data,
  ]);
  return data;
}

const ENGINES = [["postgres", `schema=${NAME}`], [
  "redis",
  `name=${NAME}`,
]] as const;
for (const [engine, place] of ENGINES) {
  const found = await findEngine(engine);
  if (found === undefined) {
    skipBecause(test, `no ${engine} listens: moving to it is not tested`);
    continue;
  }
  const address = `${found}?${place}`;

  test(`a store with a skill moves from SQLite to ${engine} and back, with the files of the skill`, async () => {
    try {
      const data = await newSource(`from-${engine}`);
      const moved = await migrate("sqlite", address, data);
      assert.is(moved.code, 0, moved.stderr);
      const { records, files, elsewhere } = JSON.parse(moved.stdout);
      assert.ok(records > 2);
      assert.equal([files, elsewhere], [2, 0]);
      const back = await migrate(address, "sqlite", at(`${engine}-back`));
      assert.is(back.code, 0, back.stderr);
      assert.is(JSON.parse(back.stdout).sha256, JSON.parse(moved.stdout).sha256);
      const name = `from-${engine}-skill`;
      const pulled = await runSkill(["pull", name, "--output", at("pulled"), "--data", at(`${engine}-back`)]);
      assert.is(pulled.code, 0, pulled.stderr);
      assert.is(readFileSync(at("pulled", name, "data.txt"), "utf8"), `of from-${engine}`);
    } finally {
      await dropStore(address);
    }
  });

  test(`a file whose content is damaged stops the move to ${engine}, which says which`, async () => {
    try {
      const data = await newSource(`damaged-${engine}`);
      const source = sqliteStore(join(data, "trivet.db"));
      const [entry] = await source.list<Uint8Array>(["blob_data"], { limit: 1 });
      const value = entry!.value.slice();
      value[0]! ^= 1;
      await source.commit({ set: [{ key: entry!.key, value }] });
      await source.close();
      const { code, stderr } = await migrate("sqlite", address, data);
      assert.is(code, 1);
      assert.match(stderr, /Content sha256:[0-9a-f]{64} is damaged/);
      const target = openStore(address);
      assert.is((await target.list(["skill"])).length, 1, "what was copied stays");
      await target.close();
    } finally {
      await dropStore(address);
    }
  });
}

test.after(() => folder.remove());
test.run();
