import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  Client as ClientV2,
  type ClientOptions,
  StreamableHTTPClientTransport as HttpV2,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.d.ts"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/sse.d.ts"
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.d.ts"
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/types.d.ts"
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startTrivet } from "../test_process.ts";
import { environment, stdioCommand, toolFolder } from "./test_tool_folder.ts";
import { until } from "../../test_until.ts";

const test = suite("trivet serve and stdio --watch");
const folder = toolFolder();
const data = ["--data", join(folder.path, "data")];
test.after(() => folder.remove());

const info = { name: "trivet-test", version: "1.0.0" };
type Connect = Parameters<ClientV1["connect"]>[0];

/** A module with tools of these names; each returns its name and the word of another file. */
const moduleOf = (names: readonly string[], word: string = ""): string =>
  `import { tool } from "trivet";
${word === "" ? 'const word: string = "alone";' : `import { word } from "${word}";`}
const make = (name: string) => tool({ name, description: "A tool", run: () => \`\${name} \${word}\` });
export default [${names.map((name) => `make("${name}")`).join(", ")}];
`;

interface Caller {
  callTool(call: { name: string }): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string }[] }>;
}

async function call(client: Caller, name: string): Promise<string> {
  const { content: [block] } = await client.callTool({ name }) as { content: { text: string }[] };
  return block!.text;
}

/** A client of `trivet stdio --watch`, its count of notifications, and the standard error of the process. */
async function watchOverStdio(file: string): Promise<{
  client: ClientV1;
  changes: () => number;
  stderr: () => string;
}> {
  const client = new ClientV1(info);
  let changes = 0;
  let stderr = "";
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
  const transport = new StdioV1({
    ...stdioCommand([file, "--watch", ...data]),
    env: environment(),
    stderr: "pipe",
  });
  transport.stderr!.on("data", (chunk: Uint8Array) => stderr += chunk);
  await client.connect(transport as Connect);
  return { client, changes: () => changes, stderr: () => stderr };
}

test("over stdio: a changed CommonJS file, and one that it requires, are reloaded", async () => {
  const requiring = (name: string): string =>
    `const { tool } = require("trivet");
const { word } = require("./word.cjs");
module.exports = [tool({ name: "${name}", description: "A tool", run: () => \`${name} \${word}\` })];
`;
  folder.write("word.cjs", 'exports.word = "first";');
  const { client, changes, stderr } = await watchOverStdio(folder.write("old.cjs", requiring("one")));
  assert.is(await call(client as unknown as Caller, "one"), "one first");
  folder.write("old.cjs", requiring("two"));
  await until(() => changes() === 1, "the notification");
  assert.is(await call(client as unknown as Caller, "two"), "two first");
  folder.write("word.cjs", 'exports.word = "second";');
  // The list stays the same, so that there is no notification.
  let answer = "";
  for (let i = 0; i < 1200 && answer !== "two second"; i++) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    answer = await call(client as unknown as Caller, "two");
  }
  assert.is(answer, "two second");
  assert.not.match(stderr(), "Error");
  await client.close();
});

test("over stdio: a changed file is reloaded and the client is notified", async () => {
  const file = folder.write("plain.ts", moduleOf(["one"]));
  const { client, changes, stderr } = await watchOverStdio(file);
  assert.is(await call(client as unknown as Caller, "one"), "one alone");
  folder.write("plain.ts", moduleOf(["one", "two"]));
  await until(() => changes() === 1, "the notification");
  assert.is(await call(client as unknown as Caller, "two"), "two alone");
  folder.write("plain.ts", moduleOf(["three"]));
  await until(() => changes() === 2, "the second notification");
  const { tools } = await client.listTools();
  assert.equal(tools.map(({ name }) => name), ["three"]);
  await client.close();
  assert.is(
    stderr(),
    `trivet: reloaded "${file}": one, two\ntrivet: reloaded "${file}": three\n`,
  );
});

test("a change of an imported file, at any depth, reloads the module", async () => {
  folder.write("near/word.ts", 'export { word } from "./deep/word.ts";\n');
  folder.write("near/deep/word.ts", 'export const word: string = "first";\n');
  const file = folder.write("near/tools.ts", moduleOf(["one"], "./word.ts"));
  const { client, stderr } = await watchOverStdio(file);
  assert.is(await call(client as unknown as Caller, "one"), "one first");
  folder.write("near/deep/word.ts", 'export const word: string = "second";\n');
  await until(() => stderr().includes("reloaded"), "a second load");
  assert.is(await call(client as unknown as Caller, "one"), "one second");
  await client.close();
});

test("a broken file is reported with its position and the previous tools stay until it is corrected", async () => {
  folder.write("broken/word.ts", 'export const word: string = "whole";\n');
  const file = folder.write("broken/tools.ts", moduleOf(["one"], "./word.ts"));
  const { client, changes, stderr } = await watchOverStdio(file);
  const broken = [
    ["broken/word.ts", '\nexport const word: string = = "broken";\n', /word\.ts:2/],
    [
      "broken/word.ts",
      'export const word: string = "thrown";\nthrow new Error("Boom");\n',
      /Boom\n.*word\.ts:2/,
    ],
    ["broken/tools.ts", moduleOf(["one", "one"]), /"one"/],
    ["broken/tools.ts", "", /broken\/tools\.ts"[^\n]*tool\(\)/],
    ["broken/tools.ts", moduleOf(["one"], "./absent.ts"), "absent.ts"],
  ] as const;
  /** Each report has the error, and the line that the previous definitions stay in use. */
  const lines = () => stderr().match(/^trivet: /gm)?.length ?? 0;
  let reports = 0;
  for (const [name, text, message] of broken) {
    folder.write(name, text);
    reports++;
    await until(() => lines() === 2 * reports, `report ${reports}`);
    assert.match(stderr(), message);
    assert.is(await call(client as unknown as Caller, "one"), "one whole");
  }
  rmSync(file);
  await until(() => lines() === 2 * (reports + 1), "the report of the removed file");
  folder.write("broken/word.ts", 'export const word: string = "corrected";\n');
  folder.write("broken/tools.ts", moduleOf(["one", "two"], "./word.ts"));
  await until(() => changes() === 1, "the notification of the corrected file");
  assert.is(await call(client as unknown as Caller, "two"), "two corrected");
  assert.not.match(stderr(), "trivet=");
  await client.close();
});

test("over stdio, in 2026-07-28: a subscribed client is notified", async () => {
  const file = folder.write("modern.ts", moduleOf(["one"]));
  const received: string[][] = [];
  const client = new ClientV2(info, modern((names) => received.push(names)));
  await client.connect(
    new StdioV2({ ...stdioCommand([file, "--watch", ...data]), env: environment(), stderr: "ignore" }),
  );
  folder.write("modern.ts", moduleOf(["one", "two"]));
  await until(() => received.length > 0, "the notification");
  assert.ok(received[0]!.includes("two"));
  assert.is(await call(client as unknown as Caller, "two"), "two alone");
  await client.close();
});

function modern(onTools: (names: string[]) => void): ClientOptions {
  return {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
    listChanged: {
      tools: { onChanged: (_, tools) => onTools((tools ?? []).map(({ name }) => name)) },
    },
  };
}

test("over HTTP: clients of each revision are notified, and SIGTERM ends open streams", async () => {
  const file = folder.write("http.ts", moduleOf(["one"]));
  const server = await startTrivet([file, "--watch", "--sse", ...data]);
  const url = new URL(server.facts.mcp);
  const old = new ClientV1(info);
  let changes = 0;
  old.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
  const opened = Promise.withResolvers<void>();
  const oldTransport = new HttpV1(url, {
    reconnectionOptions: NO_RETRY,
    async fetch(to, init) {
      const response = await fetch(to, init);
      if (init?.method === "GET" && response.ok) opened.resolve();
      return response;
    },
  });
  oldTransport.onerror = () => {};
  await old.connect(oldTransport as Connect);
  const oldest = new ClientV1(info);
  oldest.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
  await oldest.connect(new SseV1(new URL(url + "/sse")) as Connect);
  const received: string[][] = [];
  const modernClient = new ClientV2(info, modern((names) => received.push(names)));
  await modernClient.connect(new HttpV2(url, { reconnectionOptions: NO_RETRY }));
  // The stream of a session opens after the handshake.
  await opened.promise;

  folder.write("http.ts", moduleOf(["one", "two"]));
  await until(() => changes === 2 && received.length > 0, "the notification");
  for (const client of [old, oldest, modernClient]) {
    assert.is(await call(client as unknown as Caller, "two"), "two alone");
  }
  const started = performance.now();
  assert.is(await server.stop(), 0);
  const took = performance.now() - started;
  assert.ok(took < 3000, `stopping took ${took} ms`);
  assert.is(server.problems(), `trivet: reloaded "${file}": one, two\n`);
  await Promise.all([old, oldest, modernClient].map((client) => client.close().catch(() => {})));
});

const NO_RETRY = {
  maxRetries: 0,
  initialReconnectionDelay: 1,
  maxReconnectionDelay: 1,
  reconnectionDelayGrowFactor: 1,
};

test("SIGTERM ends a subscription of 2026-07-28 with its result", async () => {
  const server = await startTrivet(data);
  const response = await fetch(server.facts.mcp, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: "s",
      method: "subscriptions/listen",
      params: {
        notifications: { toolsListChanged: true },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": info,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  assert.is(response.status, 200);
  const text = response.text();
  const started = performance.now();
  assert.is(await server.stop(), 0);
  assert.ok(performance.now() - started < 3000);
  const messages = [...(await text).matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!));
  assert.is(messages[0].method, "notifications/subscriptions/acknowledged");
  assert.is(messages.at(-1).id, "s");
  assert.is(messages.at(-1).result.resultType, "complete");
});

test("a timer of the module does not keep the process running", async () => {
  const file = folder.write("open.ts", moduleOf(["one"]) + "setInterval(() => {}, 1000);\n");
  const server = await startTrivet([file, ...data]);
  const started = performance.now();
  assert.is(await server.stop(), 0);
  assert.ok(performance.now() - started < 5000);
});

test("without --sse, HTTP+SSE is not found; without --watch, a changed file is not reloaded", async () => {
  const file = folder.write("still.ts", moduleOf(["one"]));
  const server = await startTrivet([file, ...data]);
  assert.is((await fetch(server.facts.mcp + "/sse")).status, 404);
  folder.write("still.ts", moduleOf(["two"]));
  await new Promise((resolve) => setTimeout(resolve, 800));
  const client = new ClientV2(info);
  await client.connect(new HttpV2(new URL(server.facts.mcp)));
  assert.is(await call(client as unknown as Caller, "one"), "one alone");
  await client.close();
  assert.is(await server.stop(), 0);
});

test.run();
