/**
 * The Cloudflare example with the built package, bundled as `wrangler deploy` does and served by Miniflare with the
 * settings of `wrangler.jsonc`.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Miniflare } from "miniflare";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { buildPackage, type BuiltPackage, installExample } from "../test_package.ts";

const test = suite("examples/cloudflare");

/** The settings of `wrangler.jsonc` that the test reads. */
interface Settings {
  readonly main: string;
  readonly compatibility_date: string;
  readonly compatibility_flags: string[];
  readonly d1_databases: readonly { readonly binding: string }[];
  readonly vars: Readonly<Record<string, string>>;
  readonly triggers: { readonly crons: readonly string[] };
}

if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "Miniflare runs on Node");
else {
  let built: BuiltPackage;
  let worker: Miniflare;
  let settings: Settings;
  const secret = "a-secret-of-the-operator-0123456789";

  test.before(() => {
    built = buildPackage();
    const copy = installExample("cloudflare", built);
    // YAML contains JSON, except for its comments.
    settings = parse(readFileSync(join(copy, "wrangler.jsonc"), "utf8").replace(/^\s*\/\/.*$/gm, ""));
    const bundle = join(built.folder, "worker.js");
    const args = [
      "build",
      join(copy, settings.main),
      "--target=browser",
      "--format=esm",
      `--outfile=${bundle}`,
    ];
    const { status, stderr } = spawnSync(resolve("node_modules/.bin/bun"), args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`Cannot bundle the Worker: ${stderr}`);
    worker = new Miniflare({
      modules: [{ type: "ESModule", path: "worker.js", contents: readFileSync(bundle, "utf8") }],
      compatibilityDate: settings.compatibility_date,
      compatibilityFlags: settings.compatibility_flags,
      d1Databases: settings.d1_databases.map(({ binding }) => binding),
      bindings: { ...settings.vars, OPERATOR_SECRET: secret },
      unsafeTriggerHandlers: true,
      // The Host of every request is that of the issuer.
      upstream: settings.vars.ISSUER!,
    });
  });
  test.after(async () => {
    await worker?.dispose();
    built?.remove();
  });

  test("the types of the Worker agree with those of the package", () => {
    const { status, stderr } = spawnSync(
      resolve("node_modules/.bin/deno"),
      ["check", "--quiet", "--node-modules-dir=manual", settings.main],
      { cwd: join(built.folder, "cloudflare"), encoding: "utf8" },
    );
    assert.is(status, 0, stderr);
  });

  test("every binding of the settings is one that the Worker reads", () => {
    const source = readFileSync(new URL("worker.ts", import.meta.url), "utf8");
    const read = new Set([...source.matchAll(/\benv\.([A-Z_]+)/g)].map(([, name]) => name!));
    const given = [
      ...settings.d1_databases.map(({ binding }) => binding),
      ...Object.keys(settings.vars),
      "OPERATOR_SECRET",
    ];
    assert.equal([...read].sort(), given.sort());
  });

  test("issues a token, calls a tool and lists skills", async () => {
    const { ISSUER, OPERATOR_ID } = settings.vars;
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: OPERATOR_ID!,
      client_secret: secret,
    });
    const issued = await worker.dispatchFetch(`${ISSUER}/oauth/token`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: String(form),
    });
    assert.is(issued.status, 200);
    const { access_token } = await issued.json() as { access_token: string };
    const call = (headers: Record<string, string>) =>
      worker.dispatchFetch(`${ISSUER}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body:
          '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}',
      });
    const refused = await call({});
    assert.is(refused.status, 401, await refused.text());
    const authorization = `Bearer ${access_token}`;
    const { result } = await (await call({ authorization })).json() as {
      result: { content: { text: string }[] };
    };
    assert.is(result.content[0]!.text, "5");
    const skills = await worker.dispatchFetch(`${ISSUER}/v1/skills`, { headers: { authorization } });
    assert.is(skills.status, 200);
    assert.equal((await skills.json() as { data: unknown[] }).data, []);
  });

  test("the scheduled event removes expired records, and those alone", async () => {
    assert.is(settings.triggers.crons.length, 1);
    const database = await worker.getD1Database("DB");
    const count = async () =>
      (await database.prepare("SELECT count(*) AS n FROM record").first<{ n: number }>())!.n;
    await database.prepare("UPDATE record SET expires = ? WHERE expires IS NOT NULL").bind(Date.now() - 1000)
      .run();
    const [before, expired] = [
      await count(),
      (await database.prepare("SELECT count(*) AS n FROM record WHERE expires IS NOT NULL").first<
        { n: number }
      >())!.n,
    ];
    assert.ok(expired > 0);
    const swept = await worker.dispatchFetch("http://localhost/cdn-cgi/handler/scheduled");
    assert.is(swept.status, 200);
    assert.is(await count(), before - expired);
  });
}

test.run();
