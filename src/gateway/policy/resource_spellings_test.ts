import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../http/principal.ts";
import { assertLoopIsFree } from "../../http/test_loop_watchdog.ts";
import { resourceTemplate } from "../../mcp/definition/define.ts";
import { nameOfUse, type OfferedDefinition } from "./offered.ts";
import type { PolicyOptions } from "./policy_options.ts";
import { compileRules } from "./rules.ts";

const test = suite("gateway/policy/rules: spellings of resources");

const ALICE: Principal = { subject: "alice", client: "app", workspace: "w", scopes: new Set(["read"]) };
const IMPLIED = new Map([["write", new Set(["read"])]]);

test("a resource of a template is matched by its URI, however it is written", () => {
  const template = resourceTemplate({ uriTemplate: "file:///{+path}", name: "t", read: () => "" });
  const { decide } = compileRules({ rules: [{ resources: "file:///secret/*", effect: "deny" }] }, IMPLIED);
  const effect = (path: string) =>
    decide(template, nameOfUse(template, template.uriTemplate, { path }), { path }, ALICE).effect;
  assert.is(effect("public/a"), "allow");
  for (const path of ["secret/a", "public/../secret/a", "SECRET/a", "%73ecret/a", "secret//a"]) {
    assert.is(effect(path), "deny", path);
  }
});

/** What a rule says about the reads of a resource of an MCP server, whose URI is in that of the gateway. */
function effectOfReads(effect: "allow" | "deny", pattern: string) {
  const template: OfferedDefinition = {
    ...resourceTemplate({ uriTemplate: "upstream://files/{+uri}", name: "t", read: () => "" }),
    upstream: "files",
  };
  const policy: PolicyOptions = {
    default: effect === "allow" ? "deny" : "allow",
    rules: [{ resources: pattern, effect }],
  };
  const { decide } = compileRules(policy, IMPLIED);
  return (uri: string) => decide(template, `upstream://files/${uri}`, {}, ALICE).effect;
}

test("attack: a URI that is too long to be compared is not allowed, and holds the event loop for a moment only", async () => {
  const uri = `files/${"é/".repeat(300_000)}`;
  await assertLoopIsFree(() => {
    assert.is(effectOfReads("allow", "upstream://files/files/*")(uri), "deny");
    assert.is(effectOfReads("deny", "upstream://files/other/*")(uri), "deny");
  });
});

test("attack: a query does not lead out of the URL of a file, and of other URLs it is a part", () => {
  const denied = effectOfReads("deny", "upstream://files/file:///etc/passwd");
  for (const rest of ["", "?x", "#x", "%3fx"]) assert.is(denied(`file:///etc/passwd${rest}`), "deny", rest);
  assert.is(denied("file:///etc/passwd2?x"), "allow");
  assert.is(effectOfReads("deny", "upstream://files/db://rows")("db://rows?x"), "allow");
});

for (
  const pattern of [
    "upstream://files/file:///etc/*",
    "upstream://*/file:///etc/*",
    "*file:///etc/*",
    "*://files/file:///etc/*",
  ]
) {
  test(`attack: the URI of a resource of an MCP server is written otherwise than ${pattern}`, () => {
    const denied = effectOfReads("deny", pattern);
    const allowed = effectOfReads("allow", pattern);
    for (const path of ["etc/passwd", "etc/a/b"]) {
      assert.is(denied(`file:///${path}`), "deny", path);
      assert.is(allowed(`file:///${path}`), "allow", path);
    }
    for (
      const path of [
        "x/../etc/passwd",
        "/etc/passwd",
        "ETC/passwd",
        "./etc/passwd",
        "%65tc/passwd",
        "etc%2fpasswd",
        "etc\\passwd",
        "\u200betc/passwd",
        "etc/a\\b/../../shadow",
        "etc//../shadow",
        "etc/passwd?/../../x",
      ]
    ) {
      assert.is(denied(`file:///${path}`), "deny", path);
      assert.is(allowed(`file:///${path}`), "deny", path);
    }
    for (const path of ["srv/readme", "etc/../srv/readme", "/srv/readme", "etc2/passwd"]) {
      assert.is(allowed(`file:///${path}`), "deny", path);
    }
    for (const uri of ["file:/etc/passwd", "file://localhost/etc/passwd", "file://LOCALHOST/etc/passwd"]) {
      assert.is(denied(uri), "deny", uri);
      assert.is(allowed(uri), "deny", uri);
    }
    assert.is(denied("file:///srv/readme"), "allow");
  });
}

for (
  const pattern of [
    "upstream://*/https://intra.example:443/*",
    "upstream://*/https://intra.example/*",
    "upstream://*/HTTPS://INTRA.example:443/*",
    "upstream://*/https://user@intra.example/*",
    "upstream://*/https://intra.example/a/../*",
    "upstream://files/https://*:443/*",
    "upstream://files/https://*.example:443/*",
    "upstream://files/https://intra.example:*/*",
    "upstream://files/https://intra.example:443*",
    "upstream://*/*://intra.example:443/*",
    "*https://intra.example:443/*",
  ]
) {
  test(`attack: the URL of a resource of an MCP server is written otherwise than ${pattern}`, () => {
    const denied = effectOfReads("deny", pattern);
    for (
      const uri of [
        "https://intra.example/a",
        "https://intra.example:443/a",
        "HTTPS://INTRA.EXAMPLE:0443/a",
        "https://user:secret@intra.example/a",
        "https:intra.example/a",
        "https:/intra.example/a",
        "https:\\\\intra.example/a",
        "https:///intra.example/a",
        " https://intra.example/a",
        "ht\ttps://intra.example/a",
        "https://%69ntra.example/a",
        "https%3A//intra.example:443/a",
        "https%253A%252F%252Fintra.example:443/a",
        "https://intra.example/../a",
        "https://intra.example/%2e%2e/a",
        "https://intra.example/..%2fa",
        "https%3A//intra.example/../a",
        "https://intra.example/./a",
        "https://intra.example?a",
      ]
    ) {
      assert.is(denied(uri), "deny", uri);
    }
    if (!pattern.includes("://*")) assert.is(denied("https://public.org/a"), "allow");
  });
}

test("attack: .. ends at the root of a URL in the URI of an MCP server", () => {
  for (const pattern of ["upstream://files/file:///etc/*", "*file:///etc/*"]) {
    for (
      const uri of [
        "file:///../etc/passwd",
        "file:/../etc/passwd",
        "file:etc/passwd",
        "file:\\..\\etc\\passwd",
        "file:///..%2fetc/passwd",
        "file://localhost/../etc/passwd",
      ]
    ) {
      assert.is(effectOfReads("deny", pattern)(uri), "deny", `${pattern} ${uri}`);
      assert.is(effectOfReads("allow", pattern)(uri), "deny", `${pattern} ${uri}`);
    }
  }
  assert.is(effectOfReads("deny", "upstream://files/kb://docs/*")("kb://docs/../a"), "deny");
});

test("attack: a pattern beside a star has another spelling than the URI", () => {
  for (
    const [pattern, uri] of [
      ["https://*.ex\u00e4mple.org/*", "https://a.xn--exmple-cua.org/x"],
      ["https://*\u00e4.org/*", "https://xn--b-zfa.org/x"],
      ["https://*.example", "https://a.example/"],
      ["https://10.0.0.*/x*", "https://10.0.0.0x1/x"],
    ] as const
  ) {
    assert.is(effectOfReads("deny", `upstream://*/${pattern}`)(uri), "deny", pattern);
  }
  assert.is(effectOfReads("deny", "upstream://*/https://*.org/*")("https://a.example/"), "allow");
  assert.is(
    effectOfReads("allow", "upstream://*/https://a.example:443/*")("https://a.example:443/x"),
    "allow",
  );
});

test("attack: the URI is written otherwise than a pattern with percent-encoding or a default port", () => {
  const spaces = "upstream://files/file:///my%20files/*";
  assert.is(effectOfReads("allow", spaces)("file:///my%20files/a"), "allow");
  for (const path of ["my%20files/a", "My%20files/a", "my files/a", "x/../my%20files/a"]) {
    assert.is(effectOfReads("deny", spaces)(`file:///${path}`), "deny", path);
  }
  const template = resourceTemplate({ uriTemplate: "https://{+uri}", name: "t", read: () => "" });
  for (
    const pattern of ["https://intra.example:443/*", "https://user@intra.example/*", "https://intra.example*"]
  ) {
    const { decide } = compileRules({ rules: [{ resources: pattern, effect: "deny" }] }, IMPLIED);
    for (
      const uri of [
        "https://intra.example/a",
        "https://INTRA.example:443/a",
        "ht\ttps://intra.example:443/a",
        "https%3A//intra.example:443/a",
        "https:intra.example/../a",
      ]
    ) {
      assert.is(decide(template, uri, {}, ALICE).effect, "deny", `${pattern} ${uri}`);
    }
    assert.is(decide(template, "https://other.example/a", {}, ALICE).effect, "allow");
  }
});

test.run();
