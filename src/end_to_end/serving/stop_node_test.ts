/**
 * What a server does between the signal to stop and its end, with the official client where streams are concerned.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.d.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/types.d.ts"
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dropStore } from "../../../scripts/cluster/cluster.ts";
import { CutProxy } from "../../../scripts/faults/cut_proxy.ts";
import { findEngine } from "../../store/test_engines.ts";
import {
  CLI,
  type RunningTrivet,
  runtimeCommand,
  startTrivet,
  temporaryFolder,
  trivet,
} from "../test_process.ts";
import { until } from "../../test_until.ts";

const test = suite("end_to_end/stop");
const folder = temporaryFolder();
const TOOLS = join(folder.path, "tools.ts");
const LIBRARY = new URL("../../mod.ts", import.meta.url).href;
/** The tool `slow` writes it when it is called. */
const BEGUN = join(folder.path, "begun");
/** Writes a module with tools. @param more another one */
function writeTools(file: string, more = ""): void {
  writeFileSync(
    file,
    `import { tool } from ${JSON.stringify(LIBRARY)};
import { writeFileSync } from "node:fs";
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const begin = () => writeFileSync(${JSON.stringify(BEGUN)}, "");
export default [
  tool({ name: "slow", description: "Takes a second", run: async () => (begin(), await wait(1000), "slow done") }),
  tool({
    name: "reports",
    description: "Reports progress, takes a second",
    run: async (_, { progress }) => (await progress(1), await wait(1000), "reports done"),
  }),
  tool({
    name: "endless",
    description: "Reports progress and never ends",
    run: async (_, { progress }) => (await progress(1), await wait(3_600_000), "never"),
  }),
  tool({ name: "silent", description: "Never ends", run: () => (begin(), wait(3_600_000)) }),
  ${more}
];
`,
  );
}
writeTools(TOOLS);

let number = 0;
/** Servers of one test share their data. */
const newOptions = () => ["--data", join(folder.path, String(++number)), "--allow-host", "*"];
const start = (options: readonly string[]) => startTrivet([TOOLS, ...options]);

/**
 * An official client whose requests go to the server that `at` names, as through a load balancer. `at.opened` is called when
 * it has a stream.
 */
async function connect(at: { server: RunningTrivet; opened?: () => void }) {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(at.server.facts.mcp), {
    fetch: async (url, init) => {
      const { pathname } = new URL(url);
      const response = await fetch(at.server.facts.url + pathname, init);
      if (init?.method === "GET" && response.ok) at.opened?.();
      return response;
    },
  });
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return client;
}

/** A call that has reported its progress. */
async function begin(client: Client, name: string) {
  const began = Promise.withResolvers<void>();
  const result = client.callTool({ name, arguments: {} }, undefined, { onprogress: () => began.resolve() });
  result.catch(() => {});
  await began.promise;
  return { result };
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]!.text;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a client whose stream ends with the server comes back to another one, and misses no change", async () => {
  const options = newOptions();
  const one = await start(options);
  const watched = join(folder.path, "watched.ts");
  writeTools(watched);
  const two = await startTrivet([watched, "--watch", "--issuer", one.facts.issuer, ...options]);
  const opened = Promise.withResolvers<void>();
  const at = { server: one, opened: opened.resolve };
  const client = await connect(at);
  try {
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    // The client opens its stream beside its first requests.
    await client.listTools();
    await opened.promise;
    at.server = two;
    const ended = one.stop();
    writeTools(watched, `tool({ name: "added", description: "Is new", run: () => "added" }),`);
    const began = performance.now();
    assert.is(await ended, 0);
    assert.ok(performance.now() - began < 5000, "no stream keeps the server from its end");
    await until(() => changes > 0, "the notification");
    assert.ok((await client.listTools()).tools.some(({ name }) => name === "added"));
  } finally {
    await client.close();
    if (one.child.exitCode === null && one.child.signalCode === null) await one.stop();
    await two.stop();
  }
});

test("after a signal requests and tool calls finish, with a stream and without, and then the process ends", async () => {
  const server = await start(newOptions());
  const client = await connect({ server });
  const { result: reporting } = await begin(client, "reports");
  const slow = client.callTool({ name: "slow", arguments: {} });
  await until(() => existsSync(BEGUN), "the call of the tool");
  const ended = server.stop();
  assert.equal([textOf(await reporting), textOf(await slow)], ["reports done", "slow done"]);
  assert.is(await ended, 0);
  assert.is(await fetch(server.facts.url).then(() => "answered", () => "closed"), "closed");
  assert.is(server.problems(), "");
});

test("a call that does not end gets an error at the end of --stop-timeout, and the process ends", async () => {
  const server = await start([...newOptions(), "--stop-timeout", "2"]);
  const client = await connect({ server });
  const { result: call } = await begin(client, "endless");
  const began = performance.now();
  const ended = server.stop();
  const error = await call.then(() => undefined, (error) => error);
  assert.is(error?.code, -32603, String(error));
  assert.match(error.message, "Send the request again");
  assert.is(await ended, 0);
  const milliseconds = performance.now() - began;
  assert.ok(milliseconds > 1000 && milliseconds < 8000, `${milliseconds} ms`);
});

test("a request without a stream gets 503 then, and a terminal that closes stops the server in this way", async () => {
  const server = await start([...newOptions(), "--stop-timeout", "2"]);
  rmSync(BEGUN, { force: true });
  const call = fetch(server.facts.mcp, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"silent","arguments":{}}}',
  });
  await until(() => existsSync(BEGUN), "the call of the tool");
  const ended = server.stop("SIGHUP");
  // The system and the shell each send it.
  await pause(100);
  process.kill(server.child.pid!, "SIGHUP");
  const response = await call;
  assert.equal([response.status, response.headers.get("retry-after")], [503, "1"]);
  assert.is((await response.json()).error, "temporarily_unavailable");
  assert.is(await ended, 0);
});

test("a signal ends a start that waits for its module", async () => {
  const [module, loading] = [join(folder.path, "hangs.ts"), join(folder.path, "loading")];
  writeFileSync(
    module,
    `import { writeFileSync } from "node:fs";
writeFileSync(${JSON.stringify(loading)}, "");
await new Promise((resolve) => setTimeout(resolve, 60_000));
export default [];
`,
  );
  const [command, before] = runtimeCommand();
  const args = [...before, CLI, "serve", module, "--port", "0", ...newOptions()];
  const child = spawn(command, args, { stdio: "ignore" });
  const ended = once(child, "close");
  await until(() => existsSync(loading), "the module");
  const began = performance.now();
  process.kill(child.pid!, "SIGTERM");
  assert.is((await ended)[0], 0);
  assert.ok(performance.now() - began < 5000);
});

test("a second signal ends the process at once", async () => {
  const server = await start([...newOptions(), "--stop-timeout", "60", "--drain", "60000"]);
  const began = performance.now();
  const first = server.stop();
  await pause(300);
  assert.is(await server.stop("SIGINT"), 1);
  assert.is(await first, 1);
  assert.ok(performance.now() - began < 5000);
});

test("what was acknowledged while the server drained survives its kill, and the audit trail is complete after its end", async () => {
  const options = newOptions();
  const server = await start([...options, "--drain", "60000"]);
  const { client: { id, secret }, issuer } = server.facts;
  const post = (url: string, form: Record<string, string>) =>
    fetch(url, {
      method: "POST",
      headers: { authorization: "Basic " + btoa(`${id}:${secret}`) },
      body: new URLSearchParams(form),
    });
  const tokens: string[] = [];
  const killed = server.stop();
  await pause(200);
  const issue = async () => {
    for (;;) {
      const response = await post(`${server.facts.url}/oauth/token`, { grant_type: "client_credentials" });
      tokens.push((await response.json()).access_token);
    }
  };
  const issuing = Promise.allSettled([issue(), issue(), issue()]);
  await until(() => tokens.length > 20, "tokens");
  process.kill(server.child.pid!, "SIGKILL");
  await killed;
  await issuing;

  const again = await start([...options, "--issuer", issuer]);
  for (const token of tokens) {
    const { active } = await (await post(`${again.facts.url}/oauth/introspect`, { token })).json();
    assert.is(active, true);
  }
  const body = new URLSearchParams({ username: "stranger", password: "wrong" });
  await fetch(`${again.facts.url}/login`, { method: "POST", body });
  assert.is(await again.stop(), 0);
  const listed = await trivet(["audit", "list", "--type", "login_failed", "--json", ...options.slice(0, 2)]);
  assert.is(JSON.parse(listed.stdout).data.length, 1);
  assert.is((await trivet(["audit", "verify", ...options.slice(0, 2)])).code, 0);
});

test("a server whose store went away ends in time, with an error that says what was lost", async () => {
  for (const engine of ["postgres", "redis"] as const) {
    const address = await findEngine(engine);
    if (address === undefined) continue;
    const proxy = new CutProxy(Number(new URL(address).port));
    await proxy.start();
    const space = `trivet_test_stop_${Math.random().toString(36).slice(2, 8)}`;
    const direct = `${address}?${engine === "redis" ? "name" : "schema"}=${space}`;
    const url = new URL(direct);
    url.host = `127.0.0.1:${proxy.port}`;
    try {
      const server = await startTrivet([
        "--store",
        `${url}&timeout=1`,
        "--stop-timeout",
        "3",
        ...newOptions(),
      ]);
      const body = new URLSearchParams({ username: "stranger", password: "wrong" });
      await fetch(`${server.facts.url}/login`, { method: "POST", body });
      // The record of the failed login is not yet written.
      proxy.refuse();
      const began = performance.now();
      assert.is(await server.stop(), 1, engine);
      assert.ok(performance.now() - began < 8000, engine);
      assert.match(server.stderr(), /^trivet serve: .*audit trail/m);
    } finally {
      await proxy.stop();
      await dropStore(direct);
    }
  }
});

test.after(() => folder.remove());
test.run();
