/**
 * Tasks of an upstream of 2026-07-28 that a script answers for.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Message, modern } from "../../../mcp/test_exchange.ts";
import { MODERN, newGateway, type TestGateway, type UpstreamServer } from "../test_gateway.ts";

const test = suite("gateway/upstream/proxy/follow task");
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: {} };
const TOOLS = ["job", "quick"].map((name) => ({ name, inputSchema: { type: "object" } }));

interface TaskServer extends UpstreamServer {
  /** The requests about tasks, in their order. */
  readonly asked: { readonly method: string; readonly params: Message }[];
}

/** A server whose tool `job` becomes a task. `get` answers the polls, numbered from 1. */
function taskServer(
  get: (poll: number) => Message | Response,
  { ttlMs = 60_000 }: { readonly ttlMs?: number } = {},
): TaskServer {
  const asked: { method: string; params: Message }[] = [];
  let polls = 0;
  const respond = (method: string, params: Message): Message | Response => {
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
        return params.name === "quick"
          ? { content: [{ type: "text", text: "quick" }] }
          : { resultType: "task", taskId: "1", status: "working", ttlMs, pollIntervalMs: 50 };
      default:
        asked.push({ method, params });
        return method === "tasks/get" ? get(++polls) : {};
    }
  };
  const server = {
    async fetch(request: Request): Promise<Response> {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params } = await request.json();
      const result = respond(method, params);
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

/** Waits until it holds. */
async function holds(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; !await condition(); i++) {
    assert.ok(i < 1000, "it does not come to hold");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const counts = ({ asked }: TaskServer, name: string): number =>
  asked.filter(({ method }) => method === name).length;

test("a task takes no place among the calls of its upstream", async () => {
  const up = taskServer(() => ({ status: "working" }));
  const gateway = await newGateway({ up }, { options: { maxConcurrent: 1, timeout: 2 } });
  await start(gateway);
  const { content } = await ask(gateway, "tools/call", { name: "up_quick", arguments: {} });
  assert.is(content[0].text, "quick");
  await holds(() => counts(up, "tasks/get") > 0);
  assert.is(gateway.upstreams.status()[0]!.running, 0);
  await gateway.upstreams.close();
});

test("a task that does not end within its ttl is cancelled at its upstream, and no longer followed", async () => {
  const up = taskServer(() => ({ status: "unknown" }), { ttlMs: 200 });
  const gateway = await newGateway({ up });
  await start(gateway);
  await holds(() => counts(up, "tasks/cancel") > 0);
  const polls = counts(up, "tasks/get");
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal([counts(up, "tasks/get"), counts(up, "tasks/cancel")], [polls, 1]);
  await gateway.upstreams.close();
});

test.run();
