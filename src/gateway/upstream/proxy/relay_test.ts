import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RpcError } from "../../../jsonrpc/error.ts";
import type { CallContext } from "../../../mcp/context.ts";
import { tool } from "../../../mcp/definition/define.ts";
import { type Message, modern, readEvents, session } from "../../../mcp/test_exchange.ts";
import type { McpClient } from "../../../mcp_client/client.ts";
import { MODERN, newGateway, type TestGateway, upstreamOf } from "../test_gateway.ts";
import { callContext } from "../test_scripted_client.ts";
import type { CallTarget } from "./call_target.ts";
import { callUpstream } from "./call_upstream.ts";

const test = suite("gateway/upstream/proxy/relay");

const LEGACY = "2025-11-25";
const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: {} };

let begun: (() => void) | undefined;
let aborted: (() => void) | undefined;
const DEFINITIONS = [
  tool({
    name: "report",
    description: "Reports progress and logs",
    async run(_, { progress, log }) {
      await progress(1, 2, "half");
      await log("warning", { careful: true }, "up");
      await log("debug", "detail");
      await progress(2, 2);
      return "done";
    },
  }),
  tool({
    name: "burst",
    description: "Reports progress without waiting",
    async run(_, { progress }) {
      await Promise.all([1, 2, 3, 4, 5].map((each) => progress(each, 5)));
      return "done";
    },
  }),
  tool({
    name: "poll",
    description: "Ends its stream",
    async run(_, { disconnect }) {
      await disconnect(20);
      return "polled";
    },
  }),
  tool({
    name: "wait",
    description: "Waits until it is cancelled",
    run: (_, { signal }) =>
      new Promise((resolve) => {
        begun?.();
        signal.addEventListener("abort", () => {
          aborted?.();
          resolve("cancelled");
        });
      }),
  }),
  tool({
    name: "background",
    description: "Runs as a task",
    task: { support: "optional", pollInterval: 50 },
    async run(_, { elicit }) {
      const answer = await elicit({ key: "who", message: "Who?", schema: NAME });
      return `Hello, ${answer.content?.name}`;
    },
  }),
  tool({
    name: "only_task",
    description: "Runs as a task only",
    task: { support: "required", pollInterval: 50 },
    run: () => "done in background",
  }),
  tool({
    name: "failing_task",
    description: "Fails with an error of the protocol",
    task: { support: "optional", pollInterval: 50 },
    run() {
      throw new RpcError(-31234, "Not today");
    },
  }),
  tool({
    name: "needs_url",
    description: "Requires that the user opens a page, as a server of 2025-11-25",
    run() {
      const elicitations = [{ mode: "url", url: "https://a.example/", message: "Sign", elicitationId: "1" }];
      throw new RpcError(-32042, "URL elicitation required", { elicitations });
    },
  }),
];

for (const upstream of [MODERN, LEGACY]) {
  test(`progress and log messages of an upstream of ${upstream} reach clients`, async () => {
    const { server, upstreams } = await newGateway({ up: upstreamOf(DEFINITIONS, upstream) });
    const params = { name: "up_report", arguments: {} };
    const meta = { progressToken: "t", "io.modelcontextprotocol/logLevel": "info" };
    const first = await modern(server, "tools/call", params, { meta });
    const client = await session(server, { revision: LEGACY });
    const second = await client.request("tools/call", { ...params, _meta: { progressToken: "t" } });
    for (const { messages } of [first, second]) {
      const of = (method: string): Message[] =>
        messages.filter((each) => each.method === `notifications/${method}`).map((each) => each.params);
      assert.equal(of("progress"), [
        { progressToken: "t", progress: 1, total: 2, message: "half" },
        { progressToken: "t", progress: 2, total: 2 },
      ]);
      assert.equal(of("message"), [{ level: "warning", logger: "up", data: { careful: true } }]);
      assert.is(messages.at(-1).result.content[0].text, "done");
    }
    // Without a token and a level there are none.
    assert.is((await modern(server, "tools/call", params)).messages.length, 1);
    await upstreams.close();
  });

  test(`a cancelled call is cancelled at an upstream of ${upstream}`, async () => {
    const { server, upstreams } = await newGateway({ up: upstreamOf(DEFINITIONS, upstream) });
    const client = await session(server, { revision: LEGACY });
    const isAborted = new Promise<void>((resolve) => aborted = resolve);
    const hasBegun = new Promise<void>((resolve) => begun = resolve);
    client.request("tools/call", { name: "up_wait", arguments: {} }, 7).catch(() => {});
    await hasBegun;
    await client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
    await isAborted;
    await upstreams.close();
  });
}

async function poll({ server }: TestGateway, taskId: string): Promise<Message> {
  for (;;) {
    const { result } = (await modern(server, "tasks/get", { taskId }, { capabilities: TASKS })).answer;
    if (result.status !== "working") return result;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("a task of an upstream is a task of the gateway, with its input", async () => {
  const gateway = await newGateway({ up: upstreamOf(DEFINITIONS) });
  const { server, upstreams } = gateway;
  const start = async (name: string): Promise<Message> =>
    (await modern(server, "tools/call", { name, arguments: {} }, { capabilities: TASKS })).answer.result;
  const created = await start("up_background");
  assert.is(created.resultType, "task");
  const asking = await poll(gateway, created.taskId);
  assert.is(asking.status, "input_required");
  const [key] = Object.keys(asking.inputRequests);
  const inputResponses = { [key!]: { action: "accept", content: { name: "Ada" } } };
  await modern(server, "tasks/update", { taskId: created.taskId, inputResponses }, { capabilities: TASKS });
  const done = await poll(gateway, created.taskId);
  assert.is(done.status, "completed");
  assert.is(done.result.content[0].text, "Hello, Ada");
  const failed = await poll(gateway, (await start("up_failing_task")).taskId);
  assert.equal([failed.status, failed.error.code], ["failed", -31234]);
  await upstreams.close();
});

test("a task of an upstream is awaited for clients whose revision has no extensions, others must declare it", async () => {
  const { server, upstreams } = await newGateway({ up: upstreamOf(DEFINITIONS) });
  const params = { name: "up_only_task", arguments: {} };
  const { request } = await session(server, { revision: LEGACY });
  const { result } = (await request("tools/call", params)).answer;
  assert.is(result.content[0].text, "done in background");
  const { error } = (await modern(server, "tools/call", params)).answer;
  assert.is(error.code, -32021);
  assert.equal(error.data.requiredCapabilities, { extensions: { "io.modelcontextprotocol/tasks": {} } });
  await upstreams.close();
});

test("progress that comes faster than it can be sent is not lost", async () => {
  const { server, upstreams } = await newGateway({ up: upstreamOf(DEFINITIONS) });
  const meta = { progressToken: "t" };
  const { messages } = await modern(server, "tools/call", { name: "up_burst", arguments: {} }, { meta });
  assert.equal(
    messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params.progress),
    [1, 2, 3, 4, 5],
  );
  await upstreams.close();
});

test("a client polls when the upstream of 2025-11-25 ends the stream of its call", async () => {
  const { server, upstreams } = await newGateway({ up: upstreamOf(DEFINITIONS, LEGACY) });
  const client = await session(server, { revision: LEGACY });
  const params = { name: "up_poll", arguments: {} };
  const response = await client.fetch({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const events = await readEvents(response).all();
  assert.equal(events.filter(({ data }) => data), []);
  assert.is(events.find(({ retry }) => retry !== undefined)?.retry, 20);
  const { id } = events.find(({ id }) => id !== undefined)!;
  const resumed = readEvents(await client.other("GET", { "last-event-id": id! }));
  assert.is((await resumed.message()).result.content[0].text, "polled");
  await resumed.cancel();
  await upstreams.close();
});

test("a page that an upstream of 2025-11-25 requires is opened by elicitation, or named", async () => {
  const { server, upstreams } = await newGateway({ up: upstreamOf(DEFINITIONS, LEGACY) });
  const params = { name: "up_needs_url", arguments: {} };
  const plain = (await modern(server, "tools/call", params)).answer.result;
  assert.is(plain.isError, true);
  assert.match(plain.content[0].text, "https://a.example/");
  const capabilities = { elicitation: { url: {} } };
  const { result } = (await modern(server, "tools/call", params, { capabilities })).answer;
  assert.is(result.resultType, "input_required");
  assert.equal(Object.values<Message>(result.inputRequests)[0].params.url, "https://a.example/");
  // Clients of 2025-11-25 know this error.
  const { request } = await session(server, { revision: LEGACY, capabilities });
  assert.is((await request("tools/call", params)).answer.error.code, -32042);
  await upstreams.close();
});

test("attack: an upstream has the client open an address that is no page", async () => {
  for (const url of ["file:///etc/passwd", "javascript:alert(1)", "ms-settings:x", "https:evil", "none"]) {
    const ask = tool({
      name: "ask",
      description: "Asks",
      run: async (_, { elicit }) => (await elicit({ mode: "url", message: "Open", url })).action,
    });
    const need = tool({
      name: "need",
      description: "Requires",
      run() {
        const elicitations = [{ mode: "url", url, message: "Open", elicitationId: "1" }];
        throw new RpcError(-32042, "URL elicitation required", { elicitations });
      },
    });
    const capabilities = { elicitation: { url: {} } };
    for (const revision of [MODERN, LEGACY]) {
      const { server, upstreams } = await newGateway({ up: upstreamOf([ask, need], revision) });
      const { request } = await session(server, { revision: LEGACY, capabilities });
      for (const name of ["up_ask", "up_need"]) {
        const params = { name, arguments: {} };
        const { answer } = await modern(server, "tools/call", params, { capabilities });
        assert.is(answer.result?.inputRequests, undefined, url);
      }
      const { answer } = await request("tools/call", { name: "up_need", arguments: {} });
      assert.is(answer.result.isError, true, url);
      await upstreams.close();
    }
  }
});

test("an elicitation at a URL is kept no longer than its call", async () => {
  const elicitations = new Map<string, CallContext>();
  let isKept = false;
  const request: McpClient["request"] = async (method, params, exchange) => {
    if (method !== "tools/call") return {};
    const asked = { mode: "url", message: "Pay", url: "https://pay.example/", elicitationId: "1" };
    await exchange!.onServerRequest!("elicitation/create", asked, new AbortController().signal);
    isKept = elicitations.get("1") === context;
    if (params?.name === "fails") throw new Error("failed");
    return {};
  };
  const target = {
    enter: () => ({ client: { request }, info: { revision: LEGACY }, elicitations }),
    leave() {},
    whileWaiting: (wait: () => Promise<unknown>) => wait(),
  } as unknown as CallTarget;
  const elicit = (): Promise<unknown> => Promise.resolve({ action: "accept" });
  const context = { ...callContext(), elicit } as CallContext;
  await callUpstream(target, "tools/call", {}, context);
  assert.equal([isKept, elicitations.size], [true, 0]);
  await callUpstream(target, "tools/call", { name: "fails" }, context).catch(() => {});
  assert.is(elicitations.size, 0);
});

test.run();
