/**
 * Who never saw this kit: the target file of the README as it stands there, an address alone, a command, and what the
 * report then says.
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

test("the README's ten lines are ten, and enough for a report that finds the fault", async () => {
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
  // What was asked, what came, how it differs, which row, where to read it, what it means.
  const found = /fail {4}oauth\/code\/twice\n[^]*?\n\n/.exec(out)?.[0] ?? "";
  for (
    const part of [
      /^ {8}at ".*", POST \/token$/m,
      /^ {8}answered 200 \{"access_token":"‹secret \d+›"/m,
      /^ {8}status: expected 400, but it is 200$/m,
      /^ {8}rfc6749#4\.1\.2\/\d+ MUST/m,
      /^ {10}https:\/\/www\.rfc-editor\.org\/rfc\/rfc6749#section-4\.1\.2$/m,
      /^ {8}Where it fails, .*a stolen code or token still works/m,
    ]
  ) {
    assert.match(found, part);
  }
  assert.match(out, /Not asked: \d+ of \d+\. What they need of the target/);
  assert.match(out, /feature "refresh": issues refresh tokens/);
});

test("an address alone: what it shows is asked, and what is missing is said", async () => {
  const { code, out } = await run("oauth", server.url, "--only", "oauth/metadata");
  assert.is(code, 0, out);
  assert.match(
    out,
    /says no "features"\. What it shows:\n {2}metadata at .*: metadata, authorization_code, pkce/,
  );
  assert.match(out, /oauth\/metadata +\d\d pass/);
  const none = await run("oauth", server.url, "--only", "oauth/code");
  assert.is(none.code, 2);
  assert.match(none.out, /nothing was asked/);
  assert.match(none.out, /procedure "login": how a user signs in/);
});

test("an address at which nobody is", async () => {
  const { code, out } = await run("oauth", "http://127.0.0.1:1");
  assert.is(code, 2);
  assert.match(out, /no metadata of RFC 8414 \(.*Cannot connect to 127\.0\.0\.1:1.*\): nothing to claim/);
});

test("a command that speaks JSON-RPC or MCP, and an address that does not", async () => {
  const server = (name: string) => [process.execPath, ...runtime, pathOf(name)].join(" ");
  const rpc = await run(
    "jsonrpc",
    "--stdio",
    server("../targets/example_methods_stdio.ts"),
    "--only",
    "request",
  );
  assert.match(rpc.out, /an answer of JSON-RPC 2\.0: jsonrpc, batch, example_methods/);
  assert.is(rpc.code, 0, rpc.out);
  const mcp = await run("mcp", "--stdio", server("../targets/trivet_stdio.ts"), "--only", "mcp/initialize");
  assert.match(mcp.out, /handshakes of MCP: mcp, mcp_2024-11-05, .*mcp_2026-07-28/);
  const none = await run("mcp", `${serverUrl()}/mcp`);
  assert.is(none.code, 2);
  assert.match(none.out, /"initialize" came to no known revision \(status 404\)/);
});

function serverUrl(): string {
  return server.url;
}

test.run();
