import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { findEngine } from "../../store/test_engines.ts";
import { temporaryFolder } from "../test_process.ts";
import { runCommand } from "./test_command.ts";
import { writeSkill } from "./test_skill_command.ts";

/** A store that does not exist is an error; only `serve` and the targets of `restore` and `migrate` make one. */
const test = suite("trivet without a store");
const folder = temporaryFolder();
test.after(() => folder.remove());

const data = join(folder.path, "no", "data");
const skill = writeSkill(folder.path, "demo");
const COMMANDS = [
  "user list",
  "user add alice --generate",
  "client list",
  "client add --id worker --grant-type client_credentials",
  "provider list",
  "key list",
  "key add --name ci",
  "key remove key_1",
  "audit list",
  "audit verify",
  "audit export",
  "skill list",
  `skill add ${skill}`,
  "skill remove skill_1",
  `backup ${join(folder.path, "backup.db")}`,
];

for (const command of COMMANDS) {
  test(`trivet ${command.split(" ").slice(0, 2).join(" ")} says so, and makes none`, async () => {
    const { code, stdout, stderr } = await runCommand([...command.split(" "), "--data", data]);
    assert.equal([code, stdout], [1, ""]);
    assert.match(stderr, join(data, "trivet.db"));
    assert.match(stderr, "trivet serve");
    assert.not.ok(existsSync(join(folder.path, "no")));
  });
}

test("an empty data folder has no store either", async () => {
  const empty = join(folder.path, "empty");
  mkdirSync(empty);
  assert.is((await runCommand(["key", "list", "--data", empty])).code, 1);
  assert.not.ok(existsSync(join(empty, "trivet.db")));
});

test("a damaged store is named, without the advice to begin an empty one in another folder", async () => {
  const damaged = join(folder.path, "damaged");
  mkdirSync(damaged);
  writeFileSync(join(damaged, "trivet.db"), "no database");
  const { code, stderr } = await runCommand(["key", "list", "--data", damaged]);
  assert.is(code, 1);
  assert.match(stderr, join(damaged, "trivet.db"));
  assert.not.match(stderr, "--data");
});

test("a store that is no file is named once", async () => {
  const file = join(folder.path, "occupied/trivet.db");
  mkdirSync(file, { recursive: true });
  const { code, stderr } = await runCommand(["user", "list", "--data", join(folder.path, "occupied")]);
  assert.is(code, 1);
  assert.is(stderr.split(file).length, 2, stderr);
});

test("stdio with a token of a store needs this store", async () => {
  const { code, stderr } = await runCommand(["stdio", "--data", data], { TRIVET_TOKEN: "trivet_key_x" });
  assert.is(code, 1);
  assert.match(stderr, join(data, "trivet.db"));
  assert.not.ok(existsSync(data));
});

for (const engine of ["postgres", "redis"] as const) {
  const found = await findEngine(engine);
  if (!found) {
    skipBecause(test, `no ${engine} listens: commands without a store there are not tested`);
    continue;
  }
  test(`a database in ${engine} without a store stays as it is`, async () => {
    const address = new URL(found);
    address.searchParams.set(engine === "postgres" ? "schema" : "name", `nothing_${process.pid}`);
    for (let time = 0; time < 2; time++) {
      const { code, stderr } = await runCommand(["user", "list", "--store", address.href]);
      assert.is(code, 1);
      assert.match(stderr, "There is no store");
      assert.match(stderr, "trivet serve");
    }
  });
}

test.run();
