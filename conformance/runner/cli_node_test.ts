/**
 * The command line: suites, targets, exit codes, reports and expected failures, against a module and a
 * server that hangs.
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
import { EFFECTS } from "./vector/flags.ts";
import { VERSION } from "./version.ts";
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
    format: 2,
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
  write("many.json", { format: 2, suite: "oauth/many", title: "Many", count: 30, vectors: all });
  const won = { ...get("won", "/", { status: 200 }), id: "racing/won", flags: ["race"] };
  write("racing.json", { format: 2, suite: "oauth/racing", title: "Racing", count: 1, vectors: [won] });
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

test("without arguments it prints the usage", async () => {
  const { code, out } = await run();
  assert.is(code, 2);
  assert.match(out, /trivet-conformance <suite>[^]*--target/);
  assert.is((await run("--help")).code, 0);
});

test("a run that is not possible ends with 2 and names the problem", async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["oauth"], /--target/],
    [["unknown", "--target", "http://127.0.0.1:1"], /"unknown"/],
    [["self", "--frobnicate"], /frobnicate/],
    [["self", "--level", "PERHAPS"], /--level "PERHAPS"/],
    [["self", "--since", "yesterday"], /--since "yesterday"/],
    [["self", "--only", "there-is-none"], /--only/],
    [["self", "--only", ""], /--only ""/],
    [["self", "--only", "a", "--document", ""], /--document ""/],
    [["client", "oauth", "--list", "--only", ""], /--only ""/],
    [["oauth", "--target", join(folder, "nothing.json")], /nothing\.json"/],
    [["self", "--set", "nothing"], /"nothing"/],
    [["self", "--report-dir", "/proc/none"], /\/proc/],
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

test("an unmet MUST: 1, reported with its row", async () => {
  const { code, out } = await mine();
  assert.is(code, 1);
  assert.match(
    out,
    /fail {4}oauth\/mine\/must \(broken\)\n {8}It is must\n.*"ask".*GET \/\n.*200 \{"access_token":"‹secret \d›"\}\n {8}status: .*201.*200\n {8}format#7\/1 MUST.*\n {10}FORMAT.md, section 7\n/,
  );
  assert.match(out, /4 vectors in .*: 1 pass, 1 fail, 1 warn, 1 observe/);
});

test("--only, --level and --since select vectors", async () => {
  assert.is((await mine("--only", "right", "--only", "mine/may")).code, 0);
  assert.match((await mine("--level", "MUST")).out, /2 vectors/);
  assert.match((await mine("--level", "SHOULD")).out, /3 vectors/);
  assert.match((await mine("--since", "2026-01-02")).out, /4 vectors/);
  assert.is((await mine("--since", "2026-01-03")).code, 2);
  assert.match((await mine("--list")).out, /oauth\/mine\/right {2}MUST {2}It is right/);
  const misspelt = await mine("--only", "right", "--only", "rihgt");
  assert.is(misspelt.code, 2);
  assert.match(misspelt.err, '--only "rihgt"');
  assert.match((await mine("--document", "format", "--document", "fromat")).err, '--document "fromat"');
});

test("--strict counts warnings", async () => {
  assert.is((await mine("--only", "should")).code, 0);
  assert.is((await mine("--only", "should", "--strict")).code, 1);
});

test("an expected failure does not count; one that passes does", async () => {
  const known = await mine("--expected-failures", join(folder, "known.json"));
  assert.is(known.code, 0);
  assert.match(known.out, /expected: it was decided so/);
  const stale = await mine("--expected-failures", join(folder, "stale.json"));
  assert.is(stale.code, 1);
  assert.match(stale.out, /stale oauth\/mine\/right/);
});

test("expected failures that name no vector: 2, before anything is tested", async () => {
  write("misspelt.json", { "oauth/mine/must": "it was decided so", "oauth/mine/mist": "misspelt" });
  const { code, out, err } = await mine("--expected-failures", join(folder, "misspelt.json"));
  assert.equal([code, out], [2, ""]);
  assert.match(err, /misspelt\.json.*"oauth\/mine\/mist"/);
  assert.not.match(err, "oauth/mine/must");
  // A list may name vectors of other suites.
  write("others.json", { "oauth/mine/must": "it was decided so", "mcp/http/not-json": "another suite" });
  assert.is((await mine("--expected-failures", join(folder, "others.json"))).code, 0);
  const deviations = { "oauth/pkce/no-such-vector": "misspelt" };
  write("deviating.json", { name: "deviating", base: server.url, features: [], deviations });
  const target = await run(join(folder, "many.json"), "--target", join(folder, "deviating.json"));
  assert.is(target.code, 2);
  assert.match(target.err, '"oauth/pkce/no-such-vector"');
});

test("an expected failure in a race may pass by chance", async () => {
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
  assert.match(xml, /<failure type="fail" message="status: .*201.*200">/);
  assert.match(
    html,
    new RegExp(`<!doctype html>[^]*${EFFECTS["replay"]}[^]*authorization: Bearer ‹secret`),
  );
  assert.match(summary, /\*\*fail\*\* `oauth\/mine\/must`/);
});

test("--json and --junit print only that report", async () => {
  assert.is(JSON.parse((await mine("--json")).out).vectors.length, 4);
  assert.match((await mine("--junit")).out, /^<\?xml/);
});

test("a target that hangs is reported and given up", async () => {
  const { code, out } = await run(join(folder, "many.json"), "--target", join(folder, "hangs.json"));
  assert.is(code, 1);
  assert.match(out, /\(hung\)/);
  assert.match(out, /30 vectors in .*1[2-9] fail.*1\d setup/);
});

test("a closed port: nothing was tested", async () => {
  const gone = await startHostileServer();
  await gone.close();
  write("gone.json", { name: "gone", base: gone.url });
  const { code, out } = await run(join(folder, "many.json"), "--target", join(folder, "gone.json"));
  assert.is(code, 2);
  assert.match(out, /\(refused\)/);
  assert.match(out, new RegExp(`not tested\\. ${gone.url} accepts no connection\\.`));
});

test("a command that cannot be started: nothing was tested", async () => {
  const { code, out } = await run("jsonrpc/parse_error", "--stdio", "no-such-command-5fd1");
  assert.is(code, 2);
  assert.match(out, /not tested\. The command cannot be started\./);
});

test("a URL without a scheme is refused as a URL", async () => {
  for (const url of ["localhost:8080", "127.0.0.1:8080/mcp", "server.example"]) {
    const { code, err } = await run("jsonrpc", url);
    assert.is(code, 2);
    assert.match(err, `http://${url}`);
  }
});

test("--document and --class select by the row and by the class of failures", async () => {
  assert.match((await mine("--document", "format")).out, /4 vectors/);
  assert.is((await mine("--document", "rfc7636")).code, 2);
  const broken = await mine("--class", "broken", "--strict");
  assert.is(broken.code, 1);
  assert.match(broken.out, /mine\/must \(broken\)/);
  assert.not.match(broken.out, /^warn/m);
  const other = await mine("--class", "other-refusal", "--strict");
  assert.is(other.code, 0);
  assert.not.match(other.out, /^fail/m);
  assert.match((await mine("--class", "bad")).err, /--class "bad"/);
});

test("failures of one row that differ alike are one cause, each with its commands", async () => {
  const step = {
    request: { url: "/", form: { password: "hidden-word" } },
    expect: { status: 403 },
  };
  const vectors = ["one", "two", "three"].map((id) => ({
    id: `alike/${id}`,
    title: id,
    covers: ["format#7/1"],
    steps: [step],
  }));
  write("alike.json", { format: 2, suite: "oauth/alike", title: "Alike", count: 3, vectors });
  const reports = join(folder, "alike");
  const { out } = await run(
    join(folder, "alike.json"),
    "--module",
    join(folder, "target.ts"),
    "--seed",
    "seven",
    "--report-dir",
    reports,
  );
  assert.match(
    out,
    /same cause \(row format#7\/1, status is 200\): oauth\/alike\/two, oauth\/alike\/three\n/,
  );
  assert.match(out, /body: password=‹secret 1›\n/);
  assert.match(out, /Requirement rows: 1 of \d+ asked, 0 met\./);
  const { vectors: all, digest, kit, rows } = JSON.parse(readFileSync(join(reports, "report.json"), "utf8"));
  assert.match(digest, /^[\da-f]{32}$/);
  assert.is(kit, VERSION);
  assert.equal([rows.asked, rows.met], [1, 0]);
  for (const { name, exchanges, repeat } of all) {
    assert.match(exchanges[0].curl, /^curl .*--request POST .*--data-binary 'password='"\$SECRET_1"$/);
    assert.ok(repeat.includes(`alike.json --module `) && repeat.includes(`--only ${name} --seed seven`));
  }
  const html = readFileSync(join(reports, "report.html"), "utf8");
  assert.match(html, /2 more with this cause: row format#7\/1, status is 200/);
});

test("every option is in the help, and --version prints the version", async () => {
  const { out } = await run("--help");
  for (const option of ["--class", "--document", "--version", "--set"]) assert.ok(out.includes(option));
  assert.is((await run("--version")).out, `${VERSION}\n`);
});

test.run();
