import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { startTrivet, temporaryFolder } from "../test_process.ts";
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
else {test("on a full disk the server is not ready, reads go on, and room makes it ready again", async () => {
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
  });}

test.after(() => {
  if (isMounted) execFileSync("umount", ["--lazy", disk]);
  folder.remove();
});
test.run();
