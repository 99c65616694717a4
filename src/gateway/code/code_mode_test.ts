import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../../http/test_loop_watchdog.ts";
import { circle } from "../../jsonrpc/test_circle.ts";
import { tool, ToolError } from "../../mcp/definition/definition.ts";
import type { Middleware } from "../../mcp/definition/group.ts";
import { type Message, modern, session } from "../../mcp/test_exchange.ts";
import { newServer } from "../../mcp/test_server.ts";
import { codeMode, type CodeModeOptions } from "./code_mode.ts";
import type { CodeEngine } from "./engine.ts";

const test = suite("gateway/code_mode");

type Tools = (name: string, input?: unknown) => Promise<Message>;
type Body = (tools: Tools, log: (line: string) => void) => Promise<unknown>;

/** Programs that run here, without a sandbox, by their name as source: what the engine promises is tested with it. */
const programs = new Map<string, Body>();

const engine: CodeEngine = {
  run: ({ source }, host, signal) =>
    new Promise((resolve) => {
      let version = 0;
      const watchIdle = () => {
        const at = ++version;
        setTimeout(() => at === version && host.onIdle(), 0);
      };
      const tools: Tools = (name, input = {}) =>
        new Promise((resolve, reject) => {
          host.request({
            name,
            input: JSON.stringify(input),
            settle(isDone, text) {
              if (isDone) resolve(JSON.parse(text));
              else reject(new Error(text));
              watchIdle();
            },
          });
        });
      signal.addEventListener("abort", () =>
        resolve({ failure: "stopped", message: "The program was stopped" }));
      programs.get(source)!(tools, host.onLog).then(
        (value) =>
          resolve({ result: JSON.stringify(value) ?? "null" }),
        (error) => resolve({ failure: "exception", message: String(error.message) }),
      );
      watchIdle();
    }),
};

const done: string[] = [];
const definitions = [
  tool({
    name: "count",
    description: "Counts. And more.",
    input: {
      type: "object",
      properties: { step: { type: "integer", description: "How far */" }, "a-b": { enum: ["x", 1] } },
      required: ["step"],
    },
    output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
    run({ step }) {
      done.push(`count ${step}`);
      return { sum: step };
    },
  }),
  tool({
    name: "text",
    description: "Text",
    input: { type: "object" },
    run: ({ say }) => {
      done.push(`text ${say}`);
      return String(say);
    },
  }),
  tool({
    name: "refuse",
    description: "Fails",
    run() {
      done.push("refuse");
      throw new ToolError("Ask for less");
    },
  }),
  tool({ name: "secret", description: "Counts secretly", scopes: ["write"], run: () => "classified" }),
  tool({
    name: "confirm",
    description: "Asks",
    input: { type: "object", properties: { what: { type: "string" } } },
    async run({ what }, { elicit, once }) {
      const stamp = await once("stamp", () => done.push(`stamp ${what}`) && `s-${what}`);
      const { action } = await elicit({
        message: `Sure of ${what}?`,
        schema: { type: "object", properties: {} },
      });
      done.push(`confirm ${what}`);
      return `${action} ${stamp}`;
    },
  }),
];

function serve(options: Partial<CodeModeOptions> = {}, more: Parameters<typeof newServer>[0] = {}) {
  done.length = 0;
  return newServer({ definitions, arrange: codeMode({ engine, ...options }), ...more });
}

type Server = ReturnType<typeof serve>["server"];

let last = 0;
const toSource = (body: Body): string => {
  const source = `program ${++last}`;
  programs.set(source, body);
  return source;
};

async function run(server: Server, body: Body, options: Parameters<typeof modern>[3] = {}): Promise<Message> {
  const params = { name: "run_code", arguments: { code: toSource(body) } };
  return (await modern(server, "tools/call", params, options)).answer.result;
}

const ELICITS = { capabilities: { elicitation: { form: {} } } };

/** Runs a program in 2026-07-28 and accepts each request for input. Returns the result and the requests of each run. */
async function runAccepting(server: Server, body: Body): Promise<{ result: Message; asked: string[][] }> {
  const params = { name: "run_code", arguments: { code: toSource(body) } };
  const asked: string[][] = [];
  let more = {};
  for (let round = 0; round < 10; round++) {
    const { result } = (await modern(server, "tools/call", { ...params, ...more }, ELICITS)).answer;
    if (result.resultType !== "input_required") return { result, asked };
    const keys = Object.keys(result.inputRequests);
    asked.push(keys.map((key) => result.inputRequests[key].params.message));
    const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "accept", content: {} }]));
    more = { requestState: result.requestState, inputResponses };
  }
  throw new Error("It asks without end");
}

test("clients are offered two tools and the pinned ones", async () => {
  const { server } = serve({ pinned: ["text"] });
  const { tools } = (await modern(server, "tools/list")).answer.result;
  assert.equal(tools.map((each: Message) => each.name), ["describe_api", "run_code", "text"]);
});

test("declarations are found, with types of schemas, for what the caller may use", async () => {
  const { server } = serve();
  const describe = async (args: object, headers = {}): Promise<string> =>
    (await modern(server, "tools/call", { name: "describe_api", arguments: args }, { headers })).answer.result
      .content[0].text;
  assert.is(
    await describe({ query: "count something" }),
    `declare const tools: {
/** Counts. And more. */
count(input: { /** How far * / */ step: number; "a-b"?: "x" | 1 }): Promise<{ sum: number }>;
};`,
  );
  assert.is(
    await describe({ names: ["text", "secret", "no"] }),
    `declare const tools: {
/** Text */
text(): Promise<string>;
// Unknown: secret
// Unknown: no
};`,
  );
  assert.match(await describe({ names: ["secret"] }, { authorization: "Bearer writer" }), /secret\(\)/);
});

test("a program gets values, exceptions and the result of its own; lines are logged", async () => {
  const { server } = serve();
  const result = await run(server, async (tools, log) => {
    log("a line");
    const { sum } = await tools("count", { step: 3 });
    const said = await tools("text", { say: "hi" });
    const failures: string[] = [];
    for (
      const [name, input] of [["refuse", {}], ["count", {}], ["nothing", {}], ["secret", {}], [
        "text",
        [],
      ]] as const
    ) {
      await tools(name, input).catch((error) => failures.push(error.message));
    }
    return { sum, said, failures };
  });
  const { sum, said, failures } = JSON.parse(result.content[0].text);
  assert.equal([sum, said], [3, "hi"]);
  assert.is(failures[0], "Ask for less");
  assert.match(failures[1], /^Invalid arguments/);
  // A tool that the caller may not call is as unknown as one that does not exist.
  assert.is(failures[3], failures[2].replace("nothing", "secret"));
  assert.match(failures[4], /^Invalid arguments/);
  assert.is(result.content[1].text, "Log:\na line");
  const failed = await run(server, () => Promise.reject(new Error("wrong")));
  assert.equal(failed, { ...failed, content: [{ type: "text", text: "wrong" }], isError: true });
});

test("calls go through middleware and are reported as direct calls, with scopes", async () => {
  const seen: string[] = [];
  const middleware: Middleware[] = [({ name }, { principal }, next) => {
    seen.push(`${name} ${principal?.client}`);
    if (name === "text") throw new ToolError("Denied by policy");
    return next();
  }];
  const { server, events } = serve({}, { middleware });
  const result = await run(
    server,
    async (tools) => [await tools("secret"), await tools("text", { say: 1 }).catch((error) => error.message)],
    { headers: { authorization: "Bearer writer" } },
  );
  assert.equal(JSON.parse(result.content[0].text), ["classified", "Denied by policy"]);
  assert.equal(seen, ["secret writer", "text writer"]);
  const called = events.flatMap((event) => event.type === "tool_called" ? [[event.name, event.failed]] : []);
  assert.equal(called, [["secret", false], ["text", true], ["run_code", false]]);
});

test("2026-07-28: a repeated program runs nothing twice, also failures", async () => {
  const { server } = serve();
  const { result, asked } = await runAccepting(server, async (tools) => {
    const first = await tools("count", { step: 1 });
    const again = await tools("count", { step: 1 });
    const failed = await tools("refuse").catch((error) => error.message);
    const a = await tools("confirm", { what: "a" });
    const middle = await tools("text", { say: "middle" });
    const b = await tools("confirm", { what: "b" });
    return [first.sum, again.sum, failed, a, middle, b];
  });
  assert.equal(JSON.parse(result.content[0].text), [
    1,
    1,
    "Ask for less",
    "accept s-a",
    "middle",
    "accept s-b",
  ]);
  assert.equal(asked, [["Sure of a?"], ["Sure of b?"]]);
  assert.equal(done, [
    "count 1",
    "count 1",
    "refuse",
    "stamp a",
    "confirm a",
    "text middle",
    "stamp b",
    "confirm b",
  ]);
});

test("2026-07-28: calls beside one that asks are complete before the answer, and keep their order", async () => {
  const ready = Promise.withResolvers<void>();
  const slow = tool({
    name: "slow",
    description: "Waits for fast",
    async run() {
      await ready.promise;
      done.push("slow");
      return "slow";
    },
  });
  const fast = tool({
    name: "fast",
    description: "Fast",
    run() {
      done.push("fast");
      ready.resolve();
      return "fast";
    },
  });
  const { server } = serve({}, { definitions: [...definitions, slow, fast] });
  const { result } = await runAccepting(server, async (tools) => {
    const order: string[] = [];
    const note = (name: string) => (value: string) => void order.push(name, value);
    // In the order of the requests "slow" is first, but "fast" is the first to answer.
    const both = [tools("slow").then(note("1")), tools("fast").then(note("2"))];
    const winner = await Promise.race([both[0]!.then(() => "slow"), both[1]!.then(() => "fast")]);
    const said = await tools("text", { say: winner });
    const [confirmed] = await Promise.all([tools("confirm", { what: "race" }), ...both]);
    return [order, said, confirmed];
  });
  assert.equal(JSON.parse(result.content[0].text), [["2", "fast", "1", "slow"], "fast", "accept s-race"]);
  assert.equal([...done].sort(), ["confirm race", "fast", "slow", "stamp race", "text fast"]);
});

test("2026-07-28: a failure beside a request for input is not lost", async () => {
  const { server } = serve();
  const { result, asked } = await runAccepting(server, async (tools) =>
    await Promise.all([
      tools("confirm", { what: "a" }),
      tools("refuse").catch((error) => error.message),
      tools("confirm", { what: "b" }),
    ]));
  assert.equal(JSON.parse(result.content[0].text), ["accept s-a", "Ask for less", "accept s-b"]);
  assert.equal(asked.flat().sort(), ["Sure of a?", "Sure of b?"]);
  assert.is(done.filter((each) => each === "refuse").length, 1);
});

test("2026-07-28: kept results arrive before those of new calls, as in the run before", async () => {
  const { server } = serve();
  const { result } = await runAccepting(server, async (tools) => {
    const order: string[] = [];
    const calls = ["confirm", "count", "text", "refuse"].map((name) =>
      tools(name, { what: "x", step: 1, say: "s" }).catch(() => {}).then(() => void order.push(name))
    );
    await Promise.all(calls);
    return order.indexOf("confirm");
  });
  assert.is(result.content[0].text, "3");
});

test("2026-07-28: a call that fails while another one asks has failed, and does not run again", async () => {
  const asks = Promise.withResolvers<void>();
  const ask = tool({
    name: "ask",
    description: "Asks",
    async run(_, { elicit }) {
      const asked = elicit({ message: "Sure?", schema: { type: "object", properties: {} } });
      asked.catch(() => asks.resolve());
      return (await asked).action;
    },
  });
  const fail = tool({
    name: "fail",
    description: "Fails",
    async run() {
      done.push("fail");
      await asks.promise;
      throw new ToolError("Failed late");
    },
  });
  const { server } = serve({}, { definitions: [ask, fail] });
  const { result } = await runAccepting(
    server,
    (tools) => Promise.all([tools("ask"), tools("fail").catch((error) => error.message)]),
  );
  assert.equal(JSON.parse(result.content[0].text), ["accept", "Failed late"]);
  assert.equal(done, ["fail"]);
});

test("a tool that becomes a task gives a program its result", async () => {
  const job = tool({ name: "job", description: "Takes long", task: "required", run: () => "job done" });
  const { server } = serve({}, { definitions: [job] });
  for (const capabilities of [{}, { extensions: { "io.modelcontextprotocol/tasks": {} } }]) {
    const result = await run(server, (tools) => tools("job"), { capabilities });
    assert.is(result.content[0].text, "job done");
  }
});

test("2025-11-25: the program waits for the answer", async () => {
  const { server } = serve();
  const open = await session(server, { capabilities: { elicitation: {} } });
  const params = {
    name: "run_code",
    arguments: {
      code: toSource(async (
        tools,
      ) => [await tools("count", { step: 1 }), await tools("confirm", { what: "x" })]),
    },
  };
  const response = await open.fetch({ jsonrpc: "2.0", id: 7, method: "tools/call", params });
  const reader = (await import("../../mcp/test_exchange.ts")).readEvents(response);
  const asked = await reader.message();
  assert.is(asked.method, "elicitation/create");
  await open.send({ jsonrpc: "2.0", id: asked.id, result: { action: "accept", content: {} } });
  const answer = await reader.message();
  assert.equal(JSON.parse(answer.result.content[0].text), [{ sum: 1 }, "accept s-x"]);
  assert.equal(done, ["count 1", "stamp x", "confirm x"]);
});

test("a client that cannot be asked: the program gets an exception", async () => {
  const { server } = serve();
  const result = await run(server, (tools) => tools("confirm", { what: "x" }).catch(() => "caught"));
  assert.is(result.content[0].text, "caught");
});

test("calls at the same time are limited, and calls that are not awaited are made", async () => {
  let running = 0;
  let most = 0;
  const busy = tool({
    name: "busy",
    description: "Busy",
    input: { type: "object" },
    async run() {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      done.push("busy");
    },
  });
  const { server } = serve({ limits: { concurrentCalls: 3 } }, { definitions: [busy] });
  await run(server, async (tools) => {
    for (let i = 0; i < 10; i++) tools("busy", { i });
    await tools("busy", { i: "last" });
  });
  assert.is(most, 3);
  await run(server, async (tools) => {
    await Promise.resolve();
    for (let i = 0; i < 10; i++) tools("busy", { i });
  });
  assert.is(done.length, 21);
});

test("a result that is too large is an exception", async () => {
  const { server } = serve({ limits: { callResultBytes: 1000 } });
  const result = await run(
    server,
    (tools) => tools("text", { say: "é".repeat(600) }).catch((error) => error.message),
  );
  assert.match(result.content[0].text, /^The result of text has more than 1000 bytes/);
});

test("a result that refers to itself is an exception, and does not hold the event loop", async () => {
  const entity = tool({
    name: "entity",
    description: "Refers to itself",
    run: () => ({ content: [], structuredContent: circle() }),
  });
  const { server } = serve({}, { definitions: [entity] });
  await assertLoopIsFree(async () => {
    const result = await run(server, (tools) => tools("entity").then(() => "a value", () => "an exception"));
    assert.match(result.content[0].text, /^an exception/);
  });
});

test("too many results to keep: the tool that asks fails", async () => {
  const { server } = serve();
  const { result } = await runAccepting(server, async (tools) => {
    for (let i = 0; i < 3; i++) await tools("text", { say: String(i).repeat(500_000) });
    return await tools("confirm", { what: "x" }).catch((error) => error.message);
  });
  assert.match(result.content[0].text, /^The program has too many results/);
});

test("a program that takes too long ends, and its calls are cancelled", async () => {
  const cancelled = Promise.withResolvers<void>();
  const forever = tool({
    name: "forever",
    description: "Waits",
    run: (_, { signal }) =>
      new Promise(() => signal.addEventListener("abort", () => cancelled.resolve(), { once: true })),
  });
  const { server } = serve({ limits: { durationMs: 20 } }, { definitions: [forever] });
  const awaited = await run(server, (tools) => tools("forever"));
  assert.is(awaited.isError, true);
  await cancelled.promise;
  assert.is((await run(server, async (tools) => void tools("forever"))).isError, true);
});

test("a tool for an app alone is left to its app", async () => {
  const forApp = tool({
    name: "refresh",
    description: "Counts again",
    _meta: { ui: { visibility: ["app"] } },
    run: () => "refreshed",
  });
  const { server, post } = serve({}, { definitions: [...definitions, forApp] });
  assert.is((await run(server, (tools) => tools("refresh"))).isError, true);
  const { body } = await post({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  assert.ok(body.result.tools.some(({ name }: { name: string }) => name === "refresh"));
});

test("invalid limits are refused", () => {
  for (const limits of [{ calls: 0 }, { computeMs: 1.5 }, { memoryBytes: 10 }, { durationMs: Infinity }]) {
    assert.throws(() => codeMode({ engine, limits }), /must be a whole number/);
  }
});

test("many calls with long arguments let other work run between them, and keep their order", async () => {
  let turns = 0;
  let isDone = false;
  const count = async (): Promise<void> => {
    for (; !isDone; turns++) await new Promise((resolve) => setTimeout(resolve));
  };
  const seen: number[] = [];
  const order: unknown[] = [];
  const take = tool({
    name: "take",
    description: "",
    input: { type: "object" },
    run: ({ at }) => (seen.push(turns), order.push(at), ""),
  });
  const { server } = serve({}, { definitions: [take] });
  const counting = count();
  const calls = Array.from({ length: 50 }, (_, at) => ({ at, text: "x".repeat(20_000) }));
  await run(server, (tools) => Promise.all(calls.map((input) => tools("take", input))));
  isDone = true;
  await counting;
  assert.equal(order, calls.map(({ at }) => at));
  // Workers, where no engine runs, give several timers one turn.
  const isWorkers = navigator.userAgent === "Cloudflare-Workers";
  assert.ok(new Set(seen).size >= (isWorkers ? 2 : 50));
});

test("the message of a failed call is shortened", async () => {
  const fail = tool({
    name: "fail",
    description: "",
    run: () => Promise.reject(new ToolError("x".repeat(1e6))),
  });
  const { server } = serve({}, { definitions: [fail] });
  const { content } = await run(server, (tools) => tools("fail").catch((error) => error.message.length));
  assert.ok(JSON.parse(content[0].text) < 11_000);
});

test("arguments named as members of prototypes are arguments", async () => {
  const seen: unknown[] = [];
  const take = tool({
    name: "take",
    description: "",
    input: { type: "object" },
    run: (input) => (seen.push(input), ""),
  });
  const { server } = serve({}, { definitions: [take] });
  await run(server, async (tools) => {
    for (const name of ["__proto__", "constructor", "toString", "take"]) {
      await tools(name, JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'))
        .catch(() => {});
    }
  });
  assert.is(seen.length, 1);
  assert.is(({} as Message).polluted, undefined);
  assert.is(Object.getPrototypeOf(seen[0]), Object.prototype);
});

test.run();
