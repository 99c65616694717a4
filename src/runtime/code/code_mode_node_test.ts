import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Outcome, Program, ProgramRequest } from "../../gateway/code/engine.ts";
import { codeMode } from "../../gateway/code/code_mode.ts";
import { tool } from "../../mcp/definition/define.ts";
import { modern, readEvents, session } from "../../mcp/test_exchange.ts";
import { newServer } from "../../mcp/test_server.ts";
import { quickJs } from "./code_mode.ts";

const test = suite("runtime/code_mode");
const LIMITS: Program["limits"] = {
  computeMs: 2_000,
  memoryBytes: 32 * 1024 * 1024,
  calls: 100,
  resultBytes: 1_000,
  logBytes: 1_000,
};
/** For programs that only end by this limit. */
const SHORT = { computeMs: 100 };
const engine = quickJs();

interface Ran {
  readonly outcome: Outcome;
  readonly lines: string[];
  readonly requests: ProgramRequest[];
}

/** Runs a program whose calls answer with their input. */
async function run(
  source: string,
  limits: Partial<Program["limits"]> = {},
  answer: (request: ProgramRequest) => void = (request) => request.settle(true, request.input),
  signal: AbortSignal = new AbortController().signal,
): Promise<Ran> {
  const lines: string[] = [];
  const requests: ProgramRequest[] = [];
  const outcome = await engine.run({ source, seed: 1, now: 1e12, limits: { ...LIMITS, ...limits } }, {
    request(request) {
      requests.push(request);
      answer(request);
    },
    onIdle() {},
    onLog: (line) => lines.push(line),
  }, signal);
  return { outcome, lines, requests };
}

const resultOf = async (source: string): Promise<unknown> => {
  const { outcome } = await run(source);
  return "result" in outcome ? JSON.parse(outcome.result) : outcome;
};
const failureOf = async (...given: Parameters<typeof run>): Promise<string> => {
  const { outcome } = await run(...given);
  return "failure" in outcome ? outcome.failure : `result: ${outcome.result}`;
};

test("a program calls tools with values, gets values, and exceptions for errors", async () => {
  const { outcome, requests } = await run(
    `const [a, b] = await Promise.all([tools.one({ x: 1 }), tools["two-b"]()]);
     try { await tools.bad({}) } catch (error) { return [a, b, error.name, error.message, error instanceof ToolError] }`,
    {},
    (request) => request.settle(request.name !== "bad", request.name === "bad" ? "no" : request.input),
  );
  assert.equal(outcome, { result: '[{"x":1},{},"ToolError","no",true]' });
  assert.equal(requests.map(({ name, input }) => [name, input]), [["one", '{"x":1}'], ["two-b", "{}"], [
    "bad",
    "{}",
  ]]);
});

test("nothing of the host is in reach: no modules, timers, network, files, and no realm behind a function", async () => {
  const names = [
    "process",
    "require",
    "Deno",
    "Bun",
    "fetch",
    "WebSocket",
    "XMLHttpRequest",
    "Worker",
    "setTimeout",
    "setInterval",
    "queueMicrotask",
    "WebAssembly",
    "importScripts",
    "self",
    "window",
    "performance",
    "os",
    "std",
    "SharedArrayBuffer",
  ]; // deno-fmt-ignore-line
  const types = names.map((name) => `typeof ${name}`).join(",");
  const found = await resultOf(
    `return [${types}].map((type, at) => type === "undefined" ? 0 : at)`,
  ) as number[];
  // Memory that is shared needs a second thread, and this realm has none.
  assert.equal(
    found.filter(Boolean).map((at) => names[at]),
    ["SharedArrayBuffer"].filter(() => found.at(-1)),
  );
  const escapes = [
    `tools.constructor`,
    `tools.x.constructor("return typeof process")()`,
    `console.log.constructor("return typeof process + typeof globalThis.process")()`,
    `(async () => {}).constructor("return typeof process")()`,
    `Object.getPrototypeOf(tools.x()).constructor.constructor("return typeof require")()`,
    `Date.constructor.constructor("return typeof Deno")()`,
    `new Error().constructor.constructor("return typeof Bun")()`,
    `Error.prepareStackTrace = (_, sites) => sites, typeof new Error().stack[0]?.getThis`,
    `typeof globalThis.constructor.constructor("return this")().process`,
  ];
  const attempts = escapes.map((escape) =>
    `(() => { try { return ${escape} } catch (e) { return e.name } })()`
  );
  const reached = await resultOf(`return [${attempts.join(",\n")}]`) as unknown[];
  for (const [at, value] of reached.entries()) {
    assert.not.match(JSON.stringify(value) ?? "", /object|"function/, escapes[at]);
  }
  assert.is(await failureOf(`return await import("node:fs")`), "exception");
  assert.is(await failureOf(`return await import("data:text/javascript,export default 1")`), "exception");
});

test("tampering with prototypes harms the program only", async () => {
  const tampers = [
    `Array.prototype[Symbol.iterator] = () => { throw 1 }`,
    `Promise.prototype.then = () => {}`,
    `JSON.stringify = JSON.parse = () => { throw 2 }`,
    `Object.prototype.__proto__ = null`,
    `Object.defineProperty(Object.prototype, "1", { get() { throw 3 }, set() { throw 4 } })`,
    `globalThis.tools = globalThis.console = undefined`,
  ];
  await Promise.all(tampers.map(async (tamper) => {
    const { outcome } = await run(`${tamper.trim()}; return await tools?.x({ a: 1 })`);
    assert.ok("result" in outcome || "failure" in outcome, tamper);
  }));
  // A later program has a realm of its own.
  assert.equal(await resultOf(`return await tools.x({ a: 1 })`), { a: 1 });
});

test("a program that does not end is ended, also in loops of the engine that it cannot interrupt", async () => {
  const endless = [
    `for (;;);`,
    `while (true) await null`,
    `const f = () => Promise.resolve().then(f); await f()`,
    `try { for (;;); } catch {} finally { for (;;); }`,
    `String.raw({ raw: { length: 2 ** 40 } })`,
    `Array.prototype.indexOf.call({ length: 2 ** 50 }, 1)`,
    `/(a+)+b/.test("a".repeat(50))`,
  ];
  const ends = await Promise.all(endless.map((source) => failureOf(source, SHORT)));
  assert.equal(ends, endless.map(() => "compute"));
});

test("answers that come meanwhile give no more time to a program that cannot be interrupted", async () => {
  const timers: ReturnType<typeof setTimeout>[] = [];
  let answered = 0;
  const answer = (request: ProgramRequest): void => {
    timers.push(setTimeout(() => {
      answered++;
      request.settle(true, "1");
    }, 300 * (timers.length + 1)));
  };
  const source = `for (let i = 0; i < 20; i++) tools.x(); String.raw({ raw: { length: 2 ** 40 } })`;
  assert.is(await failureOf(source, SHORT, answer), "compute");
  for (const each of timers) clearTimeout(each);
  // On Bun the calls wait in the process, which computes.
  assert.ok(timers.length === 0 || answered < timers.length, `${answered} of ${timers.length}`);
});

test("an answer that comes before the program waits gives it no time without a limit", async () => {
  const source = `try { await tools.x() } catch {} String.raw({ raw: { length: 2 ** 40 } })`;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), 20_000);
  const answer = (request: ProgramRequest): void => request.settle(false, "no");
  assert.is(await failureOf(source, { computeMs: 1000 }, answer, stop.signal), "compute");
  clearTimeout(timer);
});

test("the event loop of the server is free meanwhile", async () => {
  let isDone = false;
  const turns = async () => {
    let count = 0;
    for (; !isDone; count++) await new Promise((resolve) => setTimeout(resolve, 1));
    return count;
  };
  const counted = turns();
  await failureOf(`String.raw({ raw: { length: 2 ** 40 } })`, SHORT);
  isDone = true;
  // Other work had many turns while the program held its thread.
  assert.ok(await counted > 20);
});

test("memory is limited", async () => {
  const greedy = [
    `const a = []; for (;;) a.push(new Array(1000).fill(1))`,
    `let s = "x"; for (;;) s += s`,
    `return "x".repeat(2 ** 29)`,
    `return new Uint8Array(2 ** 31)`,
    `(function f() { f() })()`,
    `let a = []; for (let i = 0; i < 50000; i++) a = [a]; return a`,
  ];
  const ends = await Promise.all(greedy.map((source) => failureOf(source, { memoryBytes: 4 * 1024 * 1024 })));
  assert.is(ends[2], "memory");
  // The engine looks for memory for long before it fails.
  assert.equal(ends.filter((end) => !["memory", "exception", "compute"].includes(end)), []);
});

test("a million calls end at the limit, also when each exception is caught", async () => {
  const many = await run(`for (let i = 0; i < 1e6; i++) tools.x().catch(() => {})`);
  assert.is((many.outcome as { failure: string }).failure, "calls");
  assert.is(many.requests.length, 100);
  assert.is(await failureOf(`for (let i = 0; i < 1e6; i++) try { await tools.x() } catch {}`), "calls");
});

test("result, log and exception are limited", async () => {
  assert.is(await failureOf(`return "x".repeat(2000)`), "result");
  assert.is(await failureOf(`return "é".repeat(600)`), "result");
  const { outcome, lines } = await run(
    `for (let i = 0; i < 5000; i++) console.log("line", i, { i }); return 1`,
  );
  assert.equal(outcome, { result: "1" });
  assert.is(lines[0], 'line 0 {"i":0}');
  assert.ok(lines.length <= 1000 && lines.join("").length <= 1000);
  const { outcome: thrown } = await run(`throw new Error("x".repeat(1e6))`);
  assert.ok("message" in thrown && thrown.message.length < 3000);
});

test("a promise that nothing resolves ends the program", async () => {
  assert.is(await failureOf(`await new Promise(() => {})`), "stuck");
  assert.is(await failureOf(`await tools.x(); await new Promise(() => {})`), "stuck");
});

test("exceptions name their line", async () => {
  for (const source of [`\n\nnull.x`, `await tools.x();\n\nundefined.y`]) {
    const { outcome } = await run(source);
    assert.match((outcome as { message: string }).message, /^TypeError: .* \(line 3\)$/);
  }
  assert.match(((await run(`return 1 +`)).outcome as { message: string }).message, /^SyntaxError/);
});

test("the clock stands still and random numbers repeat", async () => {
  const source =
    `return [Date.now(), new Date().getTime(), +new Date(5), new Date().constructor.now(), Math.random()]`;
  const first = await resultOf(source) as number[];
  assert.equal(first.slice(0, 4), [1e12, 1e12, 5, 1e12]);
  assert.equal(await resultOf(source), first);
});

test("an abort ends a program that runs and one that waits for a tool", async () => {
  const stop = new AbortController();
  const waiting = failureOf(`await tools.x()`, {}, () => stop.abort(), stop.signal);
  assert.is(await waiting, "stopped");
  assert.is(await failureOf(`return 1`, {}, undefined, stop.signal), "stopped");
});

test("programs beyond the number of threads wait, users take turns, and beyond those that may wait are refused", async () => {
  const small = quickJs({ threads: 1, waiting: 3 });
  const ran: string[] = [];
  const start = (user: string) =>
    small.run({ source: `return await tools.x()`, seed: 1, now: 0, limits: LIMITS, user }, {
      request: (request) => {
        ran.push(user);
        request.settle(true, "1");
      },
      onIdle() {},
      onLog() {},
    }, new AbortController().signal);
  const users = ["ada", "ada", "ada", "ada", "bob", "bob"];
  const outcomes = await Promise.all(users.map((user) => start(user)));
  assert.equal(outcomes.map((outcome) => "result" in outcome), [true, true, true, false, true, false]);
  assert.is((outcomes[3] as { failure: string }).failure, "stopped");
  assert.equal(ran, ["ada", "ada", "bob", "ada"]);
});

test("numbers of threads and of waiting programs are checked", () => {
  for (const wrong of [{ threads: 0 }, { threads: NaN }, { waiting: -1 }]) {
    assert.throws(() => quickJs(wrong), (error: unknown) => error instanceof RangeError);
  }
});

test("a server runs a program, asks the user in 2026-07-28, and repeats nothing", async () => {
  const done: string[] = [];
  const { server } = newServer({
    arrange: codeMode({ engine }),
    definitions: [
      tool({ name: "pay", description: "Pays", run: () => done.push("paid") && "paid" }),
      tool({
        name: "confirm",
        description: "Asks",
        run: async (_, { elicit }) =>
          (await elicit({ message: "Sure?", schema: { type: "object", properties: {} } })).action,
      }),
    ],
  });
  const code =
    `const r = Math.random(), paid = await tools.pay(); return [paid, await tools.confirm(), typeof r]`;
  const params = { name: "run_code", arguments: { code } };
  const options = { capabilities: { elicitation: { form: {} } } };
  const { requestState, inputRequests } = (await modern(server, "tools/call", params, options)).answer.result;
  const inputResponses = { [Object.keys(inputRequests)[0]!]: { action: "accept", content: {} } };
  const retry = { ...params, requestState, inputResponses };
  const { result } = (await modern(server, "tools/call", retry, options)).answer;
  assert.is(result.content[0].text, '["paid","accept","number"]');
  assert.equal(done, ["paid"]);
});

test("up to 2025-11-25 a program that waits for its user holds up no other one, and only some may wait", async () => {
  const engine = quickJs({ threads: 1 });
  const { server } = newServer({
    arrange: codeMode({ engine }),
    definitions: [
      tool({
        name: "confirm",
        description: "Asks",
        run: async (_, { elicit }) =>
          (await elicit({ message: "Sure?", schema: { type: "object", properties: {} } })).action,
      }),
    ],
  });
  const open = await session(server, { capabilities: { elicitation: {} } });
  const toParams = (code: string) => ({ name: "run_code", arguments: { code } });
  const ask = async (id: number, code: string) => {
    const params = toParams(code);
    return readEvents(await open.fetch({ jsonrpc: "2.0", id, method: "tools/call", params }));
  };
  const accept = (id: string) => open.send({ jsonrpc: "2.0", id, result: { action: "accept", content: {} } });
  const returnTwo = async () => (await modern(server, "tools/call", toParams("return 1 + 1"))).answer.result;
  const first = await ask(7, "return await Promise.all([tools.confirm(), tools.confirm()])");
  const asked = [await first.message(), await first.message()];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => timer = setTimeout(() => resolve("late"), 5_000));
  assert.is(await Promise.race([returnTwo().then(({ content }) => content[0].text), late]), "2");
  clearTimeout(timer);
  const second = await open.send({
    jsonrpc: "2.0",
    id: 8,
    method: "tools/call",
    params: toParams("return await tools.confirm().catch((error) => error.message)"),
  });
  assert.match(second.answer.result.content[0].text, "Too many programs wait for their users");
  for (const { id } of asked) await accept(id);
  assert.is((await first.message()).result.content[0].text, '["accept","accept"]');
  const third = await ask(9, "return await tools.confirm()");
  await accept((await third.message()).id);
  assert.is((await third.message()).result.content[0].text, "accept");
  assert.is((await returnTwo()).content[0].text, "2");
});

test.run();
