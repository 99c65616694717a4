import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "../../mcp/definition/define.ts";
import { until } from "../../test_until.ts";
import type { DecisionPointOptions } from "./policy_options.ts";
import { newGateway, textOf } from "./test_gateway.ts";

const test = suite("gateway/policy/decision_point");
const ANY = { type: "object", additionalProperties: true } as const;

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  // Tests read requests of any shape.
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** @param answer what the decision point does with each request */
function setUp(
  answer: (sent: Sent) => Response | Promise<Response>,
  options: Partial<DecisionPointOptions> = {},
) {
  const sent: Sent[] = [];
  let runs = 0;
  const definition = {
    ...tool({ name: "github_delete", description: "", input: ANY, run: () => `run ${++runs}` }),
    upstream: "github",
    originalName: "delete",
  };
  const own = tool({ name: "own", description: "", input: ANY, run: () => "own" });
  const gateway = newGateway(
    {
      rules: [{ tools: "own", when: { "arguments.denied": true }, effect: "deny" }],
      decisionPoint: { url: "https://pdp.example/base", timeout: 5000, ...options },
    },
    [definition, own],
    {
      async fetch(url, init) {
        const one = { url, init, body: JSON.parse(init.body as string) };
        sent.push(one);
        return await answer(one);
      },
    },
  );
  const outcomeOf = async (args: unknown = {}, user: string | null = "alice") =>
    (await gateway.call("github_delete", args, { user })).result.isError ? "denied" : "ok";
  return { ...gateway, sent, outcomeOf, runs: () => runs };
}

const decide = (decision: unknown, fields: Record<string, string> = {}) => () =>
  Response.json({ decision }, { headers: fields });

test("the request has the shape of the Access Evaluation API and the default mapping for tools/call", async () => {
  const { sent, outcomeOf } = setUp(decide(true), { headers: { authorization: "Bearer secret" } });
  assert.is(await outcomeOf({ repo: "a" }), "ok");
  const [{ url, init, body }] = sent as [Sent];
  assert.is(url, "https://pdp.example/base/access/v1/evaluation");
  assert.is(init.method, "POST");
  const fields = new Headers(init.headers);
  assert.is(fields.get("content-type"), "application/json");
  assert.is(fields.get("authorization"), "Bearer secret");
  assert.equal(body, {
    subject: { type: "identity", id: "alice", properties: { workspace: "w" } },
    action: { name: "tools/call" },
    resource: {
      type: "tool",
      id: "github_delete",
      properties: { mcp_server: "github", name: "delete" },
    },
    context: { agent: "app", scopes: [], arguments: { repo: "a" } },
  });
});

test("the URL of the endpoint itself is used as it is", async () => {
  const { sent, outcomeOf } = setUp(decide(true), { url: "https://pdp.example/v2/evaluation" });
  await outcomeOf();
  assert.is(sent[0]!.url, "https://pdp.example/v2/evaluation");
});

test("an anonymous caller has another type of subject than a user of this name", async () => {
  const { sent, outcomeOf } = setUp(decide(true));
  await outcomeOf({}, null);
  assert.equal(sent[0]!.body.subject, { type: "anonymous", id: "anonymous" });
});

test("a denial denies, and is no error", async () => {
  const { outcomeOf, runs, events } = setUp(decide(false));
  assert.is(await outcomeOf(), "denied");
  assert.is(runs(), 0);
  assert.equal(events.map((event) => (event as { reason?: string }).reason), ["decision_point"]);
});

for (
  const [what, answer] of [
    ["status 500", () => new Response("{}", { status: 500 })],
    ["status 401", () => new Response("unauthorized", { status: 401 })],
    ["a redirect", () => new Response(null, { status: 302, headers: { location: "https://x.example" } })],
    ["a decision that is text", decide("true")],
    ["a decision that is 1", decide(1)],
    ["no decision", () => Response.json({})],
    ["null", () => Response.json(null)],
    ["a list", () => Response.json([{ decision: true }])],
    ["text that is no JSON", () => new Response("decision: true")],
    [
      "an answer that is too large",
      () => Response.json({ decision: true, context: { text: "x".repeat(70_000) } }),
    ],
    ["no connection", () => Promise.reject(new TypeError("refused"))],
  ] as const
) {
  test(`${what} denies, unless the operator wants it to allow`, async () => {
    const closed = setUp(answer);
    assert.is(await closed.outcomeOf(), "denied");
    assert.is(closed.runs(), 0);
    assert.equal(closed.events.map(({ type }) => type), ["fault", "tool_called"]);
    assert.is((closed.events[1] as { reason?: string }).reason, "decision_point_failed");
    assert.is(await setUp(answer, { onError: "allow" }).outcomeOf(), "ok");
  });
}

test("a decision point that does not answer in time denies", async () => {
  const { outcomeOf } = setUp(() => new Promise(() => {}), { timeout: 5 });
  assert.is(await outcomeOf(), "denied");
});

test("it is not asked about what the rules deny, and cannot allow that", async () => {
  const { call, sent } = setUp(decide(true));
  assert.match(textOf(await call("own", { denied: true })), "Denied");
  assert.is(sent.length, 0);
});

test("it can be limited to some tools, and does not get the arguments where the operator says so", async () => {
  const { call, sent } = setUp(decide(false), { tools: "github_*", arguments: false });
  assert.is(textOf(await call("own", { denied: false })), "own");
  assert.is((await call("github_delete", { secret: "s" })).result.isError, true);
  assert.is(sent.length, 1);
  assert.not.match(JSON.stringify(sent[0]!.body), "secret");
});

test("decisions are used again only with the option, for the same request, and no longer than they say", async () => {
  const asked = async (
    fields: Record<string, string>,
    cache: number,
    calls: readonly (readonly [args: unknown, user: string, seconds: number])[],
  ) => {
    const { outcomeOf, sent, advance } = setUp(decide(true, fields), { cache });
    for (const [args, user, seconds] of calls) {
      advance(seconds);
      await outcomeOf(args, user);
    }
    return sent.length;
  };
  const twice = [[{ a: 1 }, "alice", 0], [{ a: 1 }, "alice", 0]] as const;
  assert.is(await asked({}, 0, twice), 2);
  assert.is(await asked({}, 60, twice), 1);
  assert.is(await asked({ "cache-control": "no-store" }, 60, twice), 2);
  assert.is(await asked({ "cache-control": "max-age=0" }, 60, twice), 2);
  assert.is(await asked({}, 60, [[{ a: 1 }, "alice", 0], [{ a: 2 }, "alice", 0]]), 2);
  assert.is(await asked({}, 60, [[{ a: 1 }, "alice", 0], [{ a: 1 }, "bob", 0]]), 2);
  assert.is(await asked({}, 60, [[{ a: 1 }, "alice", 0], [{ a: 1 }, "alice", 61]]), 2);
  const stated = { "cache-control": "private, max-age=10" };
  assert.is(await asked(stated, 60, [[{ a: 1 }, "alice", 0], [{ a: 1 }, "alice", 9]]), 1);
  assert.is(await asked(stated, 60, [[{ a: 1 }, "alice", 0], [{ a: 1 }, "alice", 11]]), 2);
});

test("attack: many pending requests of one user do not make those of another fail", async () => {
  const answers: (() => void)[] = [];
  const { sent, outcomeOf } = setUp(() =>
    new Promise((resolve) => answers.push(() => resolve(Response.json({ decision: true }))))
  );
  const calls = Array.from({ length: 70 }, (_, i) => outcomeOf({ i }));
  await until(() => sent.length >= 64);
  const other = outcomeOf({}, "bob");
  await until(() => sent.length >= 65);
  for (const answer of answers) answer();
  assert.is(await other, "ok");
  const outcomes = await Promise.all(calls);
  assert.is(outcomes.filter((outcome) => outcome === "ok").length, 64);
  const again = outcomeOf({});
  await until(() => answers.length > 65);
  answers.at(-1)!();
  assert.is(await again, "ok", "the places are free again");
});

test("attack: many calls at the same time pass no decision point whose failures allow", async () => {
  const answers: (() => void)[] = [];
  const { sent, outcomeOf, runs } = setUp(
    () => new Promise((resolve) => answers.push(() => resolve(Response.json({ decision: false })))),
    { onError: "allow" },
  );
  const calls = Array.from({ length: 70 }, (_, i) => outcomeOf({ i }));
  await until(() => sent.length >= 64);
  for (const answer of answers) answer();
  assert.is((await Promise.all(calls)).filter((outcome) => outcome === "ok").length, 0);
  assert.is(runs(), 0);
});

test.run();
