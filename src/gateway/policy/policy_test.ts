import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ToolCalled } from "../../events.ts";
import { prompt, resource, tool } from "../../mcp/definition/define.ts";
import { ToolError } from "../../mcp/definition/definition.ts";
import { digestJson } from "./canonical_json.ts";
import { createPolicy } from "./policy.ts";
import type { PolicyOptions } from "./policy_options.ts";
import { type Answer, newGateway, textOf } from "./test_gateway.ts";

const test = suite("gateway/policy");
const ANY = { type: "object", additionalProperties: true } as const;

let runs = 0;
const write = {
  ...tool({ name: "files_write", description: "Writes", input: ANY, run: () => `run ${++runs}` }),
  upstream: "files",
};
const fail = tool({
  name: "fail",
  description: "Fails",
  input: ANY,
  run: () => ({ content: [], isError: true }),
});
const refuse = tool({
  name: "refuse",
  description: "Refuses",
  input: ANY,
  run() {
    throw new ToolError("no");
  },
});
const asks = tool({
  name: "asks",
  description: "Asks its user",
  input: ANY,
  run: async (_, { elicit }) =>
    (await elicit({ key: "name", message: "?", schema: { type: "object", properties: {} } })).action,
});
const swallows = tool({
  name: "swallows",
  description: "Catches the end of its run",
  input: ANY,
  async run(_, { elicit }) {
    const schema = { type: "object", properties: {} } as const;
    return await elicit({ key: "name", message: "?", schema }).then(
      ({ action }) => action,
      () => "never mind",
    );
  },
});
const slow = tool({
  name: "slow",
  description: "Gives up",
  input: ANY,
  run() {
    throw new ToolError("gave up", { cause: new DOMException("late", "TimeoutError") });
  },
});
const note = resource({ uri: "test://note", name: "note", read: () => "text" });
const greet = prompt({ name: "greet", get: () => "Hello" });
const ALL = [write, fail, refuse, asks, swallows, slow, note, greet];

const gateway = (options: PolicyOptions) => newGateway(options, ALL);
const calls = (events: readonly { readonly type: string }[]) =>
  events.filter(({ type }) => ["tool_called", "resource_read", "prompt_used"].includes(type)) as ToolCalled[];

test("a denied call does not run, and the model gets the operator's reason", async () => {
  const before = runs;
  const { call, events } = gateway({ rules: [{ tools: "files_*", effect: "deny", reason: "Read only" }] });
  const answer = await call("files_write", { path: "a" });
  assert.is(answer.result.isError, true);
  assert.match(textOf(answer), "Read only");
  assert.is(runs, before);
  const [{ outcome, reason, failed, milliseconds, ...rest }] = calls(events) as [ToolCalled];
  assert.equal([outcome, reason, failed, typeof milliseconds], ["denied", "rules[0]", true, "number"]);
  assert.equal(rest, {
    type: "tool_called",
    name: "files_write",
    principal: "alice",
    client: "app",
    ip: undefined,
    upstream: "files",
    arguments_digest: digestJson({ path: "a" }),
    arguments: undefined,
  });
});

test("resources and prompts are denied too, with an error", async () => {
  const { request, events } = gateway({ default: "deny" });
  assert.match((await request("resources/read", { uri: "test://note" })).error.message, "Denied");
  assert.match((await request("prompts/get", { name: "greet" })).error.message, "Denied");
  assert.equal(calls(events).map(({ type, outcome }) => [type, outcome]), [
    ["resource_read", "denied"],
    ["prompt_used", "denied"],
  ]);
});

test("each use is one event with its outcome", async () => {
  const { call, request, events } = gateway({});
  await call("files_write");
  await call("fail");
  await call("refuse");
  await call("slow");
  await request("resources/read", { uri: "test://note" });
  await request("prompts/get", { name: "greet" });
  assert.equal(calls(events).map(({ type, name, outcome, failed }) => [type, name, outcome, failed]), [
    ["tool_called", "files_write", "ok", false],
    ["tool_called", "fail", "error", true],
    ["tool_called", "refuse", "error", true],
    ["tool_called", "slow", "timeout", true],
    ["resource_read", "test://note", "ok", false],
    ["prompt_used", "greet", "ok", false],
  ]);
});

for (const name of ["asks", "swallows"]) {
  test(`a call of ${name} is recorded when it first asks the client, and when it ends`, async () => {
    const { call, events } = gateway({ audit: { keep: "*" } });
    const capabilities = { elicitation: {} };
    const first = await call(name, {}, { capabilities });
    const [{ milliseconds, ...asked }] = calls(events) as [ToolCalled];
    assert.type(milliseconds, "number");
    assert.equal(asked, {
      type: "tool_called",
      name,
      principal: "alice",
      failed: false,
      client: "app",
      ip: undefined,
      upstream: undefined,
      outcome: "input_required",
      reason: undefined,
      arguments_digest: digestJson({}),
      arguments: "{}",
    });
    // Without an answer it asks again.
    const again = await call(name, {}, { capabilities, more: { requestState: first.result.requestState } });
    assert.is(again.result.resultType, "input_required");
    assert.is(calls(events).length, 1);
    const { requestState } = first.result;
    await call(name, {}, {
      capabilities,
      more: { requestState, inputResponses: { name: { action: "decline" } } },
    });
    assert.equal(calls(events).map(({ outcome }) => outcome), ["input_required", "ok"]);
  });
}

test("a call that waits for its approval is no call that ran", async () => {
  const { call, events } = gateway({ rules: [{ effect: "ask" }] });
  await call("asks", {}, { capabilities: { elicitation: {} } });
  assert.equal(events.map(({ type }) => type), ["approval_requested"]);
});

test("equal arguments have one digest, whatever the order of their members; other ones have another", async () => {
  const { call, events } = gateway({});
  for (
    const args of [{ a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }, { a: 1, b: { c: 1, d: "2" } }]
  ) {
    await call("files_write", args);
  }
  const [first, second, third] = calls(events).map((event) => event.arguments_digest);
  assert.is(first, second);
  assert.is.not(first, third);
});

test("arguments are kept only where the operator wants it, bounded, and without secrets", async () => {
  const { call, events } = gateway({ audit: { digest: false, keep: "files_*" } });
  await call("files_write", {
    path: "a",
    auth: [{ apiKey: "s1", Password: "s2", access_token: "s3", deep: { clientSecret: { of: "s4" } } }],
    "api_key[]": "s5",
    "key[]": ["s6"],
    "user[pin]": "s7",
    "otp:1": "s8",
  });
  await call("fail", { path: "a" });
  await call("files_write", { text: "x".repeat(5000) });
  const [kept, other, long] = calls(events) as [ToolCalled, ToolCalled, ToolCalled];
  assert.match(kept.arguments!, '"path":"a"');
  for (let i = 1; i <= 8; i++) assert.not.match(kept.arguments!, `s${i}`);
  assert.is(other.arguments, undefined);
  assert.is(long.arguments!.length, 500);
  assert.equal([kept.arguments_digest, other.arguments_digest], [undefined, undefined]);
});

test("arguments that are too large, or not of JSON, are recorded as such", async () => {
  const { policy, events } = gateway({ audit: { keep: "*" } });
  const context = { principal: undefined, revision: "2025-11-25", signal: new AbortController().signal };
  for (const input of [{ list: Array(30_000).fill("a") }, { map: new Map() }]) {
    await policy.middleware(
      { kind: "tool", name: write.name, input, definition: write },
      context as never,
      () => "",
    );
  }
  assert.equal(calls(events).map((event) => [event.arguments_digest, event.arguments]), [
    ["too large", "too large"],
    ["not JSON", '{"map":{}}'],
  ]);
});

test("what is redacted can be named", async () => {
  const { call, events } = gateway({ audit: { keep: "*", redact: ["note*"] } });
  await call("files_write", { notes: "private", path: "a" });
  assert.equal(JSON.parse(calls(events)[0]!.arguments!), { notes: "[redacted]", path: "a" });
});

test("calls over a limit are refused with the time to wait, each user counted alone, and count again later", async () => {
  const { call, advance, events } = gateway({
    limits: [{ upstreams: "files", limit: { calls: 2, per: "1m" } }],
  });
  const outcome = async (user: string) => {
    const answer = await call("files_write", {}, { user });
    return answer.result.isError ? textOf(answer) : "ok";
  };
  assert.equal([await outcome("alice"), await outcome("alice")], ["ok", "ok"]);
  assert.match(await outcome("alice"), /Try again in \d+ s/);
  assert.is(await outcome("bob"), "ok");
  assert.is((await call("fail")).result.isError, true);
  assert.is(calls(events).at(-1)!.outcome, "error", "another tool is not counted");
  advance(120);
  assert.is(await outcome("alice"), "ok");
  assert.equal(calls(events).filter((event) => event.outcome === "limited").map(({ reason }) => reason), [
    "limits[0].limit",
  ]);
});

test("instances on one store share a limit, but for a twentieth of it that the other counts meanwhile", async () => {
  const options: PolicyOptions = { limits: [{ each: "all", limit: { calls: 3, per: "1h" } }] };
  const one = gateway(options);
  const other = newGateway(options, ALL, { store: one.store });
  let allowed = 0;
  for (const each of [one, other, one, other, one, other]) {
    if (!(await each.call("files_write")).result.isError) allowed++;
  }
  assert.ok(allowed === 3 || allowed === 4, `${allowed} calls`);
});

test("a budget counts what calls cost; a call without a valid cost is refused", async () => {
  const { call } = gateway({
    limits: [{ tools: "files_write", spend: { cost: "arguments.amount", budget: 100, per: "1d" } }],
  });
  const isRefused = async (args: unknown) => (await call("files_write", args)).result.isError === true;
  for (const amount of [undefined, "5", -5, null, [5]]) {
    assert.is(await isRefused({ amount }), true, String(amount));
  }
  assert.is(await isRefused({ amount: 5, AMOUNT: 1 }), true, "it is not known which one is meant");
  assert.is(await isRefused({ amount: 60.5 }), false);
  assert.is(await isRefused({ amount: 60 }), true);
  assert.is(await isRefused({ amount: 39 }), false);
  assert.is(await isRefused({ amount: 101 }), true);
});

test("a call that runs again is counted once", async () => {
  const { call } = gateway({ limits: [{ limit: { calls: 2, per: "1h" } }] });
  const capabilities = { elicitation: {} };
  for (let i = 0; i < 2; i++) {
    const { requestState } = (await call("asks", {}, { capabilities })).result;
    const more = { requestState, inputResponses: { name: { action: "decline" } } };
    assert.is((await call("asks", {}, { capabilities, more })).result.isError, undefined);
  }
  assert.is((await call("files_write")).result.isError, true);
});

test("attack: the state of a counted call that is sent again, at once or later, runs no second call", async () => {
  const bought: unknown[] = [];
  const buy = tool({
    name: "buy",
    description: "Buys what its user chooses",
    input: ANY,
    async run(args, { elicit }) {
      const schema = { type: "object", properties: {} } as const;
      for (const key of ["size", "color"]) await elicit({ key, message: "?", schema });
      return `bought ${bought.push(args)}`;
    },
  });
  const { call, events } = newGateway({
    limits: [{ tools: "buy", spend: { cost: "arguments.total", budget: 500, per: "1d" } }],
  }, [buy]);
  const send = (more: object = {}) =>
    call("buy", { total: 500 }, { capabilities: { elicitation: {} }, more: more as Record<string, unknown> });
  const answer = ({ result: { requestState } }: Answer, key: string) => ({
    requestState,
    inputResponses: { [key]: { action: "accept", content: {} } },
  });
  const size = answer(await send(), "size");
  const second = (await Promise.all([send(size), send(size)])).filter(({ result }) => !result.isError);
  assert.is(second.length, 1);
  const color = answer(second[0], "color");
  const ended = await Promise.all([send(color), send(color), send(size)]);
  assert.is(ended.filter(({ result }) => !result.isError).length, 1);
  assert.is((await send(color)).result.isError, true);
  assert.is(bought.length, 1);
  const refused = calls(events).filter(({ outcome }) => outcome === "denied");
  assert.equal(refused.map(({ reason }) => reason), Array(4).fill("state_used"));
  assert.is((await send()).result.isError, true, "the budget is spent");
});

test("the state of a call that no limit counts continues it without a write", async () => {
  const { call, store } = gateway({ limits: [{ tools: "files_*", limit: { calls: 2, per: "1h" } }] });
  const capabilities = { elicitation: {} };
  const { requestState } = (await call("asks", {}, { capabilities })).result;
  const more = { requestState, inputResponses: { name: { action: "decline" } } };
  for (let i = 0; i < 2; i++) {
    assert.is((await call("asks", {}, { capabilities, more })).result.isError, undefined);
  }
  assert.equal(await store.list(["approval_used"]), []);
});

for (
  const [options, place] of [
    [{ rule: [] }, '"policy" has the unknown member "rule"'],
    [{ limits: [{}] }, "policy.limits[0]"],
    [{ limits: [{ limit: { calls: 0, per: "1h" } }] }, "policy.limits[0].limit.calls"],
    [{ limits: [{ limit: { calls: 1, per: "1y" } }] }, "policy.limits[0].limit.per"],
    [{ limits: [{ limit: { calls: 1, per: "32d" } }] }, "policy.limits[0].limit.per"],
    [{ limits: [{ each: "team", limit: { calls: 1, per: "1h" } }] }, "policy.limits[0].each"],
    [{ limits: [{ spend: { cost: "amount", budget: 1, per: "1h" } }] }, "policy.limits[0].spend.cost"],
    [{ limits: [{ spend: { cost: 1, budget: -1, per: "1h" } }] }, "policy.limits[0].spend.budget"],
    [{ ask: { remember: "forever" } }, "policy.ask.remember"],
    [{ ask: { by: "mail" } }, "policy.ask.by"],
    [{ ask: { by: "page" } }, "policy.ask.by"],
    [{ ask: { wait: 301 } }, "policy.ask.wait"],
    [{ audit: { digest: "yes" } }, "policy.audit.digest"],
    [{ audit: { keep: [] } }, "policy.audit.keep"],
    [{ decisionPoint: { url: "http://pdp.example" } }, "policy.decisionPoint.url"],
    [{ decisionPoint: { url: "https://pdp.example", onError: "ask" } }, "policy.decisionPoint.onError"],
    [{ decisionPoint: { url: "https://pdp.example", timeout: 0 } }, "policy.decisionPoint.timeout"],
    [
      { decisionPoint: { url: "https://pdp.example", headers: { "a b": "c" } } },
      "policy.decisionPoint.headers",
    ],
  ] as const
) {
  test(`${JSON.stringify(options)} is refused with its place`, () => {
    const { store } = gateway({});
    const server = {
      store,
      now: Date.now,
      observe: () => {},
      place: "",
      hasPages: false,
      implied: new Map<string, ReadonlySet<string>>(),
    };
    assert.throws(
      () => createPolicy(options as unknown as PolicyOptions, server),
      (error: Error) => error instanceof TypeError && error.message.includes(place),
    );
  });
}

test.run();
