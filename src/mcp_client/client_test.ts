/**
 * The client against Trivet's own server in one process: every revision, over every transport.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { prompt, resource, resourceTemplate, tool, ToolError } from "../mcp_service.ts";
import type { ClientTransport, McpClientOptions } from "../mcp_client.ts";
import { createMcpClient } from "./create_client.ts";
import { failure, newToolServer, transportTo } from "./test_servers.ts";
import { until } from "../test_until.ts";

const test = suite("mcp client");
const NOTHING = { type: "object" } as const;

/** Revisions over transports. */
const CONNECTIONS: readonly [revision: string, kind: ClientTransport["kind"]][] = [
  ["2026-07-28", "http"],
  ["2025-11-25", "http"],
  ["2025-06-18", "http"],
  ["2025-03-26", "http"],
  ["2024-11-05", "http"],
  ["2024-11-05", "sse"],
  ["2025-11-25", "stdio"],
  ["2026-07-28", "stdio"],
];

function newServer() {
  const started = { count: 0, cancelled: 0 };
  const server = newToolServer({
    pageSize: 3,
    definitions: [
      tool({
        name: "add",
        description: "Adds",
        input: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a", "b"],
        },
        output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
        run: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
      }),
      tool({
        name: "refuse",
        description: "Fails",
        run() {
          throw new ToolError("no");
        },
      }),
      tool({
        name: "work",
        description: "Reports",
        run: async (_, call) => {
          await call.progress(1, 2, "half");
          await call.log("info", { step: 1 });
          await call.progress(2, 2);
          return "done";
        },
      }),
      tool({
        name: "ask",
        description: "Asks",
        run: async (_, call) => {
          const { action, content } = await call.elicit({ message: "Name?", schema: NOTHING });
          return `${action} ${content?.name}`;
        },
      }),
      tool({
        name: "wait",
        description: "Waits",
        run: (_, { signal }) =>
          new Promise((_, reject) => {
            started.count++;
            signal.addEventListener("abort", () => {
              started.cancelled++;
              reject(signal.reason);
            });
          }),
      }),
      resource({ uri: "test://a", name: "a", read: () => "text of a" }),
      resourceTemplate({ uriTemplate: "test://b/{id}", name: "b", read: ({ id }) => `text of ${id}` }),
      prompt({
        name: "greet",
        description: "Greets",
        arguments: [{ name: "who" }],
        get: ({ who }) => `Hello, ${who}`,
      }),
    ],
  });
  return { server, started };
}

function newClient(
  server: ReturnType<typeof newServer>["server"],
  [revision, kind]: typeof CONNECTIONS[number],
  options: Partial<McpClientOptions> = {},
) {
  return createMcpClient({
    transport: transportTo(server, kind),
    name: "test",
    version: "1",
    revision,
    capabilities: { elicitation: { form: {} } },
    ...options,
  });
}

/** Waits for an event, not for a time. */
for (const connection of CONNECTIONS) {
  const [revision, kind] = connection;
  const name = `${revision} over ${kind}`;

  test(`${name}: lists and calls`, async () => {
    const { server } = newServer();
    const client = newClient(server, connection);
    const info = await client.connect();
    assert.is(info.revision, revision);
    assert.is(info.transport, kind);
    assert.is(info.serverInfo.name, "trivet");
    const tools = await client.listAll("tools");
    assert.equal(tools.map((each) => each.name), ["add", "refuse", "work", "ask", "wait"]);
    assert.equal((await client.listAll("resources")).map(({ uri }) => uri), ["test://a"]);
    assert.equal((await client.listAll("resourceTemplates")).map(({ name }) => name), ["b"]);
    assert.equal((await client.listAll("prompts")).map(({ name }) => name), ["greet"]);
    const sum = await client.request("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
    if (revision >= "2025-06-18") assert.equal(sum.structuredContent, { sum: 3 });
    assert.equal(sum.content, [{ type: "text", text: '{"sum":3}' }]);
    const refused = await client.request("tools/call", { name: "refuse", arguments: {} });
    assert.is(refused.isError, true);
    const { contents } = await client.request("resources/read", { uri: "test://b/7" });
    assert.is((contents as [{ text: string }])[0].text, "text of 7");
    const { messages } = await client.request("prompts/get", { name: "greet", arguments: { who: "you" } });
    assert.is((messages as [{ content: { text: string } }])[0].content.text, "Hello, you");
    const unknown = await failure(client.request("tools/call", { name: "unknown", arguments: {} }));
    assert.is(unknown.name, "McpError");
    assert.is(unknown.code, -32602);
    await client.close();
    const closed = await failure(client.request("tools/list"));
    assert.is(closed.reason, "closed");
    assert.is(closed.mayHaveRun, false);
  });

  test(`${name}: progress and logs belong to their call`, async () => {
    const { server } = newServer();
    const noted: string[] = [];
    const client = newClient(server, connection, { onNotification: (method) => noted.push(method) });
    const progress: unknown[] = [];
    const logs: unknown[] = [];
    const { content } = await client.request("tools/call", { name: "work", arguments: {} }, {
      onProgress: (...all) => progress.push(all),
      onLog: (...all) => logs.push(all),
    });
    assert.equal(content, [{ type: "text", text: "done" }]);
    const message = revision === "2024-11-05" ? undefined : "half";
    assert.equal(progress, [[1, 2, message ?? progress.flat()[2]], [2, 2, undefined]]);
    assert.equal(logs, [["info", { step: 1 }, undefined]]);
    assert.equal(noted, []);
    await client.close();
  });

  test(`${name}: a cancelled call rejects with the reason, and the server stops it`, async () => {
    const { server, started } = newServer();
    const client = newClient(server, connection);
    const abort = new AbortController();
    const call = client.request("tools/call", { name: "wait", arguments: {} }, { signal: abort.signal });
    await until(() => started.count === 1);
    const reason = new Error("enough");
    abort.abort(reason);
    assert.is(await failure(call), reason);
    await until(() => started.cancelled === 1);
    assert.is(
      (await client.request("tools/call", { name: "add", arguments: { a: 1, b: 2 } })).isError,
      undefined,
    );
    await client.close();
  });

  test(`${name}: a request of the server is answered by the call`, async () => {
    const { server } = newServer();
    const client = newClient(server, connection);
    const asked: unknown[] = [];
    const ask = (exchange?: Parameters<typeof client.request>[2]) =>
      client.request("tools/call", { name: "ask", arguments: {} }, exchange);
    const answered = ask({
      onServerRequest: (method, { message }) => {
        asked.push([method, message]);
        return Promise.resolve({ action: "accept", content: { name: "Ada" } });
      },
    });
    assert.equal((await answered).content, [{ type: "text", text: "accept Ada" }]);
    assert.equal(asked, [["elicitation/create", "Name?"]]);
    // Without someone to answer, the server does not get an answer.
    const alone = await ask().catch((error) => error);
    assert.ok(alone instanceof Error || alone.isError === true);
    await client.close();
  });

  test(`${name}: changes of lists and resources are received`, async () => {
    const { server } = newServer();
    const noted: unknown[] = [];
    const client = newClient(server, connection, {
      onNotification: (method, { uri }) => noted.push(uri === undefined ? method : [method, uri]),
    });
    await client.connect();
    await client.subscribe("test://a");
    const isUpdated = () => noted.some((each) => Array.isArray(each));
    // A stream that is not open yet misses changes.
    while (!isUpdated()) {
      await server.resourceUpdated("test://a");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal(noted.find((each) => Array.isArray(each)), ["notifications/resources/updated", "test://a"]);
    await server.listChanged("tools");
    await until(() => noted.includes("notifications/tools/list_changed"));
    await client.unsubscribe("test://a");
    await client.close();
  });
}

test("the newest revision is found without being asked for", async () => {
  const { server } = newServer();
  for (const kind of ["http", "stdio"] as const) {
    const client = newClient(server, ["2026-07-28", kind], { revision: undefined });
    assert.is((await client.connect()).revision, "2026-07-28");
    await client.close();
  }
});

test("requestOnce shows what the server asks, and accepts the answers", async () => {
  const { server } = newServer();
  const client = newClient(server, ["2026-07-28", "http"]);
  const call = { name: "ask", arguments: {} };
  const first = await client.requestOnce("tools/call", call);
  assert.is(first.resultType, "input_required");
  const [key] = Object.keys(first.inputRequests as object);
  const second = await client.requestOnce("tools/call", {
    ...call,
    inputResponses: { [key!]: { action: "decline" } },
    requestState: first.requestState,
  });
  assert.equal(second.content, [{ type: "text", text: "decline undefined" }]);
  await client.close();
});

test("close rejects what still runs, and reports the end once", async () => {
  const { server, started } = newServer();
  const ends: unknown[] = [];
  const client = newClient(server, ["2025-11-25", "stdio"], { onClosed: (reason) => ends.push(reason) });
  const call = client.request("tools/call", { name: "wait", arguments: {} });
  await until(() => started.count === 1);
  const [error] = await Promise.all([failure(call), client.close(), client.close()]);
  assert.is(error.reason, "closed");
  assert.equal(ends, [undefined]);
});

test("limits must be positive", () => {
  const { server } = newServer();
  assert.throws(() => newClient(server, ["2025-11-25", "http"], { limits: { timeout: 0 } }), /timeout/);
});

test.run();
