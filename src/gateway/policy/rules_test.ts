import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import { resource, resourceTemplate, tool } from "../../mcp/definition/define.ts";
import type { OfferedDefinition } from "./offered.ts";
import type { PolicyOptions } from "./policy_options.ts";
import { compileRules, nameOf } from "./rules.ts";

const test = suite("gateway/policy/rules");

const toolOf = (name: string, upstream?: string): OfferedDefinition => ({
  ...tool({ name, description: "", run: () => name }),
  ...(upstream !== undefined && { upstream }),
});
const DELETE = toolOf("github_delete", "github");
const OWN = toolOf("own");
const ALICE: Principal = { subject: "alice", client: "app", workspace: "w", scopes: new Set(["read"]) };
const BOB: Principal = { ...ALICE, subject: "bob", scopes: new Set(["write"]) };
const SERVICE: Principal = { client: "service", workspace: "w", scopes: new Set() };
const FOREIGN: Principal = { ...ALICE, issuer: "https://idp.example" };
const IMPLIED = new Map([["write", new Set(["read"])]]);

const effectOf = (
  policy: PolicyOptions,
  caller: Principal | undefined,
  definition = DELETE,
  input: unknown = {},
) => compileRules(policy, IMPLIED).decide(definition, nameOf(definition), input, caller).effect;
const isVisible = (policy: PolicyOptions, caller: Principal | undefined, definition = DELETE) =>
  compileRules(policy, IMPLIED).isVisible(definition, caller);

test("the first rule that applies decides, and the default when none does", () => {
  const policy: PolicyOptions = {
    default: "deny",
    rules: [
      { tools: "github_*", users: "alice", effect: "ask" },
      { tools: "github_delete", effect: "deny" },
      { upstreams: "github", effect: "allow" },
    ],
  };
  assert.is(effectOf(policy, ALICE), "ask");
  assert.is(effectOf(policy, BOB), "deny");
  assert.is(effectOf(policy, BOB, toolOf("github_list", "github")), "allow");
  assert.is(effectOf(policy, ALICE, OWN), "deny");
  assert.is(effectOf({}, undefined), "allow");
  assert.is(compileRules(policy, IMPLIED).decide(DELETE, "github_delete", {}, ALICE).place, "rules[0]");
});

test("callers are matched by kind, id, client, scope and issuer", () => {
  const only = (rule: object): PolicyOptions => ({ default: "deny", rules: [{ ...rule, effect: "allow" }] });
  const cases: [object, (Principal | undefined)[]][] = [
    [{ callers: "user" }, [ALICE, BOB, FOREIGN]],
    [{ callers: ["client", "anonymous"] }, [SERVICE, undefined]],
    [{ users: ["alice", "carol"] }, [ALICE]],
    [{ users: "*" }, [ALICE, BOB]],
    [{ clients: "app" }, [ALICE, BOB]],
    [{ scopes: "read" }, [ALICE, BOB, FOREIGN]],
    [{ scopes: "write" }, [BOB]],
    [{ issuers: "https://idp.example", users: "alice" }, [FOREIGN]],
    [{ users: "Alice" }, []],
  ];
  for (const [rule, expected] of cases) {
    for (const caller of [ALICE, BOB, SERVICE, FOREIGN, undefined]) {
      const effect = expected.includes(caller) ? "allow" : "deny";
      assert.is(
        effectOf(only(rule), caller),
        effect,
        JSON.stringify([rule, caller?.subject, caller?.issuer]),
      );
    }
  }
});

test("a user of another issuer is not the user with this id, and does not escape a rule against this id", () => {
  assert.is(effectOf({ default: "deny", rules: [{ users: "alice", effect: "allow" }] }, FOREIGN), "deny");
  assert.is(effectOf({ rules: [{ users: "alice", effect: "deny" }] }, FOREIGN), "deny");
});

test("a name under another spelling does not escape a rule that denies, and gets none that allows", () => {
  for (const name of ["GitHub_delete", "github_delete\u200b", "ｇithub_delete"]) {
    const other = toolOf(name, "github");
    assert.is(effectOf({ rules: [{ tools: "github_delete", effect: "deny" }] }, ALICE, other), "deny", name);
    assert.is(
      effectOf({ default: "deny", rules: [{ tools: "github_delete", effect: "allow" }] }, ALICE, other),
      "deny",
    );
  }
});

test("what a condition does not know restricts", () => {
  const when = { "arguments.path": { startsWith: "/tmp/" } };
  const allow: PolicyOptions = { default: "deny", rules: [{ effect: "allow", when }] };
  const deny: PolicyOptions = {
    rules: [{ effect: "deny", when: { "arguments.path": { not: { startsWith: "/tmp/" } } } }],
  };
  const ask: PolicyOptions = { rules: [{ effect: "ask", when: { "arguments.amount": { above: 100 } } }] };
  assert.is(effectOf(allow, ALICE, DELETE, { path: "/tmp/a" }), "allow");
  assert.is(effectOf(deny, ALICE, DELETE, { path: "/tmp/a" }), "allow");
  assert.is(effectOf(ask, ALICE, DELETE, { amount: 5 }), "allow");
  for (const path of [undefined, ["/tmp/a"], "/tmp/../etc", { path: "/tmp/a" }]) {
    assert.is(effectOf(allow, ALICE, DELETE, { path }), "deny");
    assert.is(effectOf(deny, ALICE, DELETE, { path }), "deny");
  }
  for (const amount of [undefined, "500", [500], null, 500]) {
    assert.is(effectOf(ask, ALICE, DELETE, { amount }), "ask", JSON.stringify(amount));
  }
});

test("a rule about tools is not about resources, and one about nothing is about all", () => {
  const file = resource({ uri: "file:///secret/a", name: "a", read: () => "" });
  assert.is(effectOf({ rules: [{ tools: "*", effect: "deny" }] }, ALICE, file), "allow");
  assert.is(effectOf({ rules: [{ resources: "file:///secret/*", effect: "deny" }] }, ALICE, file), "deny");
  assert.is(effectOf({ rules: [{ resources: "file:///secret/*", effect: "deny" }] }, ALICE), "allow");
  assert.is(effectOf({ rules: [{ effect: "deny" }] }, ALICE, file), "deny");
});

test("lists hide what is denied whatever the arguments are", () => {
  const when = { "arguments.path": "a" };
  assert.is(isVisible({ rules: [{ effect: "deny", users: "alice" }] }, ALICE), false);
  assert.is(isVisible({ rules: [{ effect: "deny", users: "alice" }] }, BOB), true);
  assert.is(isVisible({ rules: [{ effect: "deny", when }] }, ALICE), true);
  assert.is(isVisible({ default: "deny", rules: [{ effect: "allow", when }] }, ALICE), true);
  assert.is(isVisible({ default: "deny", rules: [{ effect: "ask" }] }, ALICE), true);
  assert.is(
    isVisible({ default: "deny", rules: [{ effect: "deny", when }, { effect: "deny" }] }, ALICE),
    false,
  );
  assert.is(isVisible({ default: "deny" }, ALICE), false);
  assert.is(
    isVisible({ default: "deny", rules: [{ upstreams: "git*", effect: "allow" }] }, ALICE, OWN),
    false,
  );
});

test("lists hide a template when all that it can address is denied", () => {
  const template: OfferedDefinition = {
    ...resourceTemplate({ uriTemplate: "upstream://files/file:///hr/{name}", name: "t", read: () => "" }),
    upstream: "files",
  };
  const cases: [PolicyOptions, boolean][] = [
    [{}, true],
    [{ default: "deny" }, false],
    [{ default: "ask" }, true],
    [{ rules: [{ effect: "deny" }] }, false],
    [{ rules: [{ upstreams: "files", users: "alice", effect: "deny" }] }, false],
    [{ rules: [{ upstreams: "files", users: "bob", effect: "deny" }] }, true],
    [{ rules: [{ upstreams: "other", effect: "deny" }] }, true],
    [{ rules: [{ tools: "*", effect: "deny" }] }, true],
    [{ rules: [{ effect: "deny", when: { "arguments.name": "a" } }] }, true],
    [{ rules: [{ resources: "upstream://files/*", effect: "deny" }] }, false],
    [{ rules: [{ resources: "upstream://files/file:///hr/salar*", effect: "deny" }] }, true],
  ];
  const resources = (allowed: string): PolicyOptions => ({
    default: "deny",
    rules: [{ resources: allowed, effect: "allow" }],
  });
  for (
    const [uri, expected] of [
      ["upstream://files/*", true],
      ["upstream://files/file:///hr/salary", true],
      ["*/salary", true],
      ["upstream://files/file:///srv/*", false],
      ["upstream://other/*", false],
    ] as const
  ) cases.push([resources(uri), expected]);
  for (const [policy, expected] of cases) {
    assert.is(isVisible(policy, ALICE, template), expected, JSON.stringify(policy));
  }
});

for (
  const [policy, place] of [
    [{ default: "maybe" }, "policy.default"],
    [{ rules: {} }, "policy.rules"],
    [{ rules: [{ effect: "allow" }, { effect: "no" }] }, "policy.rules[1].effect"],
    [{ rules: [{ tools: "a" }] }, "policy.rules[0].effect"],
    [{ rules: [{ effect: "allow", tool: "a" }] }, 'policy.rules[0]" has the unknown member "tool"'],
    [{ rules: [{ effect: "allow", tools: [] }] }, "policy.rules[0].tools"],
    [{ rules: [{ effect: "allow", users: [""] }] }, "policy.rules[0].users"],
    [{ rules: [{ effect: "allow", callers: "robot" }] }, "policy.rules[0].callers"],
    [{ rules: [{ effect: "deny", scopes: "read write" }] }, "policy.rules[0].scopes"],
    [{ rules: [{ effect: "deny", scopes: ["read", ""] }] }, "policy.rules[0].scopes"],
    [{ rules: [{ effect: "allow", reason: 5 }] }, "policy.rules[0].reason"],
    [{ rules: [{ effect: "deny", when: { x: 1 } }] }, "policy.rules[0].when"],
    [{ rules: ["deny"] }, "policy.rules[0]"],
  ] as const
) {
  test(`${JSON.stringify(policy)} is refused with its place`, () => {
    assert.throws(
      () => compileRules(policy as unknown as PolicyOptions, IMPLIED),
      (error: Error) => error instanceof TypeError && error.message.includes(place),
    );
  });
}

test.run();
