import { chmodSync, copyFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { createClient } from "redis";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { FORMAT_KEY, FORMAT_VERSION } from "../../store/format.ts";
import { redisStore } from "../../store/drivers/redis.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import { findEngine } from "../../store/test_engines.ts";
import { startTrivet, temporaryFolder, trivet } from "../test_process.ts";

const test = suite("data folder");
const umask = process.umask();

/** The modes of the entries of a folder. */
function modesIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).sort().map((name) =>
      [name, (statSync(join(folder, name)).mode & 0o777).toString(8)] as const
    ),
  );
}

test("a data folder without a format is upgraded; a data folder of a newer format is refused", async () => {
  const folder = temporaryFolder();
  const first = await startTrivet(["--data", folder.path]);
  await first.stop();
  const database = new DatabaseSync(join(folder.path, "trivet.db"));
  const version = () => database.prepare("PRAGMA user_version").get()!.user_version;
  database.exec(`PRAGMA user_version = 0; DELETE FROM record WHERE key LIKE '1format%'`);
  const refused = await trivet(["serve", "--port", "0", "--json", "--no-upgrade", "--data", folder.path]);
  assert.is(refused.code, 1);
  assert.match(refused.stderr, /"client" 1, now \d.*trivet upgrade/);
  const second = await startTrivet(["--data", folder.path]);
  assert.is(second.facts.client.id, first.facts.client.id);
  await second.stop();
  assert.is((await trivet(["user", "list", "--data", folder.path])).code, 0);
  assert.is(version(), FORMAT_VERSION);
  database.exec(`PRAGMA user_version = ${FORMAT_VERSION + 1}`);
  for (const command of [["serve", "--port", "0", "--json"], ["user", "list"], ["client", "list"]]) {
    const { code, stderr } = await trivet([...command, "--data", folder.path]);
    assert.is(code, 1);
    assert.match(stderr, new RegExp(`\\b${FORMAT_VERSION + 1}\\b.*\\b${FORMAT_VERSION}\\b`));
  }
  database.close();
  folder.remove();
});

test("after serve stops, the database file alone contains all records", async () => {
  const [folder, copy] = [temporaryFolder(), temporaryFolder()];
  const server = await startTrivet(["--data", folder.path]);
  const { status } = await fetch(`${server.facts.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: ["https://client.example/cb"], client_name: "Registered last" }),
  });
  assert.is(status, 201);
  assert.is(await server.stop(), 0);
  assert.equal(readdirSync(folder.path).sort(), ["demo.json", "skills", "trivet.db"]);
  copyFileSync(join(folder.path, "trivet.db"), join(copy.path, "trivet.db"));
  assert.match((await trivet(["client", "list", "--data", copy.path])).stdout, "Registered last");
  folder.remove();
  copy.remove();
});

const redis = await findEngine("redis");
if (redis === undefined) skipBecause(test, "no redis listens: its format is not tested");
else testRedisFormat(redis);

function testRedisFormat(address: string): void {
  test("serve and user list refuse a Redis store of a newer format", async () => {
    const name = `trivet_test_${Math.random().toString(36).slice(2, 8)}`;
    const store = redisStore(`${address}?name=${name}`);
    await store.commit({ set: [{ key: FORMAT_KEY, value: { version: FORMAT_VERSION + 1 } }] });
    for (const command of [["serve", "--port", "0", "--json", "--no-demo"], ["user", "list"]]) {
      const { code, stderr } = await trivet([...command, "--store", `${address}?name=${name}`]);
      assert.is(code, 1);
      assert.match(stderr, new RegExp(`\\b${FORMAT_VERSION + 1}\\b.*\\b${FORMAT_VERSION}\\b`));
    }
    await store.close();
    const admin = await createClient({ url: address }).connect();
    for (const key of await admin.keys(`{${name}}*`)) await admin.del(key);
    admin.destroy();
  });
}

test.after.each(() => void process.umask(umask));

if (process.platform === "win32") {
  skipBecause(test, "Windows has no file modes");
} else {
  test("serve creates files with mode 0600 and folders with 0700, also with umask 0", async () => {
    const folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    process.umask(0);
    writeFileSync(join(folder.path, "demo.json"), "{}", { mode: 0o644 });
    const server = await startTrivet(["--data", folder.path]);
    assert.equal(modesIn(folder.path), {
      "demo.json": "600",
      "skills": "700",
      "trivet.db": "600",
      "trivet.db-shm": "600",
      "trivet.db-wal": "600",
    });
    assert.is(server.problems(), "");
    await server.stop();
    folder.remove();
  });

  test("a data folder and its parents are created with mode 0700, also with umask 0", async () => {
    const folder = temporaryFolder();
    process.umask(0);
    const flags = ["--no-demo", "--no-skills"];
    await (await startTrivet(["--data", join(folder.path, "above", "data"), ...flags])).stop();
    assert.equal(modesIn(folder.path), { above: "700" });
    assert.equal(modesIn(join(folder.path, "above")), { data: "700" });
    assert.equal(modesIn(join(folder.path, "above", "data")), { "trivet.db": "600" });
    folder.remove();
  });

  test("a data folder that others can write causes a warning", async () => {
    const folder = temporaryFolder();
    await sqliteStore(join(folder.path, "trivet.db")).close();
    chmodSync(folder.path, 0o777);
    const { code, stderr } = await trivet(["key", "list", "--data", folder.path]);
    assert.is(code, 0);
    assert.match(stderr, "trivet: warning: ");
    folder.remove();
  });
}

test.run();
