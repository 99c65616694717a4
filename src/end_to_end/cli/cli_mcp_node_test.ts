import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CLI, newDataFolder, runtimeCommand, temporaryFolder, trivet } from "../test_process.ts";
import { runCommand } from "./test_command.ts";

const test = suite("trivet mcp");
const folder = temporaryFolder();
test.after(() => folder.remove());

/** An MCP server whose texts attack terminals. `wait` answers never, and says in a file what happened. */
const SERVER = `
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import process from "node:process";
const HOSTILE = "\\u001b]0;title\\u0007\\u009b1m\\u202ehidden";
const object = (properties = {}, required = []) => ({ type: "object", properties, required });
const tools = [
  { name: "hostile", description: HOSTILE, inputSchema: object(), annotations: { readOnlyHint: true } },
  { name: "add", inputSchema: object({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]) },
  { name: "fail", inputSchema: object() },
  { name: "ask", inputSchema: object() },
  { name: "image", inputSchema: object() },
  { name: "wait", inputSchema: object() },
];
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const text = (text, more) => ({ content: [{ type: "text", text }], ...more });
let asking;
function call(id, { name, arguments: input, _meta }) {
  if (name === "hostile") {
    send({ method: "notifications/message", params: { level: "error", logger: HOSTILE, data: HOSTILE } });
    const progressToken = _meta.progressToken;
    send({ method: "notifications/progress", params: { progressToken, progress: 1, message: HOSTILE } });
    return text("line one\\nline two " + HOSTILE, { structuredContent: { [HOSTILE]: HOSTILE } });
  }
  if (name === "add") return text(String(input.a + input.b));
  if (name === "fail") return text("it broke", { isError: true });
  if (name === "image") return { content: [{ type: "image", mimeType: "image/png", data: "aGVsbG8=" }] };
  if (name === "wait") return void writeFileSync(process.env.STATE_FILE, "running");
  asking = id;
  const requestedSchema = object({ name: { type: "string", title: HOSTILE } }, ["name"]);
  send({ id: "q", method: "elicitation/create", params: { message: HOSTILE, requestedSchema } });
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (id === "q") return send({ id: asking, result: text("hello " + result.content.name) });
  if (method === "notifications/cancelled") writeFileSync(process.env.STATE_FILE, "cancelled");
  if (id === undefined) return;
  if (method === "initialize") {
    const capabilities = { tools: {}, logging: {} };
    const serverInfo = { name: "scripted" + HOSTILE, version: "1" };
    return send({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo, instructions: HOSTILE } });
  }
  const answer = method === "tools/list" ? { tools } : method === "tools/call" ? call(id, params) : {};
  if (method === "server/discover") send({ id, error: { code: -32601, message: HOSTILE } });
  else if (answer) send({ id, result: answer });
});
`;
const script = join(folder.path, "server.mjs");
const file = join(folder.path, "mcp.json");
const stateFile = join(folder.path, "state");
writeFileSync(script, SERVER);
const [command, before] = runtimeCommand();
const entry = { command, args: [...before, script], env: { STATE_FILE: stateFile } };
writeFileSync(
  file,
  JSON.stringify({ mcpServers: { scripted: { ...entry, autoApprove: ["of another client"] } } }),
);

const mcp = (...args: string[]) =>
  runCommand(["mcp", ...args], { TRIVET_MCP_SERVERS: file, TRIVET_URL: undefined });
// deno-lint-ignore no-control-regex
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;

test("test, inspect and call print nothing of a server that a terminal would interpret", async () => {
  for (
    const words of [
      ["test", "scripted"],
      ["inspect", "scripted"],
      ["inspect", "scripted", "--json"],
      ["call", "scripted", "hostile"],
      ["call", "scripted", "hostile", "--json"],
    ]
  ) {
    const { code, stdout, stderr } = await mcp(...words);
    assert.is(code, 0, stderr);
    assert.match(stdout + stderr, /\\u\{?(1b|001b)/);
    assert.not.match(stdout + stderr, UNSAFE, words.join(" "));
  }
});

test("inspect warns of hidden text, and shows what the tools are", async () => {
  const { stdout } = await mcp("inspect", "scripted");
  assert.match(stdout, /tool hostile: hidden_characters at description/);
  assert.match(stdout, /instructions: terminal_escape/);
  assert.match(stdout, /hints: read-only/);
  const { tools, warnings, revision } = JSON.parse((await mcp("inspect", "scripted", "--json")).stdout);
  assert.is(tools.length, 6);
  assert.is(revision, "2025-11-25");
  assert.ok(warnings.length > 1);
});

test("call checks arguments before it sends them, prints the result, and fails with the tool", async () => {
  const sum = await mcp("call", "scripted", "add", "--argument", "a=1", "--argument", "b=2");
  assert.equal([sum.code, sum.stdout], [0, "3\n"]);
  const input = await mcp("call", "add", "--input", '{"a":1,"b":2}', "--", command, ...before, script);
  assert.equal([input.code, input.stdout], [0, "3\n"]);
  for (
    const [words, code, message] of [
      [["add", "--argument", "a=1"], 2, /"b"/],
      [["add", "--argument", "a=x"], 2, /a must be a number/],
      [["add", "--input", "[]"], 2, /--input must be/],
      [["ad"], 1, /Did you mean "add"/],
      [["fail"], 1, /fail failed/],
      [[], 2, /missing argument: TOOL/],
    ] as const
  ) {
    const outcome = await mcp("call", "scripted", ...words);
    assert.is(outcome.code, code, outcome.stderr);
    assert.match(outcome.stderr, message);
  }
  assert.is((await mcp("call", "scripted", "fail")).stdout, "it broke\n");
});

test("--save writes files under names of its own, and replaces none", async () => {
  const saved = join(folder.path, "saved");
  assert.match((await mcp("call", "scripted", "image")).stdout, /image\/png, 5 B/);
  assert.is((await mcp("call", "scripted", "image", "--save", saved)).code, 0);
  assert.is(readFileSync(join(saved, "image-1.png"), "utf8"), "hello");
  assert.is((await mcp("call", "scripted", "image", "--save", saved)).code, 1);
});

test("--ask answers what the server asks", async () => {
  const words = ["mcp", "call", "scripted", "ask", "--file", file, "--ask"];
  const { code, stdout, stderr } = await trivet(words, { input: "y\nAda\n" });
  assert.is(code, 0, stderr);
  assert.is(stdout, "hello Ada\n");
  assert.not.match(stderr, UNSAFE);
});

/** A file can be there before its text is. */
async function untilState(expected: string): Promise<void> {
  const read = () => existsSync(stateFile) ? readFileSync(stateFile, "utf8") : "";
  for (let i = 0; i < 400 && read() !== expected; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.is(read(), expected);
}

test("Ctrl-C cancels the call at the server", async () => {
  const child = spawn(command, [
    ...before,
    CLI,
    "mcp",
    "call",
    "wait",
    "--env",
    "STATE_FILE=" + stateFile,
    "--",
    ...[command, ...before, script],
  ], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  await untilState("running");
  process.kill(child.pid!, "SIGINT");
  assert.is(await ended, 130);
  await untilState("cancelled");
});

test("test says what a server that answers 401 asks for, and sends a token of the environment", async () => {
  const seen: unknown[] = [];
  const server = createServer((request, response) => {
    const { port } = server.address() as { port: number };
    const origin = `http://127.0.0.1:${port}`;
    if (request.url === "/metadata") {
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({
        resource: `${origin}/mcp`,
        authorization_servers: ["https://login.example"],
        scopes_supported: ["read"],
      }));
    }
    seen.push(request.headers.authorization);
    response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${origin}/metadata"` });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/mcp`;
  const { code, stdout, stderr } = await mcp("test", url);
  assert.is(code, 1);
  assert.match(stdout, /401/);
  assert.match(stdout, /authorization servers +https:\/\/login\.example/);
  assert.match(stdout, /scopes +read/);
  assert.match(stderr, /^trivet mcp: http:\/\/127/);
  const json = await runCommand(["mcp", "test", url, "--json", "--token-env", "SECRET_OF_TEST"], {
    SECRET_OF_TEST: "a-token",
  });
  assert.is(json.code, 1);
  assert.equal(JSON.parse(json.stdout).authorization.authorization_servers, ["https://login.example"]);
  assert.is(seen.at(-1), "Bearer a-token");
  assert.not.match(json.stdout + json.stderr, "a-token");
  const plain = await runCommand(
    ["mcp", "test", "http://tools.example/mcp", "--token-env", "SECRET_OF_TEST"],
    {
      SECRET_OF_TEST: "a-token",
    },
  );
  assert.equal([plain.code, /needs https/.test(plain.stderr)], [2, true]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("add, list, show and remove work on a file, and keep all else in it", async () => {
  const other = join(folder.path, "other.json");
  writeFileSync(other, '{\n\t"inputs": [1],\n\t"servers": {}\n}', { mode: 0o640 });
  const on = (...words: string[]) => mcp(...words, "--file", other);
  const added = await on(
    "add",
    "web",
    "https://a.example/mcp?key=1",
    "--header",
    "X-Key: ${KEY}",
    "--auth",
    "oauth",
  );
  assert.is(added.code, 0, added.stderr);
  assert.is(
    (await runCommand(["mcp", "add", "own", "--file", other, "--", "node", "a.js", "--flag", "-h", "--help"]))
      .code,
    0,
  );
  const text = readFileSync(other, "utf8");
  assert.match(text, /^\{\n\t"inputs": \[\n\t\t1/);
  assert.equal(JSON.parse(text), {
    inputs: [1],
    servers: {
      web: {
        type: "http",
        url: "https://a.example/mcp?key=1",
        headers: { "X-Key": "${KEY}" },
        auth: { type: "oauth" },
      },
      own: { type: "stdio", command: "node", args: ["a.js", "--flag", "-h", "--help"] },
    },
  });
  assert.is(statSync(other).mode & 0o777, 0o640);
  assert.match((await on("list")).stdout, /web {3}https:\/\/a\.example\/mcp\n/);
  for (
    const [words, message] of [
      [["add", "web", "https://b.example"], /already/],
      [["show", "wbe"], /Did you mean "web"/],
      [["add", "x", "ftp://b.example"], /url: must be a URL/],
      [["add", "x", "https://b.example", "--auth", "magic"], /--auth must be/],
      [
        ["add", "x", "https://b.example", "--header", "Authorization: a", "--auth", "oauth"],
        /is set by auth/,
      ],
      [["add", "x", "https://b.example", "--header", "A: {secret}", "--secret-stdin"], /keeps no secrets/],
      [["add", "x"], /URL, or -- COMMAND/],
      [["list", "--data", "x"], /exclude each other/],
    ] as const
  ) {
    const { code, stderr } = await on(...words);
    assert.ok(code > 0);
    assert.match(stderr, message);
  }
  assert.is(readFileSync(other, "utf8"), text);
  assert.is((await on("remove", "web")).code, 0);
  assert.equal(Object.keys(JSON.parse(readFileSync(other, "utf8")).servers), ["own"]);
});

test("on a store, header fields are sealed and a secret comes from standard input", async () => {
  const data = await newDataFolder(join(folder.path, "data"));
  const words = [
    "mcp",
    "add",
    "web",
    "https://a.example/mcp",
    "--header",
    "X-Key: {secret}",
    "--secret-stdin",
  ];
  const added = await trivet([...words, "--data", data], { input: "s3cret-value\n" });
  assert.is(added.code, 0, added.stderr);
  const listed = JSON.parse((await mcp("list", "--data", data, "--json")).stdout);
  assert.equal([listed.data[0].name, listed.data[0].source], ["web", "store"]);
  const shown = await mcp("show", "web", "--data", data);
  assert.not.match(shown.stdout + JSON.stringify(listed), "s3cret-value");
  const again = await mcp("add", "web", "https://b.example/mcp", "--data", data);
  assert.equal([again.code, /taken/.test(again.stderr)], [1, true]);
  assert.is((await mcp("remove", "web", "--data", data)).stdout, "Removed web\n");
  assert.match((await mcp("remove", "web", "--data", data)).stderr, /trivet mcp list/);
});

test("the error distinguishes a server that is not running from one without TLS", async () => {
  const plain = createServer((request, response) =>
    response.writeHead(Number(request.url!.slice(1)) || 200).end()
  )
    .listen(0, "127.0.0.1");
  await new Promise((resolve) => plain.once("listening", resolve));
  const { port } = plain.address() as { port: number };
  const tls = await trivet(["mcp", "test", `https://127.0.0.1:${port}/mcp`]);
  // A page or an API that is no MCP server.
  for (const status of [404, 405, 415]) {
    const { code, stderr } = await trivet(["mcp", "test", `http://127.0.0.1:${port}/${status}`]);
    assert.is(code, 1);
    assert.match(stderr, new RegExp(`HTTP ${status}\\. Check the URL`));
  }
  await new Promise((resolve) => plain.close(resolve));
  const closed = await trivet(["mcp", "test", `http://127.0.0.1:${port}/mcp`]);
  assert.equal([tls.code, closed.code], [1, 1]);
  assert.match(tls.stderr, "http instead of https");
  assert.match(closed.stderr, `127.0.0.1:${port} refused`);
});

test("misspelled words get the nearest one", async () => {
  for (
    const [words, message] of [
      [["tets", "scripted"], /Did you mean "test"/],
      [["delete", "scripted"], /Did you mean "remove"/],
      [["test", "scriptde"], /Did you mean "scripted"/],
      [["call", "scripted", "add", "--argumnt", "a=1"], /Did you mean "--argument"/],
    ] as const
  ) {
    const { code, stderr } = await mcp(...words);
    assert.ok(code > 0);
    assert.match(stderr, message);
  }
});

test.run();
