import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CLI, runtimeCommand, startTrivet, temporaryFolder, trivet } from "../test_process.ts";
import { until } from "../../test_until.ts";

const test = suite("trivet serve --mcp-servers");

/** An MCP server over stdio that also writes its process id to a file. */
const SERVER = `
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import process from "node:process";
writeFileSync(process.env.PID_FILE, String(process.pid));
const results = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "echo", version: "1" } },
  "tools/list": { tools: [{ name: "hello", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "hello " + process.env.WHO }] },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method];
  const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("offers a server with a command, follows the file, and ends the process with the server", async () => {
  const folder = temporaryFolder();
  const file = join(folder.path, "mcp.json");
  const pidFile = join(folder.path, "pid");
  const script = join(folder.path, "server.mjs");
  writeFileSync(script, SERVER);
  const [command, before] = runtimeCommand();
  const entry = {
    command,
    args: [...before, script],
    env: { PID_FILE: pidFile, WHO: "${WHO:-you}" },
  };
  writeFileSync(file, JSON.stringify({ mcpServers: { echo: entry } }));
  const server = await startTrivet([
    "--data",
    join(folder.path, "data"),
    "--mcp-servers",
    file,
    "--no-skills",
  ]);
  const rpc = async (method: string, params: object = {}) => {
    const response = await fetch(`${server.facts.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return await response.json();
  };
  const offers = async (name: string) =>
    (await rpc("tools/list")).result?.tools?.some((each: { name: string }) => each.name === name);
  await until(() => offers("echo_hello"));
  const call = await rpc("tools/call", { name: "echo_hello", arguments: {} });
  assert.is(call.result.content[0].text, "hello you");

  writeFileSync(file, "{");
  await until(() => /is not JSON/.test(server.stderr()));
  assert.ok(await offers("echo_hello"));

  const first = Number(readFileSync(pidFile, "utf8"));
  writeFileSync(file, JSON.stringify({ mcpServers: { other: entry } }));
  await until(() => offers("other_hello"));
  assert.not.ok(await offers("echo_hello"));
  await until(() => !isAlive(first));
  const second = Number(readFileSync(pidFile, "utf8"));
  await server.stop();
  await until(() => !isAlive(second));
  folder.remove();
});

test("a signal ends trivet stdio with the processes of its servers, also those that ignore the end of their input", async () => {
  const folder = temporaryFolder();
  const [file, script, pidFile] = ["mcp.json", "server.mjs", "pid"].map((name) => join(folder.path, name));
  writeFileSync(script!, SERVER + "setInterval(() => {}, 1000);");
  const [command, before] = runtimeCommand();
  const stubborn = { command, args: [...before, script], env: { PID_FILE: pidFile, WHO: "you" } };
  writeFileSync(file!, JSON.stringify({ mcpServers: { stubborn } }));
  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    rmSync(pidFile!, { force: true });
    const args = ["stdio", "--data", join(folder.path, "data"), "--mcp-servers", file!];
    const child = spawn(command, [...before, CLI, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(child, "exit");
    let output = "";
    child.stdout.on("data", (chunk) => output += chunk);
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const messages = [{ method: "initialize", params }, { method: "tools/list" }];
    for (const [id, message] of messages.entries()) {
      child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, ...message }) + "\n");
    }
    await until(() => output.includes("stubborn_hello"), "the tools");
    process.kill(child.pid!, signal);
    await ended;
    const pid = Number(readFileSync(pidFile!, "utf8"));
    await until(() => !isAlive(pid), "the end of the server");
  }
  folder.remove();
});

test("a file with problems is refused before anything is made, naming every place", async () => {
  const folder = temporaryFolder();
  const file = join(folder.path, "mcp.json");
  const data = join(folder.path, "data");
  writeFileSync(
    file,
    JSON.stringify({ mcpServers: { a: { url: "nothing" }, b: { command: "x", arg: [] } } }),
  );
  for (
    const [path, expected] of [[file, /mcpServers\.a\.url.*mcpServers\.b\.arg/s], [
      "absent.json",
      /cannot read "absent.json": no such file/,
    ]] as const
  ) {
    const { code, stderr } = await trivet(["serve", "--data", data, "--mcp-servers", path]);
    assert.is(code, 2);
    assert.match(stderr, expected);
  }
  assert.not.ok(existsSync(data));
  folder.remove();
});

test("a misspelled member of the file is refused, and those of MCP clients are not", async () => {
  const folder = temporaryFolder();
  const file = join(folder.path, "mcp.json");
  const data = join(folder.path, "data");
  const rule = { rules: [{ tools: ["*"], effect: "deny" }] };
  for (const [name, known] of [["policies", "policy"], ["Policy", "policy"], ["holds", "hold"]] as const) {
    writeFileSync(file, JSON.stringify({ inputs: [], mcpServers: {}, [name]: rule }));
    const { code, stderr } = await trivet(["serve", "--data", data, "--mcp-servers", file]);
    assert.is(code, 2);
    assert.match(stderr, `${name}: unknown property. Did you mean "${known}"?`);
    assert.not.match(stderr, "inputs");
  }
  assert.not.ok(existsSync(data));
  folder.remove();
});

test.run();
