import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("contents of an app's bundle");

/** Texts of drivers and runtimes that remain after minification. */
const MARKS: Readonly<Record<string, RegExp>> = {
  "a runtime": /["']node:[a-z_/]+["']|\bDeno\.|\bBun\./,
  PostgreSQL: /pg_advisory_xact_lock|postgres:\/\//,
  Redis: /EVALSHA|ZRANGE/,
  SQLite: /PRAGMA /,
  "Cloudflare's SQL": /json_each/,
  S3: /AWS4-HMAC-SHA256/,
};

function bundle(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), "trivet-bundle-"));
  try {
    const entry = join(folder, "entry.ts");
    writeFileSync(entry, source.replace(/"src\//g, () => `"${resolve("src")}/`));
    const file = join(folder, "out.js");
    const built = spawnSync(
      resolve("node_modules/.bin/bun"),
      ["build", entry, "--minify", "--target=browser", `--outfile=${file}`],
      { encoding: "utf8" },
    );
    assert.is(built.status, 0, built.stderr);
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const findMarks = (code: string) => Object.keys(MARKS).filter((name) => MARKS[name]!.test(code));

test("the core and the memory store bundle no driver and no runtime", () => {
  const code = bundle(`
    import { createTrivet, memoryStore } from "src/mod.ts";
    export default createTrivet({ issuer: "https://a.example", store: memoryStore() });
  `);
  assert.equal(findMarks(code), []);
});

test("an app on workerd with D1 bundles no PostgreSQL, Redis, SQLite driver or S3", () => {
  const code = bundle(`
    import { createTrivet } from "src/mod.ts";
    import { toWorker } from "src/runtime/workerd.ts";
    import { d1Store } from "src/store/drivers/d1.ts";
    export default toWorker((env) => createTrivet({ issuer: "https://a.example", store: d1Store(env.DB) }));
  `);
  assert.equal(findMarks(code), ["Cloudflare's SQL"]);
});

test("each mark is found in its driver", () => {
  const code = (file: string) => findMarks(readFileSync(file, "utf8"));
  assert.ok(code("src/store/drivers/postgres.ts").includes("PostgreSQL"));
  assert.ok(code("src/store/drivers/redis.ts").includes("Redis"));
  assert.ok(code("src/store/drivers/sqlite.ts").includes("SQLite"));
  assert.ok(code("src/store/drivers/redis.ts").includes("a runtime"));
});

test.run();
