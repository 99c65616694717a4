/**
 * Tasks of 2025-11-25.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ClientExchange } from "./client.ts";
import { createMcpClient } from "./create_client.ts";
import {
  event,
  failure,
  json,
  legacyServer,
  type Loose,
  type ScriptedServer,
  URL_OF_TESTS,
} from "./test_servers.ts";
import { httpTransport } from "./transports/http_transport.ts";

const test = suite("mcp client/tasks of 2025-11-25");
const RELATED = "io.modelcontextprotocol/related-task";
const DONE = { content: [{ type: "text", text: "done" }] };

interface Script {
  /** The status of each task, poll after poll; the last repeats. */
  readonly states: readonly string[];
  /** The response to `tasks/result`. It comes when the last status was sent; `null`: never. @default a result */
  readonly outcome?: Record<string, unknown> | null;
  /** Whether each task asks for input, on the stream that all share, before its result comes. */
  readonly asks?: boolean;
}

/** A server whose calls become tasks with the name of the tool as their id. */
function taskServer({ states, outcome = { result: DONE }, asks = false }: Script): ScriptedServer {
  const polls = new Map<string, number>();
  /** What waits for the last status of a task, or for an answer to its question. */
  const waiting = new Map<string, () => void>();
  let send = (_: string): void => {};
  return legacyServer(async ({ method, message }, server) => {
    if (method === "GET") {
      return server.stream(async (given, closed) => {
        send = given;
        await closed;
      });
    }
    const respond = (members: Record<string, unknown>) =>
      json({ jsonrpc: "2.0", id: message.id, ...members });
    const { taskId } = message.params ?? {};
    const task = (id: string, status: string) => ({ taskId: id, status, ttl: null, pollInterval: 1 });
    if (message.method === undefined) {
      waiting.get(message.id)?.();
      return new Response(null, { status: 202 });
    }
    if (message.method === "tools/call") {
      return respond({ result: { task: task(message.params.name, "working") } });
    }
    if (message.method === "tasks/get") {
      const poll = polls.get(taskId) ?? 0;
      polls.set(taskId, poll + 1);
      const status = states[Math.min(poll, states.length - 1)]!;
      if (status === "away") return new Response(null, { status: 503 });
      if (poll === states.length - 1 && !asks) waiting.get(taskId)?.();
      return respond({ result: { ...task(taskId, status), statusMessage: `poll ${poll + 1}` } });
    }
    if (message.method !== "tasks/result") return respond({ result: {} });
    const polled = polls.get(taskId) ?? 0;
    if (states[0] === "away") return polled === 0 ? new Response(null, { status: 503 }) : respond(outcome!);
    const isOver = new Promise<void>((resolve) => waiting.set(taskId, resolve));
    if (asks) {
      const params = {
        message: taskId,
        requestedSchema: { type: "object" },
        _meta: { [RELATED]: { taskId } },
      };
      send(event({ jsonrpc: "2.0", id: taskId, method: "elicitation/create", params }));
    }
    await isOver;
    return outcome ? respond(outcome) : await new Promise(() => {});
  });
}

function connect(server: ScriptedServer, limits: Record<string, number> = {}) {
  const transport = httpTransport({ url: URL_OF_TESTS, fetch: server.fetch });
  const capabilities = { elicitation: {} };
  const client = createMcpClient({ transport, name: "test", version: "1", capabilities, limits });
  const call = (name = "t", exchange: ClientExchange = {}): Promise<Loose> =>
    client.request("tools/call", { name, arguments: {}, task: {} }, exchange);
  return { client, call };
}

const sent = (server: ScriptedServer, method: string): Loose[] =>
  server.received.filter(({ message }) => message?.method === method).map(({ message }) => message.params);

/** Waits until the server has received a request. */
async function receives(server: ScriptedServer, method: string): Promise<void> {
  while (sent(server, method).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}

test("a task is polled, and its result is that of the call", async () => {
  const server = taskServer({ states: ["working", "working", "completed"] });
  const { client, call } = connect(server);
  const messages: unknown[] = [];
  const onProgress = (_: number, __: unknown, message: unknown): unknown => messages.push(message);
  assert.equal(await call("t", { onProgress }), DONE);
  assert.equal(sent(server, "tasks/result"), [{ taskId: "t" }]);
  assert.equal(messages.slice(0, 2), ["poll 1", "poll 2"]);
  assert.equal(sent(server, "tasks/cancel"), []);
  await client.close();
});

test("a task goes on when its server is away, and its result is asked for again", async () => {
  const server = taskServer({ states: ["away", "working", "away", "completed"] });
  const { client, call } = connect(server);
  assert.equal(await call(), DONE);
  assert.is(sent(server, "tasks/result").length, 2);
  assert.equal(sent(server, "tasks/cancel"), []);
  await client.close();
});

test("the input that a task needs is asked from the caller of its call, also when several run", async () => {
  const server = taskServer({ states: ["input_required"], asks: true });
  const { client, call } = connect(server);
  const asked: string[] = [];
  const callAndAnswer = (name: string) =>
    call(name, {
      onServerRequest: (_, { message }) => {
        asked.push(`${name} ${message}`);
        return Promise.resolve({ action: "decline" });
      },
    });
  assert.equal(await Promise.all(["a", "b"].map(callAndAnswer)), [DONE, DONE]);
  assert.equal(asked.sort(), ["a a", "b b"]);
  await client.close();
});

test("a task fails with the error of the call", async () => {
  const server = taskServer({ states: ["failed"], outcome: { error: { code: -5, message: "broken" } } });
  const { client, call } = connect(server);
  const error = await failure(call());
  assert.equal([error.name, error.code, error.message], ["McpError", -5, "broken"]);
  await client.close();
});

test("a task that is cancelled by the server, by the caller, or does not end, ends the call", async () => {
  const cancelled = taskServer({ states: ["cancelled"], outcome: null });
  assert.is((await failure(connect(cancelled).call())).reason, "closed");
  const abort = new AbortController();
  const aborted = taskServer({ states: ["working"], outcome: null });
  const given = failure(connect(aborted).call("t", { signal: abort.signal }));
  await receives(aborted, "tasks/result");
  abort.abort(new Error("enough"));
  assert.is((await given).message, "enough");
  await receives(aborted, "tasks/cancel");
  const endless = taskServer({ states: ["working"], outcome: null });
  assert.is((await failure(connect(endless, { duration: 100 }).call())).reason, "timeout");
  await receives(endless, "tasks/cancel");
});

test.run();
