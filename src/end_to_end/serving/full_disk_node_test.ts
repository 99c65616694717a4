import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { newDataFolder, startTrivet, temporaryFolder, trivet } from "../test_process.ts";
import { until } from "../../test_until.ts";

const test = suite("serving/full disk");
const folder = temporaryFolder();
const disk = join(folder.path, "disk");
const filling = join(disk, "filling");

/** A small file system in memory. Returns whether this user may mount it. */
function mountDisk(): boolean {
  mkdirSync(disk);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Writes until there is no space for one byte. */
function fillDisk(): void {
  const file = openSync(filling, "a");
  try {
    for (let bytes = 65_536; bytes >= 1;) {
      try {
        writeSync(file, new Uint8Array(bytes));
      } catch {
        bytes = Math.floor(bytes / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}

const isMounted = process.platform === "linux" && mountDisk();
if (!isMounted) skipBecause(test, "mounting a small disk needs Linux and root");
else {
  test("on a full disk the server is not ready, reads go on, and room makes it ready again", async () => {
    const server = await startTrivet(["--data", join(disk, "data")]);
    const { url } = server.facts;
    const ready = async () => {
      const response = await fetch(`${url}/readyz`);
      return [response.status, await response.text()];
    };
    try {
      assert.equal(await ready(), [200, "ready"]);
      const readKeys = async () => (await fetch(`${url}/.well-known/jwks.json`)).status;
      assert.is(await readKeys(), 200);
      // The log of the database takes some more commits until it must grow.
      await until(async () => {
        fillDisk();
        const body = new URLSearchParams({ username: "unknown", password: "wrong" });
        await (await fetch(`${url}/login`, { method: "POST", body })).text();
        return (await ready())[0] === 503;
      });
      assert.equal(await ready(), [503, "the store does not accept writes"]);
      assert.is((await fetch(`${url}/healthz`)).status, 200);
      assert.is(await readKeys(), 200);
      rmSync(filling);
      await until(async () => (await ready())[0] === 200);
    } finally {
      await server.stop();
    }
  });

  test("a full disk is the cause of commands that fail, and nothing is left on it", async () => {
    const [source, file] = [await newDataFolder(join(folder.path, "source")), join(folder.path, "backup.db")];
    assert.is((await trivet(["backup", file, "--data", source])).code, 0);
    const before = readdirSync(disk);
    for (
      const args of [["restore", file, "--data", disk], ["backup", join(disk, "b.db"), "--data", source]]
    ) {
      // What SQLite says depends on the file that does not fit.
      for (const pages of [0, 9, 13]) {
        writeFileSync(join(disk, "room"), new Uint8Array(pages * 4096));
        fillDisk();
        rmSync(join(disk, "room"));
        const { code, stderr } = await trivet(args);
        rmSync(filling);
        assert.is(code, 1);
        assert.match(stderr, /(disk is|is the disk) full/);
        assert.equal(readdirSync(disk), before);
      }
    }
    fillDisk();
    const { code, stderr } = await trivet(["user", "list", "--data", join(disk, "data")]);
    rmSync(filling);
    assert.is(code, 1);
    assert.match(stderr, /is the disk full\?$/m);
  });
}

test.after(() => {
  if (isMounted) execFileSync("umount", ["--lazy", disk]);
  folder.remove();
});
test.run();
