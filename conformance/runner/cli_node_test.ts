/**
 * The command line: suites, targets, exit codes, reports, baselines; against a module and against a server that hangs.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema } from "../../src/json_schema/compile.ts";
import { type HostileServer, startHostileServer } from "./test_hostile_server.ts";

const test = suite("cli");
let folder: string;
let server: HostileServer;

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), "conformance-"));
  server = await startHostileServer();
  const get = (id: string, url: string, expect: unknown) => ({
    id: `mine/${id}`,
    title: `It is ${id}`,
    covers: [id === "may" ? "format#7/3" : id === "should" ? "format#7/2" : "format#7/1"],
    flags: ["replay"],
    steps: [{
      title: "ask",
      request: { url, headers: { authorization: "Bearer very-secret-token" } },
      expect,
    }],
  });
  const vectors = [
    get("right", "/", { status: 200 }),
    get("should", "/", { status: 201 }),
    get("may", "/", { json: { access_token: { $absent: true } } }),
    get("must", "/", { status: 201 }),
  ];
  write("mine.json", {
    format: 1,
    suite: "oauth/mine",
    title: "Mine",
    count: 4,
    since: "2026-01-02",
    vectors,
  });
  write("target.ts", 'export const fetch = () => Response.json({ access_token: "another-secret-token" });\n');
  write("hangs.json", { name: "hangs", base: server.url, limits: { seconds: 0.1 } });
  const ask = {
    id: "hangs/ask",
    title: "It answers",
    covers: ["format#7/1"],
    steps: [{ request: { url: "/hangs" } }],
  };
  const all = Array.from({ length: 30 }, (_, n) => ({ ...ask, id: `many/n${n}` }));
  write("many.json", { format: 1, suite: "oauth/many", title: "Many", count: 30, vectors: all });
  const won = { ...get("won", "/", { status: 200 }), id: "racing/won", flags: ["race"] };
  write("racing.json", { format: 1, suite: "oauth/racing", title: "Racing", count: 1, vectors: [won] });
  write("racing_known.json", { "oauth/racing/won": "it is lost now and then" });
  write("known.json", { "oauth/mine/must": "it was decided so" });
  write("stale.json", { "oauth/mine/must": "it was decided so", "oauth/mine/right": "it was wrong once" });
});
test.after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.close();
});

function write(name: string, value: unknown): void {
  writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
}

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(...args: readonly string[]): Promise<Said> {
  const cli = fileURLToPath(new URL("cli.ts", import.meta.url));
  const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...runtime, cli, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => out += chunk);
    child.stderr.on("data", (chunk) => err += chunk);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

const mine = (...more: readonly string[]) =>
  run(join(folder, "mine.json"), "--module", join(folder, "target.ts"), ...more);

test("without anything it says how it is used", async () => {
  const { code, out } = await run();
  assert.is(code, 2);
  assert.match(out, /trivet-conformance <suite>/);
  assert.is((await run("--help")).code, 0);
});

test("what cannot be run is 2, with what to do", async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["oauth"], /name a target/],
    [["nobody", "--target", "http://127.0.0.1:1"], /no vectors of this name/],
    [["self", "--frobnicate"], /frobnicate/],
    [["self", "--level", "PERHAPS"], /must be MUST, SHOULD or MAY/],
    [["self", "--since", "yesterday"], /must be a date/],
    [["self", "--only", "there-is-none"], /no vector fits/],
    [["oauth", "--target", join(folder, "nothing.json")], /nothing\.json": there is no such file/],
    [["self", "--set", "nothing"], /set/],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await run(...args);
    assert.is(code, 2, args.join(" "));
    assert.match(err, message);
  }
});

test("self passes: 0", async () => {
  const { code, out } = await run("self");
  assert.is(code, 0);
  assert.match(out, /as expected/);
});

test("a MUST that does not hold: 1, told with its row", async () => {
  const { code, out } = await mine();
  assert.is(code, 1);
  assert.match(
    out,
    /fail {4}oauth\/mine\/must\n {8}It is must\n {8}at "ask", GET \/\n {8}answered 200 \{"access_token":"‹secret \d›"\}\n {8}status: expected 201, but it is 200\n {8}format#7\/1 MUST.*\n {10}FORMAT.md, section 7\n {8}Where it fails, what is good once is good twice/,
  );
  assert.match(out, /4 vectors in .*: 1 pass, 1 fail, 1 warn, 1 observe/);
});

test("--only, --level and --since choose", async () => {
  assert.is((await mine("--only", "right", "--only", "mine/may")).code, 0);
  assert.match((await mine("--level", "MUST")).out, /2 vectors/);
  assert.match((await mine("--level", "SHOULD")).out, /3 vectors/);
  assert.match((await mine("--since", "2026-01-02")).out, /4 vectors/);
  assert.is((await mine("--since", "2026-01-03")).code, 2);
  assert.match((await mine("--list")).out, /oauth\/mine\/right {2}MUST {2}It is right/);
});

test("--strict counts warnings", async () => {
  assert.is((await mine("--only", "should")).code, 0);
  assert.is((await mine("--only", "should", "--strict")).code, 1);
});

test("a known failure does not count; one that passes does", async () => {
  const known = await mine("--expected-failures", join(folder, "known.json"));
  assert.is(known.code, 0);
  assert.match(known.out, /expected: it was decided so/);
  const stale = await mine("--expected-failures", join(folder, "stale.json"));
  assert.is(stale.code, 1);
  assert.match(stale.out, /stale oauth\/mine\/right/);
});

test("a known failure in a race may pass: chance is no change", async () => {
  const [vectors, known] = ["racing.json", "racing_known.json"].map((name) => join(folder, name));
  const target = ["--module", join(folder, "target.ts")];
  const { code, out } = await run(vectors!, ...target, "--expected-failures", known!);
  assert.is(code, 0);
  assert.match(out, /1 pass/);
});

test("reports are written in every form, without secrets", async () => {
  const reports = join(folder, "reports");
  await mine("--report-dir", reports, "--seed", "seven");
  const [json, xml, html, summary] = ["report.json", "report.xml", "report.html", "summary.md"]
    .map((name) => readFileSync(join(reports, name), "utf8")) as [string, string, string, string];
  for (const text of [json, xml, html, summary]) assert.not.match(text, /very-secret|another-secret/);
  const report = JSON.parse(json);
  const schema = readFileSync(new URL("../result.schema.json", import.meta.url), "utf8");
  assert.equal(compileSchema(JSON.parse(schema))(report), []);
  assert.equal(report.summary, { pass: 1, fail: 1, warn: 1, observe: 1, skip: 0, setup: 0, error: 0 });
  assert.equal([report.seed, report.passed], ["seven", false]);
  assert.match(xml, /<testsuites name="trivet-conformance" tests="4" failures="1" errors="0" skipped="0"/);
  assert.match(xml, /<failure type="fail" message="status: expected 201, but it is 200">/);
  assert.match(
    html,
    /<!doctype html>[^]*a stolen code or token still works[^]*authorization: Bearer ‹secret/,
  );
  assert.match(summary, /\*\*fail\*\* `oauth\/mine\/must`/);
});

test("--json and --junit print the report alone", async () => {
  assert.is(JSON.parse((await mine("--json")).out).vectors.length, 4);
  assert.match((await mine("--junit")).out, /^<\?xml/);
});

test("a target that hangs is reported, and not asked to the end", async () => {
  const { code, out } = await run(join(folder, "many.json"), "--target", join(folder, "hangs.json"));
  assert.is(code, 1);
  assert.match(out, /the exchange broke \(hung\)/);
  assert.match(out, /not asked: 12 vectors in a row before it had no answer/);
});

test("nobody there is reported", async () => {
  const gone = await startHostileServer();
  await gone.close();
  write("gone.json", { name: "gone", base: gone.url });
  const { code, out } = await run(join(folder, "many.json"), "--target", join(folder, "gone.json"));
  assert.is(code, 1);
  assert.match(out, /refused/);
});

test.run();
