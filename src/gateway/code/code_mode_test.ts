import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../../events.ts";
import { assertLoopIsFree } from "../../http/test_loop_watchdog.ts";
import { circle } from "../../jsonrpc/test_circle.ts";
import { tool } from "../../mcp/definition/define.ts";
import { ToolError } from "../../mcp/definition/definition.ts";
import type { Middleware } from "../../mcp/definition/group.ts";
import { type Message, modern } from "../../mcp/test_exchange.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createPolicy } from "../policy/policy.ts";
import { codeMode } from "./code_mode.ts";
import { definitions, done, engine, run, runAccepting, serve, toSource } from "./test_code_mode.ts";

const test = suite("gateway/code_mode");

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

test("the engine knows whose program it runs", async () => {
  const users: (string | undefined)[] = [];
  const { server } = serve({
    engine: {
      run: ({ user }) => {
        users.push(user);
        return Promise.resolve({ result: "1" });
      },
    },
  });
  for (const token of ["reader", "writer", "reader"]) {
    await run(server, () => Promise.resolve(1), { headers: { authorization: `Bearer ${token}` } });
  }
  await run(server, () => Promise.resolve(1));
  const [reader, writer, again, anonymous] = users;
  assert.is(again, reader);
  assert.is.not(writer, reader);
  assert.is(anonymous, "");
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

test("the calls of a program are recorded with the address of the client", async () => {
  const store = memoryStore();
  const events: TrivetEvent[] = [];
  const observe = (event: TrivetEvent) => void events.push(event);
  const place = "https://gateway.example";
  const server = { store, now: Date.now, observe, place, hasPages: false, implied: new Map() };
  const { middleware } = createPolicy({ rules: [{ tools: "refuse", effect: "deny" }] }, server);
  const { server: service } = serve({}, { store, observe, middleware: [middleware] });
  const code = toSource(async (tools) => {
    await tools("count", { step: 1 });
    await tools("refuse").catch(() => {});
  });
  const withAddress = {
    ...service,
    fetch: (request: Request) => service.fetch(request, { ip: "203.0.113.9" }),
  };
  await modern(withAddress, "tools/call", { name: "run_code", arguments: { code } });
  const recorded = events.filter((event) => event.type === "tool_called")
    .filter(({ name }) => name !== "run_code");
  assert.equal(recorded.map(({ name, outcome, ip }) => [name, outcome, ip]), [
    ["count", "ok", "203.0.113.9"],
    ["refuse", "denied", "203.0.113.9"],
  ]);
});

test.run();
