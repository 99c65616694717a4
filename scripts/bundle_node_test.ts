import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { buildPackage } from "../examples/test_package.ts";

const test = suite("contents of an app's bundle");

/** Texts of drivers and runtimes that remain after minification. */
const MARKS: Readonly<Record<string, RegExp>> = {
  "a runtime": /["']node:[a-z_/]+["']|\bDeno\.|\bBun\./,
  PostgreSQL: /pg_advisory_xact_lock|postgres:\/\//,
  Redis: /EVALSHA|ZRANGE/,
  SQLite: /PRAGMA /,
  "Cloudflare's SQL": /json_each/,
  S3: /AWS4-HMAC-SHA256/,
  OpenTelemetry: /opentelemetry\/sdk-node/,
  "the command line": /TRIVET_API_KEY/,
};

/** @param dist the built package, which the app has installed @param args of `bun build` */
function bundle(source: string, { args = ["--target=browser"], dist }: {
  args?: readonly string[];
  dist?: string;
} = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "trivet-bundle-"));
  try {
    const entry = join(folder, "entry.ts");
    writeFileSync(entry, source.replace(/"src\//g, () => `"${resolve("src")}/`));
    if (dist !== undefined) {
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(dist, join(folder, "node_modules/trivet"));
    }
    const file = join(folder, "out.js");
    const built = spawnSync(
      resolve("node_modules/.bin/bun"),
      ["build", entry, "--minify", ...args, `--outfile=${file}`],
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

test("an app that is bundled for Node gets the modules of its entries, and no command line or optional package", () => {
  const built = buildPackage();
  try {
    const { exports } = JSON.parse(readFileSync(join(built.dist, "package.json"), "utf8"));
    for (const [entry, conditions] of Object.entries<string | Record<string, string>>(exports)) {
      if (typeof conditions === "string" || conditions.node === undefined) continue;
      // The first that applies counts.
      assert.equal(Object.keys(conditions), ["types", "module", "node", "default"], entry);
      assert.is(conditions.module, conditions.default, entry);
    }
    // The conditions of esbuild and webpack, which a release is tested with (`check_packages.ts`).
    const args = ["--target=node", "--conditions=module"];
    const bundled = (source: string) => findMarks(bundle(source, { args, dist: built.dist }));
    const tools = `
      import { tool, toolServer } from "trivet/mcp";
      import { memoryStore } from "trivet/store/memory";
      const tools = [tool({ name: "ping", description: "Answers", run: () => "pong" })];
      export default toolServer({ url: "https://a.example", store: memoryStore(), tools });
    `;
    assert.equal(bundled(tools), []);
    const guard = `
      import { resourceServer } from "trivet/protect";
      export default resourceServer({ issuer: "https://a.example", resource: "https://b.example" });
    `;
    assert.equal(bundled(guard), []);
    const all = `
      import { createTrivet } from "trivet";
      import { toNodeListener } from "trivet/node-listener";
      export default toNodeListener(createTrivet({ issuer: "https://a.example", store: globalThis.store }));
    `;
    assert.equal(bundled(all), ["a runtime"]);
  } finally {
    built.remove();
  }
});

test("a server over stdio reads three files of the package until it has answered initialize", () => {
  const built = buildPackage();
  const folder = mkdtempSync(join(tmpdir(), "trivet-start-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(built.dist, join(folder, "node_modules/trivet"));
    writeFileSync(
      join(folder, "hooks.mjs"),
      `import { registerHooks } from "node:module";
      const read = [];
      registerHooks({ load(url, context, next) { read.push(url); return next(url, context); } });
      process.on("exit", () => process.stderr.write(read.filter((url) => url.includes("/dist/")).join("\\n")));`,
    );
    writeFileSync(
      join(folder, "server.mjs"),
      `import { tool, toolServer } from "trivet/mcp";
      import { memoryStore } from "trivet/store/memory";
      const tools = [tool({ name: "ping", description: "Answers", run: () => "pong" })];
      const server = toolServer({ url: "https://a.example", store: memoryStore(), tools });
      await server.serveStdio(process.stdin, process.stdout);`,
    );
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "a", version: "1" },
    };
    const { stdout, stderr } = spawnSync(process.execPath, ["--import", "./hooks.mjs", "server.mjs"], {
      cwd: folder,
      input: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }) + "\n",
      encoding: "utf8",
    });
    assert.is(JSON.parse(stdout).result.protocolVersion, "2025-11-25");
    const files = stderr.split("\n").map((url) => url.split("/bundle/")[1]);
    assert.equal(files.sort(), ["mcp.js", "mcp_service.js", "store/drivers/memory.js"]);
  } finally {
    rmSync(folder, { recursive: true });
    built.remove();
  }
});

test("each mark is found in its driver", () => {
  const code = (file: string) => findMarks(readFileSync(file, "utf8"));
  assert.ok(code("src/store/drivers/postgres.ts").includes("PostgreSQL"));
  assert.ok(code("src/store/drivers/redis.ts").includes("Redis"));
  assert.ok(code("src/store/drivers/sqlite.ts").includes("SQLite"));
  assert.ok(code("src/store/drivers/redis.ts").includes("a runtime"));
  assert.ok(code("src/runtime/cli/telemetry.ts").includes("OpenTelemetry"));
  assert.ok(code("src/runtime/cli/api/credentials.ts").includes("the command line"));
});

test.run();
