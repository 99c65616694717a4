/**
 * `mcp-remote`, a proxy from standard input to an MCP server with OAuth: it registers itself, requests every scope that the
 * server advertises, and receives the redirect on a loopback port.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as v from "valibot";
import { addUser, createTrivet, memoryStore, tool, type Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { newPerson } from "../oauth/test_person.ts";

const test = suite("mcp-remote");
const [, serve] = Object.entries(entries)[0]!;
const TIMEOUT_MS = 60_000;
let server: RunningServer;
let issuer: string;

test.before(async () => {
  const store = memoryStore();
  await addUser(store, { username: "alice", password: "wonderland" }, 1000);
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  issuer = `http://127.0.0.1:${server.port}`;
  const read = tool({
    name: "read",
    description: "Reads",
    scopes: ["read"],
    input: v.object({}),
    run: () => "done",
  });
  resolve(createTrivet({ issuer, store, mcp: { auth: "required", tools: [read] } }));
});
test.after(() => server.close());

test("mcp-remote registers, gets every advertised scope, and calls a tool", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-remote-"));
  const child = spawn(
    "node_modules/.bin/node",
    ["node_modules/mcp-remote/dist/proxy.js", `${issuer}/mcp`],
    { env: { ...process.env, MCP_REMOTE_CONFIG_DIR: folder, BROWSER: "false" } },
  );
  const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
  try {
    let log = "";
    const authorizationUrl = Promise.withResolvers<URL>();
    child.stderr.on("data", (chunk) => {
      log += chunk;
      const url = /(http:\/\/\S+\/oauth\/authorize\?\S+)\s/.exec(log)?.[1];
      if (url !== undefined) authorizationUrl.resolve(new URL(url));
    });
    child.on("exit", () => authorizationUrl.reject(new Error(`mcp-remote exited: ${log}`)));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const send = (message: object): void =>
      void child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
    const receive = async () => JSON.parse((await lines.next()).value ?? "");

    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    });
    const url = await authorizationUrl.promise;
    const callback = await newPerson("alice", "wonderland").allow(url);
    assert.is(callback.searchParams.get("error"), null);
    assert.is((await fetch(callback)).status, 200);
    assert.is((await receive()).id, 1);
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "read", arguments: {} } });
    assert.is((await receive()).result?.content[0].text, "done", log);

    // It requests all advertised scopes, so a client that registered itself must be able to get each.
    const metadata = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json();
    const scopes = url.searchParams.get("scope")!.split(" ");
    assert.equal(metadata.scopes_supported.filter((scope: string) => !scopes.includes(scope)), []);
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
