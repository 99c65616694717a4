/**
 * Tasks of an upstream of 2026-07-28 that a script answers for.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../../../test_until.ts";
import { type Message, modern } from "../../../mcp/test_exchange.ts";
import { MODERN, newGateway, type TestGateway, type UpstreamServer } from "../test_gateway.ts";
import { callContext } from "../test_scripted_client.ts";
import { followTask } from "./follow_task.ts";

const test = suite("gateway/upstream/proxy/follow task");
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: {} };
const TOOLS = ["job", "quick", "slow"].map((name) => ({ name, inputSchema: { type: "object" } }));

interface TaskServer extends UpstreamServer {
  /** The requests about tasks, in their order. */
  readonly asked: { readonly method: string; readonly params: Message }[];
}

/** A server whose tool `job` becomes a task. `get` answers the polls, numbered from 1. */
function taskServer(
  get: (poll: number) => Message | Response | Promise<Message>,
  { ttlMs = 60_000, update = () => ({}), slow }: {
    readonly slow?: Promise<void>;
    readonly ttlMs?: number;
    readonly update?: () => Message | Response;
  } = {},
): TaskServer {
  const asked: { method: string; params: Message }[] = [];
  let polls = 0;
  const respond = async (method: string, params: Message): Promise<Message | Response> => {
    switch (method) {
      case "server/discover":
        return {
          supportedVersions: [MODERN],
          capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
          serverInfo: { name: "tasks", version: "1" },
        };
      case "tools/list":
        return { tools: TOOLS };
      case "tools/call":
        if (params.name === "slow") await slow;
        return params.name !== "job"
          ? { content: [{ type: "text", text: params.name }] }
          : { resultType: "task", taskId: "1", status: "working", ttlMs, pollIntervalMs: 50 };
      default:
        asked.push({ method, params });
        return method === "tasks/get" ? get(++polls) : method === "tasks/update" ? update() : {};
    }
  };
  const server = {
    async fetch(request: Request): Promise<Response> {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params } = await request.json();
      const result = await respond(method, params);
      return result instanceof Response
        ? result
        : Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } });
    },
  };
  return { server: server as unknown as UpstreamServer["server"], asked };
}

async function ask(
  { server }: TestGateway,
  method: string,
  params: Record<string, unknown>,
): Promise<Message> {
  return (await modern(server, method, params, { capabilities: TASKS })).answer.result;
}

const start = async (gateway: TestGateway): Promise<string> =>
  (await ask(gateway, "tools/call", { name: "up_job", arguments: {} })).taskId;

/** The task, once it has this status. */
const hasStatus = (gateway: TestGateway, taskId: string, status: string): Promise<Message> =>
  until(async () => {
    const task = await ask(gateway, "tasks/get", { taskId });
    return task.status === status && task;
  }, `the task is ${status}`);

const counts = ({ asked }: TaskServer, name: string): number =>
  asked.filter(({ method }) => method === name).length;

test("a task takes no place among the calls of its upstream", async () => {
  const up = taskServer(() => ({ status: "working" }));
  const gateway = await newGateway({ up }, { options: { maxConcurrent: 1, timeout: 2 } });
  await start(gateway);
  const { content } = await ask(gateway, "tools/call", { name: "up_quick", arguments: {} });
  assert.is(content[0].text, "quick");
  await until(() => counts(up, "tasks/get") > 0, "the task is polled");
  assert.is(gateway.upstreams.status()[0]!.running, 0);
  await gateway.upstreams.close();
});

test("a task that does not end within its ttl is cancelled at its upstream, and no longer followed", async () => {
  const up = taskServer(() => ({ status: "unknown" }), { ttlMs: 200 });
  const gateway = await newGateway({ up });
  await start(gateway);
  await until(() => counts(up, "tasks/cancel") > 0, "the upstream is asked to cancel the task");
  const polls = counts(up, "tasks/get");
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal([counts(up, "tasks/get"), counts(up, "tasks/cancel")], [polls, 1]);
  await gateway.upstreams.close();
});

const completed = { status: "completed", result: { content: [{ type: "text", text: "done" }] } };
const inputRequests = {
  name: { method: "elicitation/create", params: { message: "Name?", requestedSchema: { type: "object" } } },
};
const unavailable = (): Response => new Response("deploying", { status: 503 });

test("a task is followed on when its upstream cannot answer for some time", async () => {
  const up = taskServer((poll) => poll === 1 ? { status: "working" } : poll < 4 ? unavailable() : completed);
  const gateway = await newGateway({ up });
  const taskId = await start(gateway);
  const ended = await hasStatus(gateway, taskId, "completed");
  assert.is(ended.result.content[0].text, "done");
  assert.is(counts(up, "tasks/cancel"), 0);
  await gateway.upstreams.close();
});

test("an answer of the user is sent again, and asked for once, when the upstream could not take it", async () => {
  let updates = 0;
  const up = taskServer(
    () => updates < 2 ? { status: "input_required", inputRequests } : completed,
    { update: () => ++updates === 1 ? unavailable() : {} },
  );
  const gateway = await newGateway({ up });
  const taskId = await start(gateway);
  await hasStatus(gateway, taskId, "input_required");
  const inputResponses = { name: { action: "accept", content: {} } };
  await ask(gateway, "tasks/update", { taskId, inputResponses });
  await hasStatus(gateway, taskId, "completed");
  const sent = up.asked.filter(({ method }) => method === "tasks/update");
  assert.equal(sent.map(({ params }) => params.inputResponses), [inputResponses, inputResponses]);
  await gateway.upstreams.close();
});

test("a task whose upstream does not answer any more is cancelled there when the gateway gives up", async () => {
  const up = taskServer(unavailable, { ttlMs: 200 });
  const gateway = await newGateway({ up });
  const { content } = (await modern(gateway.server, "tools/call", { name: "up_job", arguments: {} }, {
    capabilities: { elicitation: {} },
  })).answer.result;
  assert.match(content[0].text, "check before you call the tool again");
  await until(() => counts(up, "tasks/cancel") === 1, "the upstream is asked to cancel the task");
  await gateway.upstreams.close();
});

test("a task that is cancelled while it waits for input is cancelled at its upstream, also when it is busy", async () => {
  const slow = Promise.withResolvers<void>();
  const up = taskServer(() => ({ status: "input_required", inputRequests }), { slow: slow.promise });
  const gateway = await newGateway({ up }, { options: { maxConcurrent: 1 } });
  const running = (): number => gateway.upstreams.status()[0]!.running;
  const taskId = await start(gateway);
  await hasStatus(gateway, taskId, "input_required");
  await until(() => running() === 0, "the run of the task has ended");
  const call = ask(gateway, "tools/call", { name: "up_slow", arguments: {} });
  await until(() => running() === 1, "another call runs");
  await ask(gateway, "tasks/cancel", { taskId });
  assert.is(counts(up, "tasks/cancel"), 0);
  slow.resolve();
  await until(() => counts(up, "tasks/cancel") === 1, "the upstream is asked to cancel the task");
  assert.is((await ask(gateway, "tasks/get", { taskId })).status, "cancelled");
  await call;
  await gateway.upstreams.close();
});

test("a task that is cancelled while it runs is cancelled at its upstream", async () => {
  const up = taskServer(() => ({ status: "working" }));
  const gateway = await newGateway({ up });
  const taskId = await start(gateway);
  await until(() => counts(up, "tasks/get") > 0, "the task is polled");
  await ask(gateway, "tasks/cancel", { taskId });
  await until(() => counts(up, "tasks/cancel") === 1, "the upstream is asked to cancel the task");
  await gateway.upstreams.close();
});

test("the end of a task lets no more calls in than may run at once", async () => {
  const poll = Promise.withResolvers<void>();
  const slow = Promise.withResolvers<void>();
  const { server, asked } = taskServer(
    async () => {
      await poll.promise;
      return { status: "completed", result: { content: [{ type: "text", text: "done" }] } };
    },
    { slow: slow.promise },
  );
  const gateway = await newGateway({ up: { server } }, { options: { maxConcurrent: 1 } });
  const status = () => gateway.upstreams.status()[0]!;
  await ask(gateway, "tools/call", { name: "up_job", arguments: {} });
  await until(() => asked.length === 1, "the task is polled");
  const calls = [1, 2].map(() => ask(gateway, "tools/call", { name: "up_slow", arguments: {} }));
  await until(() => status().waiting === 2, "two calls wait for the session");
  poll.resolve();
  await until(() => status().waiting < 2, "one of them runs");
  // The end of the task has come through by the time that the other call would run, too.
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal([status().running, status().waiting], [1, 1]);
  slow.resolve();
  await Promise.all(calls);
  await gateway.upstreams.close();
});

test("a task that an earlier version kept, without its end, is followed", async () => {
  const answers = [{ status: "working", pollIntervalMs: 50 }, {
    status: "completed",
    result: { content: [] },
  }];
  const session = { client: { requestOnce: () => Promise.resolve(answers.shift()) } };
  const target = { enter: () => session, leave() {} };
  const context = { ...callContext(), startTask: () => Promise.resolve(), progress: () => Promise.resolve() };
  const kept = { taskId: "1", ttlMs: 60_000, pollIntervalMs: 50 };
  const followed = followTask(target as never, kept, context as never, {}, () => Promise.resolve({}));
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(resolve, 20_000, "still waits");
  assert.equal(await Promise.race([followed, late]), { content: [] });
  clearTimeout(timer);
});

test.run();
