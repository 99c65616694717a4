/**
 * Input and tasks of 2026-07-28.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "../mcp_service.ts";
import { type McpClientOptions, TASKS_EXTENSION } from "./client.ts";
import { createMcpClient } from "./create_client.ts";
import {
  failure,
  modernServer,
  newToolServer,
  type Received,
  result,
  type ScriptedServer,
  transportTo,
  URL_OF_TESTS,
} from "./test_servers.ts";
import { httpTransport } from "./transports/http_transport.ts";

const test = suite("mcp client/input rounds");
const call = { name: "t", arguments: { a: 1 } };
const FORM = { method: "elicitation/create", params: { message: "?" } };
const accept = () => Promise.resolve({ action: "accept" });

function connect(server: ScriptedServer, options: Partial<McpClientOptions> = {}) {
  const transport = httpTransport({ url: URL_OF_TESTS, fetch: server.fetch });
  const capabilities = { elicitation: {}, extensions: { [TASKS_EXTENSION]: {} } };
  return createMcpClient({ transport, name: "test", version: "1", capabilities, ...options });
}

/** A server whose responses to calls follow one another; the last repeats. */
function inRounds(...rounds: Record<string, unknown>[]): ScriptedServer {
  let round = 0;
  return modernServer((received) => result(received, rounds[Math.min(round++, rounds.length - 1)]!));
}

const sent = (server: ScriptedServer, method: string) =>
  server.received.filter(({ message }) => message.method === method).map(({ message }) => message);

test("answers and state are sent with the same parameters and a new id", async () => {
  const server = inRounds(
    { resultType: "input_required", inputRequests: { a: FORM, b: FORM }, requestState: "s1" },
    { resultType: "input_required", requestState: "s2" },
    { resultType: "complete", content: [] },
  );
  const client = connect(server);
  assert.equal(await client.request("tools/call", call, { onServerRequest: accept }), {
    resultType: "complete",
    content: [],
  });
  const requests = sent(server, "tools/call");
  assert.is(new Set(requests.map(({ id }) => id)).size, 3);
  const rest = requests.map(({ params: { _meta, ...params } }) => params);
  const inputResponses = { a: { action: "accept" }, b: { action: "accept" } };
  assert.equal(rest, [call, { ...call, inputResponses, requestState: "s1" }, {
    ...call,
    requestState: "s2",
  }]);
});

test("capabilities are declared only where someone answers", async () => {
  const server = inRounds({ content: [] });
  const client = connect(server);
  const declared = async (exchange: Parameters<typeof client.request>[2], once = false) => {
    await (once
      ? client.requestOnce("tools/call", call, exchange)
      : client.request("tools/call", call, exchange));
    const { _meta } = sent(server, "tools/call").at(-1).params;
    return Object.keys(_meta["io.modelcontextprotocol/clientCapabilities"]);
  };
  assert.equal(await declared({}), ["extensions"]);
  assert.equal(await declared({ onServerRequest: accept }), ["elicitation", "extensions"]);
  assert.equal(await declared({ capabilities: { roots: {} } }), ["roots"]);
  assert.equal(await declared({}, true), ["elicitation", "extensions"]);
});

test("what cannot be answered, is malformed or never ends is refused", async () => {
  const required = (inputRequests: unknown) => ({ resultType: "input_required", inputRequests });
  const cases: [Record<string, unknown>, string][] = [
    [required({ a: { method: "sampling/createMessage" } }), "unsupported"],
    [required({ a: { method: "tools/call" } }), "unsupported"],
    [required({ a: { ...FORM, params: { mode: "url", url: "https://x.example" } } }), "unsupported"],
    [required([FORM]), "malformed"],
    [required({ a: "x" }), "malformed"],
    [required(undefined), "malformed"],
    [required({ a: FORM }), "too_large"],
    [required(Object.fromEntries(Array.from({ length: 101 }, (_, at) => [at, FORM]))), "too_large"],
  ];
  for (const [first, reason] of cases) {
    const client = connect(inRounds(first));
    const error = await failure(client.request("tools/call", call, { onServerRequest: accept }));
    assert.is(error.reason, reason, JSON.stringify(first).slice(0, 100));
  }
  const alone = connect(inRounds(required({ a: FORM })));
  assert.is((await failure(alone.request("tools/call", call))).reason, "unsupported");
});

test("a failed answer rejects the request and stops the others", async () => {
  const signals: AbortSignal[] = [];
  const server = inRounds({ resultType: "input_required", inputRequests: { a: FORM, b: FORM } });
  const error = await failure(
    connect(server).request("tools/call", call, {
      onServerRequest: (_method, _params, signal) => {
        signals.push(signal);
        return signals.length === 2 ? Promise.reject(new Error("no")) : new Promise(() => {});
      },
    }),
  );
  assert.is(error.message, "no");
  assert.ok(signals[0]!.aborted);
  assert.is(sent(server, "tools/call").length, 1);
});

test("results of other kinds are refused where the request does not allow them", async () => {
  const client = connect(inRounds({ resultType: "input_required", requestState: "s", tools: [] }));
  assert.is((await failure(client.request("tools/list"))).reason, "malformed");
  const task = connect(inRounds({ resultType: "task" }));
  assert.is((await failure(task.request("tools/call", call))).reason, "malformed");
});

/** A server with one task, in these states. In one with `losesAnswers` it is away for answers. */
function taskServer(...states: Record<string, unknown>[]) {
  let state = -1;
  return modernServer((received: Received) => {
    const { method } = received.message;
    if (method === "tools/call") {
      return result(received, { resultType: "task", taskId: "t1", status: "working", pollIntervalMs: 1 });
    }
    const isLost = method === "tasks/update" && states[state]!.losesAnswers;
    if (isLost) return new Response(null, { status: 503 });
    if (method !== "tasks/get") return result(received, { resultType: "complete" });
    state = Math.min(state + 1, states.length - 1);
    if (states[state]!.status === "away") return new Response(null, { status: 503 });
    return result(received, { resultType: "complete", taskId: "t1", pollIntervalMs: 1, ...states[state] });
  });
}

test("a task is polled, gets each input once, and ends with its result", async () => {
  const asked: unknown[] = [];
  const waiting = { status: "input_required", inputRequests: { a: FORM } };
  const server = taskServer(waiting, waiting, { status: "working" }, {
    status: "completed",
    result: { content: [] },
  });
  const done = await connect(server).request("tools/call", call, {
    onServerRequest: (method) => {
      asked.push(method);
      return accept();
    },
  });
  assert.equal(done, { content: [] });
  assert.equal(asked, ["elicitation/create"]);
  assert.equal(sent(server, "tasks/update").map(({ params: { _meta, ...params } }) => params), [
    { taskId: "t1", inputResponses: { a: { action: "accept" } } },
  ]);
  assert.is(server.received.at(-1)!.headers.get("mcp-name"), "t1");
  assert.equal(sent(server, "tasks/cancel"), []);
});

test("a task goes on when its server is away for some polls", async () => {
  const away = { status: "away" };
  const server = taskServer(away, away, { status: "working" }, away, {
    status: "completed",
    result: { content: [] },
  });
  assert.equal(await connect(server).request("tools/call", call), { content: [] });
  assert.equal(sent(server, "tasks/cancel"), []);
});

test("what the user answered is sent again while the server is away, as long as it is asked for", async () => {
  for (const isAsked of [true, false]) {
    const waiting = { status: "input_required", inputRequests: { a: FORM } };
    const others = { ...waiting, inputRequests: isAsked ? { a: FORM, b: FORM } : { b: FORM } };
    const server = taskServer({ ...waiting, losesAnswers: true }, others, {
      status: "completed",
      result: { content: [] },
    });
    let asked = 0;
    const done = await connect(server).request("tools/call", call, {
      onServerRequest: () => {
        asked++;
        return accept();
      },
    });
    assert.equal(done, { content: [] });
    assert.is(asked, 2, "the user is asked once for each");
    const keys = sent(server, "tasks/update").map(({ params }) => Object.keys(params.inputResponses));
    assert.equal(keys, [["a"], isAsked ? ["a", "b"] : ["b"]]);
    assert.equal(sent(server, "tasks/cancel"), []);
  }
});

test("an input whose key has more than 1,024 characters is not asked for", async () => {
  let asked = 0;
  const onServerRequest = () => (asked++, accept());
  const inputRequests = { ["k".repeat(1025)]: FORM };
  const client = connect(inRounds({ resultType: "input_required", inputRequests }));
  const error = await failure(client.request("tools/call", call, { onServerRequest }));
  assert.equal([error.reason, asked], ["too_large", 0]);
});

test("a task that asks for more than 1,000 inputs in turns is cancelled", async () => {
  const rounds = Array.from({ length: 11 }, (_, round) => ({
    status: "input_required",
    pollIntervalMs: 50,
    inputRequests: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${round}.${at}`, FORM])),
  }));
  const greedy = taskServer(...rounds);
  let asked = 0;
  const onServerRequest = () => (asked++, accept());
  const limits = { duration: 10_000 };
  const error = await failure(connect(greedy, { limits }).request("tools/call", call, { onServerRequest }));
  assert.equal([error.reason, asked], ["too_large", 1000]);
  assert.is(sent(greedy, "tasks/cancel").length, 1);
});

test("a task that fails, is cancelled, never ends or is given up", async () => {
  const failed = taskServer({ status: "failed", error: { code: -5, message: "broken", data: 1 } });
  const error = await failure(connect(failed).request("tools/call", call));
  assert.equal([error.name, error.code, error.message], ["McpError", -5, "broken"]);
  const cancelled = taskServer({ status: "cancelled" });
  assert.is((await failure(connect(cancelled).request("tools/call", call))).reason, "closed");
  const empty = taskServer({ status: "completed" });
  assert.is((await failure(connect(empty).request("tools/call", call))).reason, "malformed");
  const endless = taskServer({ status: "working" });
  const limits = { duration: 100 };
  assert.is((await failure(connect(endless, { limits }).request("tools/call", call))).reason, "timeout");
  assert.is(sent(endless, "tasks/cancel").length, 1);
  const abort = new AbortController();
  const given = taskServer({ status: "input_required", inputRequests: { a: FORM } });
  const gaveUp = await failure(
    connect(given).request("tools/call", call, {
      signal: abort.signal,
      onServerRequest: () => {
        abort.abort(new Error("enough"));
        return accept();
      },
    }),
  );
  assert.is(gaveUp.message, "enough");
  assert.is(sent(given, "tasks/cancel").length, 1);
});

test("a task of Trivet's server runs to its result", async () => {
  const server = newToolServer({
    definitions: [tool({
      name: "slow",
      description: "Is a task",
      task: { support: "optional", pollInterval: 10 },
      run: async (_, call) =>
        `hello ${(await call.elicit({ message: "Who?", schema: { type: "object" } })).content?.who}`,
    })],
  });
  const client = createMcpClient({
    transport: transportTo(server, "http"),
    name: "t",
    version: "1",
    capabilities: { elicitation: {}, extensions: { [TASKS_EXTENSION]: {} } },
  });
  assert.is((await client.requestOnce("tools/call", { name: "slow", arguments: {} })).resultType, "task");
  const { content } = await client.request("tools/call", { name: "slow", arguments: {} }, {
    onServerRequest: () => Promise.resolve({ action: "accept", content: { who: "you" } }),
  });
  assert.equal(content, [{ type: "text", text: "hello you" }]);
  await client.close();
});

test.run();
