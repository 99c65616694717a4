import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../../events.ts";
import { prompt, resourceTemplate, tool, toolServer } from "../../mcp_service.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";
import { gateway } from "../gateway.ts";
import type { DecisionPointOptions, PolicyOptions } from "./policy_options.ts";

const test = suite("gateway/policy, completions");
const ISSUER = "http://127.0.0.1:8787";
const FILES = "upstream://files/file:///hr/{name}";
const TREE = "upstream://files/tree:///{+path}";
const NOTES = "notes:///{year}/{name}";

const started: { readonly gateway?: { close(): Promise<void> } | undefined }[] = [];
test.after(async () => {
  for (const each of started) await each.gateway!.close();
});

/** A gateway to a server with completions, and with completions of its own; `completed` has those that ran. */
function setUp(policy: PolicyOptions, decide?: () => boolean) {
  const completed: string[] = [];
  const among = (of: string, ...values: string[]) => (value: string) => {
    completed.push(of);
    return values.filter((each) => each.startsWith(value));
  };
  const letter = (name: string) =>
    prompt({
      name,
      arguments: [{ name: "employee", complete: among(name, "Alice", "Bob") }, { name: "kind" }],
      get: () => "text",
    });
  const upstream = toolServer({
    url: "https://files.example",
    store: memoryStore(),
    definitions: [
      resourceTemplate({
        uriTemplate: "file:///hr/{name}",
        name: "hr",
        complete: { name: among("hr", "salary.pdf", "dismissals.pdf") },
        read: () => "text",
      }),
      resourceTemplate({
        uriTemplate: "tree:///{+path}",
        name: "tree",
        complete: { path: among("tree", "public/a", "secret/b", "public/../secret/c") },
        read: () => "text",
      }),
      letter("letter"),
    ],
  });
  const events: TrivetEvent[] = [];
  const trivet = createTrivet({
    issuer: ISSUER,
    store: memoryStore(),
    skills: false,
    onEvent: (event) => void events.push(event),
    mcp: {
      auth: "off",
      definitions: [
        tool({ name: "own", description: "Own", run: () => "own" }),
        letter("own_letter"),
        resourceTemplate({
          uriTemplate: NOTES,
          name: "notes",
          complete: { name: among("notes", "todo") },
          read: () => "text",
        }),
      ],
    },
    gateway: gateway({
      mcpServers: { files: { url: "https://files.example/mcp" } },
      fetch: (url, init) =>
        url.startsWith("https://pdp.example")
          ? Promise.resolve(Response.json({ decision: decide!() }))
          : upstream.fetch(new Request(url, init)),
      policy,
    }),
  });
  started.push(trivet);
  const rpc = async (method: string, params: object = {}) => {
    const request = new Request(`${ISSUER}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return await (await trivet.fetch(request)).json();
  };
  /** The values; the code of an error. */
  const complete = async (ref: object, name: string, value = "", known = {}) => {
    const params = { ref, argument: { name, value }, context: { arguments: known } };
    const { result, error } = await rpc("completion/complete", params);
    return error?.code ?? result.completion.values;
  };
  return {
    completed,
    complete,
    ofTemplate: (uri: string, name: string, value?: string) =>
      complete({ type: "ref/resource", uri }, name, value),
    ofPrompt: (name: string, known?: object) => complete({ type: "ref/prompt", name }, "employee", "", known),
    rpc,
    templates: async () =>
      (await rpc("resources/templates/list")).result.resourceTemplates.map((
        { uriTemplate }: { uriTemplate: string },
      ) => uriTemplate),
    events: () => events.filter(({ type }) => type === "completion_requested"),
  };
}

test("completions of what the policy allows are answered and recorded", async () => {
  const { ofTemplate, ofPrompt, templates, events } = setUp({});
  assert.equal(await templates(), [NOTES, FILES, TREE]);
  assert.equal(await ofTemplate(FILES, "name", "s"), ["salary.pdf"]);
  assert.equal(await ofPrompt("files_letter"), ["Alice", "Bob"]);
  assert.equal(await ofPrompt("own_letter"), ["Alice", "Bob"]);
  assert.equal(
    events().map((each) => "outcome" in each && [each.name, each.upstream, each.outcome, each.failed]),
    [
      [FILES, "files", "ok", false],
      ["files_letter", "files", "ok", false],
      ["own_letter", undefined, "ok", false],
    ],
  );
});

for (
  const [what, policy] of [
    ["a rule that denies the MCP server", { rules: [{ upstreams: "files", effect: "deny" }] }],
    ["a rule that denies the callers", { rules: [{ callers: "anonymous", effect: "deny" }] }],
    ["a rule that denies its resources", {
      rules: [{ resources: "upstream://files/*", prompts: "files_*", effect: "deny" }],
    }],
    ["the default", { default: "deny", rules: [{ tools: "own", effect: "allow" }] }],
    ["rules that allow others", {
      default: "deny",
      rules: [
        { upstreams: "other", effect: "allow" },
        { resources: ["upstream://files/file:///srv/*", "upstream://other/*"], effect: "allow" },
        { effect: "deny" },
      ],
    }],
  ] satisfies [string, PolicyOptions][]
) {
  test(`attack: completions of what is denied by ${what}`, async () => {
    const { ofTemplate, ofPrompt, templates, completed } = setUp(policy);
    assert.equal((await templates()).filter((each: string) => each === FILES || each === TREE), []);
    assert.type(await ofTemplate(FILES, "name"), "number");
    assert.type(await ofTemplate(TREE, "path"), "number");
    assert.type(await ofPrompt("files_letter"), "number");
    assert.equal(completed, []);
  });
}

test("attack: completions of what the user would be asked about", async () => {
  const { ofTemplate, ofPrompt, templates, completed, events } = setUp({ rules: [{ effect: "ask" }] });
  assert.equal(await templates(), [NOTES, FILES, TREE]);
  assert.is(await ofTemplate(FILES, "name"), -32000);
  assert.is(await ofPrompt("files_letter"), -32000);
  assert.is(await ofPrompt("own_letter"), -32000);
  assert.equal(completed, []);
  assert.equal(events().map((each) => "outcome" in each && [each.outcome, each.reason]), [
    ["denied", "rules[0]"],
    ["denied", "rules[0]"],
    ["denied", "rules[0]"],
  ]);
});

test("attack: a rule with a condition on arguments is passed by a completion without them", async () => {
  const when = { "arguments.kind": "secret" };
  for (const effect of ["deny", "ask"] as const) {
    const { ofPrompt, completed } = setUp({ rules: [{ prompts: "files_letter", when, effect }] });
    assert.is(await ofPrompt("files_letter"), -32000);
    assert.is(await ofPrompt("files_letter", { kind: "public" }), -32000, "the server may not look at it");
    assert.equal(await ofPrompt("own_letter"), ["Alice", "Bob"]);
    assert.equal(completed, ["own_letter"]);
  }
  const allow = setUp({ default: "deny", rules: [{ prompts: "*", when, effect: "allow" }] });
  assert.is(await allow.ofPrompt("files_letter", { kind: "secret" }), -32000);
  assert.equal(allow.completed, []);
});

test("of a template with one variable, each value is decided by its URI", async () => {
  const deny = setUp({ rules: [{ resources: "upstream://files/tree:///secret/*", effect: "deny" }] });
  assert.equal(await deny.templates(), [NOTES, FILES, TREE]);
  assert.equal(await deny.ofTemplate(TREE, "path"), ["public/a"]);
  assert.equal(await deny.ofTemplate(FILES, "name", "s"), ["salary.pdf"], "the rule is not about it");
  const { result } = await deny.rpc("completion/complete", {
    ref: { type: "ref/resource", uri: TREE },
    argument: { name: "path", value: "" },
  });
  assert.is(result.completion.total, undefined, "the total says how many are left out");
  const allow = setUp({
    default: "deny",
    rules: [{ resources: "upstream://files/tree:///public/*", effect: "allow" }],
  });
  assert.equal(await allow.templates(), [TREE]);
  assert.equal(await allow.ofTemplate(TREE, "path"), ["public/a"]);
  const when = { "arguments.path": { under: "/" } };
  const unknown = setUp({ rules: [{ resources: "upstream://files/*", when, effect: "deny" }] });
  assert.equal(await unknown.ofTemplate(TREE, "path"), []);
});

test("of a template with several variables, a rule about some of its resources is about all", async () => {
  const { ofTemplate, templates, completed } = setUp({
    rules: [{ resources: "notes:///2020/*", effect: "deny" }],
  });
  assert.equal(await templates(), [NOTES, FILES, TREE]);
  assert.is(await ofTemplate(NOTES, "name"), -32000);
  assert.equal(completed, []);
});

test("completions count for the limits, and ask the decision point", async () => {
  const { ofTemplate, ofPrompt, completed, events } = setUp({
    limits: [{ upstreams: "files", limit: { calls: 1, per: "1h" } }],
  });
  assert.equal(await ofPrompt("files_letter"), ["Alice", "Bob"]);
  assert.is(await ofTemplate(FILES, "name"), -32000);
  assert.equal(completed, ["letter"]);
  assert.equal(events().map((each) => "outcome" in each && [each.outcome, each.reason]), [
    ["ok", undefined],
    ["limited", "limits[0].limit"],
  ]);
  const decisionPoint: DecisionPointOptions = { url: "https://pdp.example" };
  const denied = setUp({ decisionPoint }, () => false);
  assert.is(await denied.ofPrompt("files_letter"), -32000);
  assert.equal(denied.completed, []);
  const allowed = setUp({ decisionPoint }, () => true);
  assert.equal(await allowed.ofPrompt("files_letter"), ["Alice", "Bob"]);
});

test.run();
