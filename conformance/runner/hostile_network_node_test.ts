/**
 * Targets with a hostile network: no connection, broken or untrusted TLS, floods, slow responses, redirect
 * loops. Each gives a reason within the time limit.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createServer as createTlsServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runAll } from "./run.ts";
import { httpSender } from "./exchange/send_http.ts";
import type { Target } from "./target/target.ts";
import type { Procedure } from "./target/target_description.ts";
import { serveRaw, writeOn } from "./test_hostile_server.ts";
import { runOne, testTarget, vectorOf } from "./test_run.ts";
import type { Step } from "./vector/vector_file.ts";
import type { Result } from "./vector/vector.ts";

const test = suite("hostile network");
const folder = mkdtempSync(join(tmpdir(), "conformance-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const OK = "HTTP/1.1 200 OK\r\n";
const JSON_HEAD = `${OK}Content-Type: application/json\r\n`;
const EVENTS = `${OK}Content-Type: text/event-stream\r\n\r\n`;
const SECONDS = 1;
const get: Step = { request: { url: "/" }, expect: { status: 200 } };
const send: Step = { send: [{ jsonrpc: "2.0", id: 1, method: "x" }] };

function targetAt(base: string, seconds = SECONDS, offers: Readonly<Record<string, Procedure>> = {}): Target {
  const variables = { base, endpoints: { rpc: "/" } };
  const limits = { seconds, bytes: 16 << 20 };
  const usual = { base, origins: new Set([base]), sender: httpSender(), variables, limits };
  return testTarget(() => new Response(), { ...usual, withProcedures: offers });
}

/** Runs one step and checks that it ends in time. */
async function askAt(base: string, step: Step = get, seconds = SECONDS): Promise<Result> {
  const target = targetAt(base, seconds);
  const start = performance.now();
  const result = await runOne(target, [step]);
  await target.sender!.close();
  const took = (performance.now() - start) / 1000;
  assert.ok(took < seconds + 2, `${took} s: ${result.reason}`);
  return result;
}

/** Listens and never accepts, because its event loop is blocked. */
const FULL = `
const server = require("node:net").createServer();
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  require("node:fs").writeSync(1, server.address().port + "\\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
`;

// On other systems a full queue refuses connections.
if (process.platform === "linux") {
  test("a connection that is never accepted", async () => {
    const child = spawn("node", ["-e", FULL], { stdio: ["ignore", "pipe", "ignore"] });
    const port = await new Promise<number>((resolve) =>
      child.stdout.once("data", (chunk) => resolve(Number(String(chunk))))
    );
    const waiting = Array.from({ length: 6 }, () => connect(port, "127.0.0.1").on("error", () => {}));
    try {
      await new Promise((resolve) => setTimeout(resolve, 200));
      const { outcome, reason, isUnreachable: isGone } = await askAt(`http://127.0.0.1:${port}`);
      assert.equal([outcome, isGone], ["setup", true]);
      assert.match(reason!, /\(refused\).*1 s/);
    } finally {
      for (const socket of waiting) socket.destroy();
      child.kill("SIGKILL");
    }
  });
}

test("a closed port, and a connection that is closed at once", async () => {
  const gone = await serveRaw(() => {});
  await gone.close();
  assert.match((await askAt(gone.url)).reason!, /\(refused\).*ECONNREFUSED/);
  const server = await serveRaw((socket) => void socket.end());
  assert.match((await askAt(server.url)).reason!, /\(closed\)/);
  const tls = server.url.replace("http:", "https:");
  assert.match((await askAt(tls)).reason!, /\(refused\).*(?:closed|reset)/);
  await server.close();
});

test("garbage and silence where TLS is expected", async () => {
  const garbage = await serveRaw((socket) => void socket.end("\0garbage, not TLS at all\r\n".repeat(20)));
  const tls = garbage.url.replace("http:", "https:");
  assert.match((await askAt(tls)).reason!, /\(refused\).*TLS/);
  await garbage.close();
  const plain = await serveRaw((socket) => void socket.end(`${OK}Content-Length: 0\r\n\r\n`));
  const notTls = plain.url.replace("http:", "https:");
  assert.match((await askAt(notTls)).reason!, /\(refused\).*TLS/);
  await plain.close();
  const silent = await serveRaw(() => {});
  const never = silent.url.replace("http:", "https:");
  assert.match((await askAt(never)).reason!, /\(refused\).*TLS handshake.*1 s/);
  await silent.close();
});

test("plain HTTP where TLS is expected: a TLS alert is recognised", async () => {
  const server = await serveRaw((socket) => void socket.end("\x15\x03\x01\x00\x02\x02F"));
  assert.match((await askAt(server.url)).reason!, /\(closed\).*https:/);
  await server.close();
});

// Generated for this test: openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes
// -days 36500 -subj /CN=HOST
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKZfQr3SWCT8w9s3C
IIhN6aHs/CEurP0ZUBSYeJBg9tOhRANCAATQyIDSlK4uqHY2dT73QTFr9TbP2niX
UluSI3G7DfUbdA97AHZPSnOrfr9CgdoR0LVhahnjEvA7QltcNxL+Wt7u
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBiTCCAS+gAwIBAgIUU+5Xvmll6FmaX8Jn1+tBlpYfOjowCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwObm9ib2R5LmV4YW1wbGUwIBcNMjYxMTIyMDEwMTIwWhgPMjEy
NjEwMjkwMTAxMjBaMBkxFzAVBgNVBAMMDm5vYm9keS5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAE0MiA0pSuLqh2NnU+90Exa/U2z9p4l1JbkiNxuw31
G3QPewB2T0pzq36/QoHaEdC1YWoZ4xLwO0JbXDcS/lre7qNTMFEwHQYDVR0OBBYE
FP+kHuyCH8FVPy+zVSeeKYlK+gOcMB8GA1UdIwQYMBaAFP+kHuyCH8FVPy+zVSee
KYlK+gOcMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhALdeN5BS
kEkYjAnDMgU/Fdc+6HNAAQ7+LK7q2qMwgWxqAiBZ3IXrkoS1o4bKu/Ih5Cps2rw3
CUO6lpA/YtvnaeLpxQ==
-----END CERTIFICATE-----`;

test("an untrusted certificate is accepted from loopback, and refused from other hosts", async () => {
  const sockets = new Set<Socket>();
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => socket.end(`${OK}Content-Length: 0\r\n\r\n`));
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  assert.is((await askAt(`https://127.0.0.1:${port}`)).outcome, "pass");
  // An address that reaches this machine, but is not loopback.
  const { reason } = await askAt(`https://0.0.0.0:${port}`);
  assert.match(reason!, /\(refused\).*certificate.*\(\w+\)/);
  for (const socket of sockets) socket.destroy();
  server.close();
});

const large = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "x", params: ["x".repeat(2 << 20)] })}\n\n`;
const part = "x".repeat(65_536);

const WRONG: Readonly<Record<string, readonly [act: (socket: Socket) => void, step: Step, reason: RegExp]>> =
  {
    "events of megabytes without end": [
      (socket) => writeOn(socket, EVENTS, large),
      send,
      /\(flooded\).*16777216 bytes/,
    ],
    "one event of megabytes without end": [
      (socket) => writeOn(socket, `${EVENTS}data: `, part),
      send,
      /\(flooded\).*16777216 bytes/,
    ],
    "JSON without end": [
      (socket) => writeOn(socket, `${JSON_HEAD}\r\n{"a":"`, part),
      send,
      /\(flooded\).*16777216 bytes/,
    ],
    "a chunk of petabytes": [
      (socket) => void socket.end(`${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\n{}`),
      get,
      /\(closed\).*281474976710653 bytes/,
    ],
    "header fields without the body": [
      (socket) => void socket.end(`${JSON_HEAD}Content-Length: 10\r\n\r\n`),
      get,
      /\(closed\).*10 bytes/,
    ],
  };

for (const [name, [act, step, reason]] of Object.entries(WRONG)) {
  test(`a server that responds with ${name} fails`, async () => {
    const server = await serveRaw(act);
    const result = await askAt(server.url, step, 5);
    assert.match(result.reason!, reason);
    await server.close();
  });
}

/** Writes a few bytes at a time. */
function drip(socket: Socket, more: string, delay = 0, start = ""): void {
  setTimeout(() => socket.write(start + more), delay);
  const timer = setInterval(() => performance.now() - began > delay && socket.write(more), 150);
  const began = performance.now();
  socket.on("close", () => clearInterval(timer));
}

test("a slow response has the time limit of one exchange, for header fields and body together", async () => {
  // If the body had a time limit of its own, the exchange would take nearly twice as long. 3 s tolerate a busy machine.
  const allowed = 3;
  const late = allowed * 900;
  const cases: readonly (readonly [(socket: Socket) => void, Step])[] = [
    [(socket) => drip(socket, "HTTP/1.1 100 Continue\r\n\r\n", 0), get],
    [(socket) => drip(socket, "a", 0, OK), get],
    [(socket) => drip(socket, ": x\n\n", late, EVENTS), send],
    [(socket) => drip(socket, " ", late, `${JSON_HEAD}\r\n`), send],
    [(socket) => drip(socket, " ", late, `${JSON_HEAD}\r\n`), get],
    [(socket) => drip(socket, ": x\n\n", late, EVENTS), { ...get, until: { event: "x" } }],
  ];
  await Promise.all(cases.map(async ([act, step]) => {
    const server = await serveRaw(act);
    const { reason, seconds } = await askAt(server.url, step, allowed);
    assert.match(reason!, /\(hung\).* 3 s/);
    assert.ok(seconds < allowed * 1.5, `${seconds} s: ${reason}`);
    await server.close();
  }));
});

test("a redirect loop ends, in a step that follows and in a page walk", async () => {
  let asked = 0;
  const server = await serveRaw((socket) => {
    asked++;
    socket.end("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n");
  });
  const followed = await askAt(server.url, { ...get, as: "browser", follow: true }, 2);
  assert.match(followed.reason!, /^status: .*200.*302/);
  const target = targetAt(server.url, 2, { login: { page: "/login", fields: { user: "alice" } } });
  const walked = await runOne(target, [{ call: "login" }]);
  assert.is(walked.outcome, "setup");
  assert.match(walked.reason!, / 16 redirects.*\/again/);
  assert.ok(asked < 40, `${asked}`);
  await target.sender!.close();
  await server.close();
});

test("a target that hangs is given up, also when other vectors are skipped in between; these stay skipped", async () => {
  let asked = 0;
  const server = await serveRaw(() => asked++);
  const all = Array.from(
    { length: 80 },
    (_, n) => vectorOf([get], { id: `n${n}`, ...(n % 2 === 1 && { needs: ["feature:none"] }) }),
  );
  const target = targetAt(server.url, 0.1);
  const outcomes = await runAll(all, { target, seed: "", maxWaitSeconds: 0 });
  assert.ok(asked < 20, `${asked}`);
  assert.is(outcomes.filter(({ outcome }) => outcome === "skip").length, 40);
  assert.equal([outcomes.at(-2)!.outcome, outcomes.at(-2)!.isUnreachable], ["setup", true]);
  await target.sender!.close();
  await server.close();
});

const CLAIMS = {
  features: ["mcp", "mcp_2025-11-25", "mcp_tools"],
  vars: { mcp: { host: "127.0.0.1" } },
  procedures: { mcp_token: [{ let: { token: { value: null } } }] },
  limits: { bytes: 4 << 20 },
};

function run(target: object): Promise<{ code: number | null; out: string; err: string }> {
  const path = join(folder, `target-${crypto.randomUUID()}.json`);
  writeFileSync(path, JSON.stringify({ ...CLAIMS, ...target }));
  const cli = fileURLToPath(new URL("cli.ts", import.meta.url));
  const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
  const child = spawn(process.execPath, [...runtime, cli, "mcp", "--target", path, "--timeout", "1"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => out += chunk);
  child.stderr.on("data", (chunk) => err += chunk);
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

test("runs of the suite mcp against floods end soon, with the reason", async () => {
  const server = await serveRaw((socket) => writeOn(socket, EVENTS, large));
  const flooding = ["sh", "-c", `yes '{"jsonrpc":"2.0"}'`];
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ base: server.url, endpoints: { mcp: "/mcp" } }, /\(flooded\).*4194304 bytes/],
    [{ stdio: { command: flooding } }, /\(flooded\).*10000 lines/],
  ];
  for (const [target, reason] of cases) {
    const start = performance.now();
    const { code, out, err } = await run(target);
    assert.equal([code, err], [1, ""]);
    assert.match(out, reason);
    assert.match(out, /\d+ setup/);
    const took = performance.now() - start;
    assert.ok(took < 20_000, `${took}`);
  }
  await server.close();
});

test.run();
