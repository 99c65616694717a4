/**
 * First use of the kit: the target file of the README, a URL alone, a command, and what the report says.
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
import { EFFECTS } from "./vector/flags.ts";
import { type OAuthServer, startOAuthServer } from "./test_oauth_server.ts";

const test = suite("newcomer");
const folder = mkdtempSync(join(tmpdir(), "conformance-"));
let server: OAuthServer;

test.before(async () => void (server = await startOAuthServer()));
test.after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.close();
});

const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

function run(...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...runtime, pathOf("cli.ts"), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => out += chunk);
    child.stderr.on("data", (chunk) => err += chunk);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

test("the target file of the README has ten lines and finds the fault of the test server", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, written = ""] = /## Your server in ten lines[^]*?```json\n([^]*?)```/.exec(readme) ?? [];
  assert.is(written.trimEnd().split("\n").length, 10);
  writeFileSync(join(folder, "target.json"), written.replace("http://127.0.0.1:8080", server.url));
  const target = join(folder, "target.json");
  const { code, out, err } = await run("oauth", "--target", target, "--report-dir", folder);
  assert.equal([code, err], [1, ""]);
  const { summary, vectors } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  assert.equal([summary.setup, summary.error], [0, 0]);
  assert.ok(summary.pass > 100, `${summary.pass} pass`);
  assert.ok(vectors.some((each: { outcome: string }) => each.outcome === "fail"));
  // Request, response, difference, requirement row, its link, impact.
  const found = /fail {4}oauth\/code\/twice \(broken\)\n[^]*?\n\n/.exec(out)?.[0] ?? "";
  for (
    const part of [
      /POST \/token$/m,
      /200 \{"access_token":"‹secret \d+›"/,
      /^ {8}status: .*400.*200$/m,
      /^ {8}rfc6749#4\.1\.2\/\d+ MUST/m,
      /^ {10}https:\/\/www\.rfc-editor\.org\/rfc\/rfc6749#section-4\.1\.2$/m,
      new RegExp(`^ {8}.*${EFFECTS["replay"]}`, "m"),
    ]
  ) {
    assert.match(found, part);
  }
  assert.match(out, new RegExp(`${summary.skip} of ${vectors.length} `));
  assert.match(out, /feature "refresh": issues refresh tokens/);
});

test("a URL alone: detected features are tested, and missing ones are named", async () => {
  const { code, out } = await run("oauth", server.url, "--only", "oauth/metadata");
  assert.is(code, 0, out);
  assert.match(
    out,
    /^ {2}metadata at .*: metadata, authorization_code, pkce/m,
  );
  assert.match(out, /oauth\/metadata +\d\d pass/);
  const few = await run("oauth", server.url);
  assert.is(few.code, 2, few.out);
  assert.match(
    few.out,
    /not tested\. Only \d+ of \d{3,} vectors were asked\. Describe the server in a target file/,
  );
  const none = await run("oauth", server.url, "--only", "oauth/code");
  assert.is(none.code, 2);
  assert.match(none.out, /\d+ skip/);
  assert.match(none.out, /procedure "login"/);
  const { out: xml } = await run("oauth", server.url, "--only", "oauth/code", "--junit");
  const [, tests, skipped] = /<testsuites [^>]*tests="(\d+)" failures="0" errors="1" skipped="(\d+)"/.exec(
    xml,
  )!;
  assert.is(Number(tests), Number(skipped) + 1);
  assert.match(xml, /<testsuite name="run" tests="1" failures="0" errors="1" skipped="0"/);
  assert.match(xml, /<error type="shortfall" message="None of /);
});

test("a URL without a server", async () => {
  const { code, out } = await run("oauth", "http://127.0.0.1:1");
  assert.is(code, 2);
  assert.match(out, /RFC 8414 .*127\.0\.0\.1:1.*ECONNREFUSED/);
  for (const suite of ["oauth", "mcp", "jsonrpc", "skills"]) {
    const { code, out } = await run(suite, "http://127.0.0.1:1");
    assert.is(code, 2, suite);
    assert.match(out, /not tested\. http:\/\/127\.0\.0\.1:1 accepts no connection\./, suite);
  }
});

test("a command that speaks JSON-RPC or MCP, and a URL that does not", async () => {
  const server = (name: string) => [process.execPath, ...runtime, pathOf(name)].join(" ");
  const rpc = await run(
    "jsonrpc",
    "--stdio",
    server("../targets/example_methods_stdio.ts"),
    "--only",
    "request",
  );
  assert.match(rpc.out, /: jsonrpc, batch, example_methods/);
  assert.is(rpc.code, 0, rpc.out);
  const mcp = await run("mcp", "--stdio", server("../targets/trivet_stdio.ts"), "--only", "mcp/initialize");
  assert.match(mcp.out, /: mcp, mcp_2024-11-05, .*mcp_2026-07-28/);
  const none = await run("mcp", `${serverUrl()}/mcp`);
  assert.is(none.code, 2);
  assert.match(none.out, /"initialize" .*status 404/);
});

function serverUrl(): string {
  return server.url;
}

test.run();
