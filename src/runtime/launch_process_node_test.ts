/**
 * Servers as real processes: environment, standard error, the end of the process and of its children.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createMcpClient, type McpClientOptions, processTransport } from "../mcp_client.ts";
import { type LaunchOptions, launchProcess } from "./launch_process.ts";

const test = suite("launch process");

/** A server of 2025-11-25 whose calls run the code in the argument `code`. Node runs it on every runtime. */
const SERVER = `
const { spawn } = require("node:child_process");
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
const text = (id, value) => send(id, { content: [], value });
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: {} });
  } else if (method === "tools/call") eval(params.arguments.code);
});
`;

function connect(options: Partial<LaunchOptions> = {}, more: Partial<McpClientOptions> = {}) {
  const launch = launchProcess({ command: "node", args: ["-e", SERVER], closeTimeout: 300, ...options });
  const client = createMcpClient({
    transport: processTransport(launch),
    name: "test",
    version: "1",
    revision: "2025-11-25",
    ...more,
  });
  return {
    client,
    // deno-lint-ignore no-explicit-any
    run: async (code: string): Promise<any> =>
      (await client.request("tools/call", { name: "run", arguments: { code } })).value,
  };
}

/** Whether a process runs. One that has ended stays as a zombie until the system removes it. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function untilEnded(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Starts a child of the server that ignores signals if asked, and returns its process id once it runs. */
const startChild = (code: string) =>
  `const child = spawn(process.execPath, ["-e", ${
    JSON.stringify(code + ';console.log("up");setInterval(() => {}, 1000)')
  }],
     { stdio: ["ignore", "pipe", "ignore"] });
   child.stdout.once("data", () => text(id, child.pid));`;

test("only harmless variables are passed on, and those that are given", async () => {
  process.env.TRIVET_TEST_SECRET = "hunter2";
  const { client, run } = connect({ env: { GIVEN: "yes" } });
  const env = await run("text(id, process.env)") as Record<string, string>;
  delete process.env.TRIVET_TEST_SECRET;
  assert.is(env.GIVEN, "yes");
  assert.is(env.PATH, process.env.PATH);
  assert.is(env.TRIVET_TEST_SECRET, undefined);
  assert.equal(Object.keys(env).filter((name) => /SECRET|TOKEN|KEY|NODE_/.test(name)), []);
  await client.close();
});

test("arguments are not interpreted by a shell, and cwd is used", async () => {
  const { client, run } = connect({ args: ["-e", SERVER, "$HOME; `id`", "a b"], cwd: "/" });
  assert.equal(await run("text(id, [process.cwd(), ...process.argv.slice(1)])"), ["/", "$HOME; `id`", "a b"]);
  await client.close();
});

test("standard error arrives line by line, shortened", async () => {
  const lines: string[] = [];
  const { client, run } = connect({ onStderr: (line) => lines.push(line) });
  await run(`process.stderr.write("a\\r\\nb");
    setTimeout(() => process.stderr.write("c\\n" + "x".repeat(10000) + "\\nlast", () => text(id, 1)), 20)`);
  await client.close();
  assert.equal(lines, ["a", "bc", "x".repeat(4096), "last"]);
});

test("close ends the process and its children, also those that ignore SIGTERM", async () => {
  const { client, run } = connect();
  const pids = [
    await run("text(id, process.pid)"),
    await run(startChild("")),
    await run(startChild('process.on("SIGTERM", () => {})')),
  ] as number[];
  assert.equal(pids.map(isRunning), [true, true, true]);
  await client.close();
  await Promise.all(pids.map(untilEnded));
});

test("the end of the process is reported, with the calls that it did not answer", async () => {
  const ends: (Error | undefined)[] = [];
  const { client, run } = connect({}, { onClosed: (reason) => ends.push(reason) });
  const child = await run(startChild("")) as number;
  const error = await run("process.exit(3)").catch((error) => error);
  assert.equal([error.name, error.reason, error.message], [
    "ConnectionError",
    "closed",
    "node: exited with code 3",
  ]);
  assert.equal(ends, [error]);
  // Its children do not stay.
  await untilEnded(child);
  await client.close();
});

test("what cannot be started is named, without its arguments", async () => {
  for (const [command, code] of [["/nonexistent/server", "ENOENT"], ["/", "EACCES"]] as const) {
    const { client } = connect({ command, args: ["--token", "secret"] });
    const error = await client.connect().catch((error) => error);
    assert.equal([error.name, error.reason, error.mayHaveRun], ["ConnectionError", "unreachable", false]);
    assert.match(error.message, new RegExp(`^${command}: could not be started .*${code}`));
    assert.not.match(error.message, /secret/);
    await client.close();
  }
  assert.throws(() => launchProcess({ command: "" }), /command/);
});

test("many messages that wait for a slow process print no warning", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on("warning", onWarning);
  const { client, run } = connect();
  await run("process.stdin.pause(); setTimeout(() => process.stdin.resume(), 500); text(id, 0)");
  const padding = "x".repeat(100_000);
  const calls = Array.from({ length: 15 }, (_, at) => run(`text(id, ${at}) // ${padding}`));
  assert.equal(await Promise.all(calls), calls.map((_, at) => at));
  process.off("warning", onWarning);
  assert.equal(warnings, []);
  await client.close();
});

test("a process that floods its output is ended", async () => {
  const { client, run } = connect({}, { limits: { messageBytes: 100_000 } });
  const pid = await run("text(id, process.pid)") as number;
  const error = await run(
    'const write = () => { while (process.stdout.write("x".repeat(65536))); process.stdout.once("drain", write) }; write()',
  )
    .catch((error) => error);
  assert.is(error.reason, "too_large");
  await untilEnded(pid);
  await client.close();
});

test.run();
