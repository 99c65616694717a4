/**
 * Runs against hostile or broken targets: floods of small items, deep nesting, commands that die, hang or
 * ignore signals, and an interrupt. Each ends in time, with a reason, and leaves no process behind.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { httpSender } from "./exchange/send_http.ts";
import { serveRaw, writeOn } from "./test_hostile_server.ts";
import { runOne, testTarget } from "./test_run.ts";
import type { Step } from "./vector/vector_file.ts";

const test = suite("hostile");
const folder = mkdtempSync(join(tmpdir(), "conformance-"));
const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
/** What a terminal could execute. */
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const EVENTS = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const JSON_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

test.after(() => rmSync(folder, { recursive: true, force: true }));

const get: Step = { request: { url: "/" }, expect: { json: { never: 1 } } };
const send: Step = { send: [{ jsonrpc: "2.0", id: 1, method: "x" }] };
const deep = `{"a":`.repeat(100_000) + "1" + "}".repeat(100_000);

const WRONG: Readonly<Record<string, readonly [start: string, more: string, step: Step, reason: RegExp]>> = {
  "small fields": ["HTTP/1.1 200 OK\r\n", "a:b\r\n".repeat(1000), get, /\(flooded\).*2000/],
  "small chunks": [
    `${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n`,
    "1\r\nx\r\n".repeat(2000),
    get,
    /flooded|hung/,
  ],
  "trailers": [`${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n`, "t: x\r\n".repeat(2000), get, /hung/],
  "small events": [EVENTS, "data: 1\n\n".repeat(2000), send, /\(flooded\).*10000 events/],
  "one endless event": [EVENTS, "data: x\n".repeat(2000), send, /\(flooded\)/],
  "one endless line of an event": [`${EVENTS}data: `, "x".repeat(65_536), send, /\(flooded\)/],
  "a value of 100,000 levels": [
    `${JSON_HEAD}Content-Length: ${deep.length}\r\nConnection: close\r\n\r\n${deep}`,
    "",
    get,
    /^json/,
  ],
};

for (const [name, [start, more, step, reason]] of Object.entries(WRONG)) {
  test(`a server that responds with ${name} fails`, async () => {
    const server = await serveRaw((socket) => writeOn(socket, start, more));
    const sender = httpSender();
    const target = testTarget(() => new Response(), {
      base: server.url,
      origins: new Set([server.url]),
      sender,
      variables: { base: server.url, endpoints: { rpc: "/" } },
      limits: { seconds: 3, bytes: 2 << 20 },
    });
    const result = await runOne(target, [step]);
    assert.is(result.outcome, "fail");
    assert.match(result.reason!, reason);
    await sender.close();
    server.close();
  });
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** @param started path of a file; soon after it exists, the run is interrupted */
function run(
  target: object,
  started?: string,
  only = "jsonrpc",
  words: readonly string[] = ["jsonrpc"],
): Promise<Ended> {
  const path = join(folder, `target-${crypto.randomUUID()}.json`);
  writeFileSync(path, JSON.stringify(target));
  const cli = fileURLToPath(new URL("cli.ts", import.meta.url));
  const args = [...runtime, cli, ...words, "--target", path, "--timeout", "2", "--only", only];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => out += chunk);
    child.stderr.on("data", (chunk) => err += chunk);
    child.on("close", (code) => resolve({ code, out, err }));
    const waiting = setInterval(() => {
      if (started === undefined || !existsSync(started)) return;
      clearInterval(waiting);
      setTimeout(() => process.kill(child.pid!, "SIGINT"), 1500);
    }, 50);
    child.on("close", () => clearInterval(waiting));
  });
}

const rpc = { base: "http://127.0.0.1:9", features: ["jsonrpc"], endpoints: { rpc: "/" } };

test("a start command that dies is reported with its standard error", async () => {
  const command = ["sh", "-c", "echo the database is not there >&2; exit 4"];
  const { code, err } = await run({ ...rpc, start: { command } });
  assert.is(code, 2);
  assert.match(
    err,
    /"start" .*\b4\b.*\nthe database is not/,
  );
});

test("a missing start command, and one that is never ready", async () => {
  const none = await run({ ...rpc, start: { command: ["there-is-no-such-command"] } });
  assert.equal([none.code, /there-is-no-such-command/.test(none.err)], [2, true], none.err);
  const never = await run({ ...rpc, start: { command: ["sleep", "60"], seconds: 0.5 } });
  assert.equal([never.code, /"start" .* 0\.5 s/.test(never.err)], [2, true], never.err);
});

/** A slow server that ignores SIGTERM and writes its process id to a file. */
const SLOW = `
const [port, file] = process.argv.slice(2);
require("node:http").createServer((_, response) => setTimeout(() => response.end("{}"), 400)).listen(Number(port), "127.0.0.1");
require("node:fs").writeFileSync(file, String(process.pid));
process.on("SIGTERM", () => {});
`;

test("an interrupt ends the run with the report so far, and ends a server that ignores signals", async () => {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  writeFileSync(join(folder, "slow.cjs"), SLOW);
  const pid = join(folder, "pid");
  const { code, out, err } = await run({
    ...rpc,
    base: `http://127.0.0.1:${port}`,
    start: { command: ["node", "slow.cjs", String(port), pid] },
  }, pid);
  assert.is(code, 130, `${code} ${err} ${out.slice(-500)}`);
  assert.match(out, /interrupted/);
  assert.match(out, /\d+ vectors in .* setup/);
  const number = Number(readFileSync(pid, "utf8"));
  assert.throws(() => process.kill(number, 0), /ESRCH|not found|No such/i);
});

test("a command on standard output that floods lines, floods errors, or closes", async () => {
  const say = (script: string) => ({ stdio: { command: ["sh", "-c", script] }, features: ["jsonrpc"] });
  const cases: readonly (readonly [string, RegExp])[] = [
    ['read line; yes \'{"jsonrpc":"2.0"}\'', /\(flooded\).*10000 lines/],
    ["read line; yes noise >&2", /\(flooded\).*standard error/],
    ["read line; echo no such module >&2; exit 3", /\(closed\).*\b3\b.*no such module/],
    ["read line; exec >&-; sleep 60", /\(closed\).*standard output/],
  ];
  for (const [script, reason] of cases) {
    const { code, out, err } = await run(say(script), undefined, "parse_error");
    assert.equal([code, err], [1, ""]);
    assert.match(out, reason);
  }
});

test("what a server sends does not control the terminal", async () => {
  const server = await serveRaw((socket) =>
    void socket.end(
      "HTTP/1.1 200 OK\r\nContent-Type: text/\x1b[2J\r\nConnection: close\r\n\r\n\x7f\u009b2J\u202e",
    )
  );
  const { code, out } = await run({ ...rpc, base: server.url }, undefined, "parse_error/cut");
  await server.close();
  assert.is(code, 1);
  assert.match(out, /\ufffd\[2J.*\ufffd\ufffd2J\ufffd/);
  assert.not.match(out, CONTROLS);
});

test("what a server sends does not control the terminal where it is sent back", async () => {
  const server = await serveRaw((socket) =>
    void socket.end("HTTP/1.1 200 OK\r\nETag: \x1b[2J\r\nConnection: close\r\n\r\n")
  );
  const steps = [
    { request: { url: "/" }, capture: { tag: { header: "etag" } } },
    { request: { url: "/", headers: { "if-none-match": "{{tag}}" } }, expect: { status: 304 } },
  ];
  const vectors = [{ id: "again/it", title: "It is so", covers: ["format#7/1"], steps }];
  const suite = join(folder, "again.json");
  writeFileSync(
    suite,
    JSON.stringify({ format: 2, suite: "oauth/again", title: "Again", count: 1, vectors }),
  );
  const { code, out } = await run({ base: server.url, features: [] }, undefined, "it", [suite, "--verbose"]);
  await server.close();
  assert.is(code, 1);
  assert.match(out, /> if-none-match: \ufffd\[2J/);
  assert.not.match(out, CONTROLS);
});

test.run();
