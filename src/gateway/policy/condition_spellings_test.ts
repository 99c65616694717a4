/**
 * Conditions on texts and places that are written otherwise than the rule writes them.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileWhen } from "./condition.ts";

const test = suite("gateway/policy/condition, other spellings");

const decide = (when: unknown, input: unknown) => compileWhen(when, "rules[0].when")(input);
const path = (value: unknown) => ({ path: value });

test("a text that means the same under another spelling is unknown", () => {
  const cases: [unknown, string][] = [
    ["admin", "Admin"],
    ["admin", "ａｄｍｉｎ"],
    ["admin", "ad\u200bmin"],
    ["admin", "admin "],
    ["admin", "admin\0"],
    ["admin", "adm\u0131n".replace("\u0131", "i") + "\u202e"],
    [{ contains: "drop table" }, "DROP TABLE"],
    [{ contains: "drop table" }, "dr\u200dop table"],
    [{ endsWith: ".sh" }, "a.sh "],
    [{ endsWith: ".sh" }, "a.SH"],
  ];
  for (const [condition, value] of cases) {
    assert.is(
      decide({ "arguments.path": condition }, path(value)),
      undefined,
      JSON.stringify([condition, value]),
    );
  }
});

for (
  const value of [
    "/tmp/../etc/passwd",
    "/tmp/./../etc/passwd",
    "/tmp/..\\etc\\passwd",
    "/tmp/%2e%2e/etc/passwd",
    "/tmp/%252e%252e/etc/passwd",
    "/tmp/..%2fetc/passwd",
    "/tmp/a/../../etc/passwd",
    "/tmp/．．/etc/passwd",
    "/tmp/.\u200b./etc/passwd",
    // Of one segment to programs that decode nothing, and know no other slash.
    "/tmp/a%2fb%2fc/../../../etc/passwd",
    "/tmp/a\\b\\c/../../../etc/passwd",
    "/tmp/a／b／c/../../../etc/passwd",
    "/tmp/%2e%2e%2f%ff/../etc/passwd",
    "/tmp/..;/etc/passwd",
    // Other folders where case and dots count.
    "/tmp/../TMP/passwd",
    "/tmp/../tmp./passwd",
  ]
) {
  test(`${JSON.stringify(value)} is not certain to be below /tmp`, () => {
    for (const condition of [{ startsWith: "/tmp/" }, { under: "/tmp" }, { glob: "/tmp/**" }]) {
      assert.is(decide({ "arguments.path": condition }, path(value)), undefined, JSON.stringify(condition));
    }
  });
}

for (
  const value of [
    "/tmp/../etc/passwd",
    "/./etc/passwd",
    "//etc//passwd",
    "\\etc\\passwd",
    "/%65tc/passwd",
    "/ETC/passwd",
    "etc/passwd",
    "../../etc/passwd",
    "~/../../etc/passwd",
    "file:///etc/passwd",
    "c:\\etc\\passwd",
    "/etc./passwd",
    "/etc/a\u200b/../passwd",
    "/%65tc%2f%ff/../passwd",
  ]
) {
  test(`${JSON.stringify(value)} is not certain to be outside /etc`, () => {
    for (const condition of [{ startsWith: "/etc/" }, { under: "/etc" }, { glob: "/etc/**" }]) {
      assert.is(decide({ "arguments.path": condition }, path(value)), undefined, JSON.stringify(condition));
    }
    assert.is.not(decide({ "arguments.path": "/etc/passwd" }, path(value)), false);
  });
}

for (
  const value of [
    "file:///tmp////../../../etc/passwd",
    "file:///tmp/%2e%2e%2fusr/../etc/passwd",
    "file:///tmp/a\\b\\c/../../../etc/passwd",
  ]
) {
  test(`${JSON.stringify(value)} is not certain to be below file:///tmp`, () => {
    assert.is(decide({ "arguments.path": { under: "file:///tmp" } }, path(value)), undefined);
  });
}

test("attack: a name that some programs drop does not lead out of what is denied", () => {
  const when = { "arguments.path": { under: "/a/etc" } };
  assert.is(decide(when, path("/a/b/\u200b/../../etc/passwd")), undefined);
});

test("attack: a query does not lead out of the place of a URL", () => {
  for (const place of ["https://internal/admin", "https://internal", "file:///etc/passwd"]) {
    const when = { "arguments.path": { under: place } };
    for (const rest of ["", "?x=1", "#x", "/?x"]) assert.is(decide(when, path(place + rest)), true, rest);
    for (const rest of ["%3fx", "?/../../x"]) assert.is.not(decide(when, path(place + rest)), false, rest);
    assert.is.not(decide(when, path(`${place}x?x`)), true);
  }
  assert.is(decide({ "arguments.path": { under: "/etc/passwd" } }, path("/etc/passwd?x")), false);
});

test("`..` that leads to one place in every reading is certain", () => {
  for (const value of ["/tmp/a/../b", "/tmp/A/../b", "/tmp/a%20b", "/tmp/a//b", "/tmp/a..b/c"]) {
    assert.is(decide({ "arguments.path": { under: "/tmp" } }, path(value)), true, value);
  }
});

for (
  const value of [
    "https://internal:443/x",
    "https://user@internal/x",
    "HTTPS://INTERNAL/x",
    "https:internal/x",
    "https:\\\\internal\\x",
    "//internal/x",
    "https://internal./x",
    "https://ｉnternal/x",
  ]
) {
  test(`${JSON.stringify(value)} is not certain to be elsewhere than at https://internal/`, () => {
    assert.is(decide({ "arguments.path": { under: "https://internal/" } }, path(value)), undefined);
  });
}

for (
  const condition of [
    { startsWith: "https://proxy/http://internal/" },
    { under: "https://proxy/http://internal" },
    { glob: "https://proxy/http://internal/**" },
    { contains: "http://internal/" },
    { contains: "//internal/" },
  ]
) {
  test(`attack: a URL within the argument is written otherwise than ${JSON.stringify(condition)}`, () => {
    const when = { "arguments.path": condition };
    assert.is(decide(when, path("https://proxy/http://internal/x")), true);
    for (
      const url of [
        "http:///internal/x",
        "HTTP://internal/x",
        "http://internal/../internal/x",
        "http:%2f/internal/x",
      ]
    ) {
      assert.is.not(decide(when, path(`https://proxy/${url}`)), false, url);
    }
    assert.is(decide(when, path("https://proxy/http://other/x")), false);
  });
}

test("attack: .. leads out of a URL within the argument", () => {
  const when = { "arguments.path": { startsWith: "https://proxy/https://good/" } };
  assert.is(decide(when, path("https://proxy/https://good/a")), true);
  for (const end of ["../../../admin", "a/../../../../admin", "%2e%2e/../../admin", "..\\..\\..\\admin"]) {
    assert.is.not(decide(when, path(`https://proxy/https://good/${end}`)), true, end);
  }
});

test("attack: an invisible character, or another case of a letter, hides a text", () => {
  const said = ["payroll", "\u03bf\u03b4\u03bf\u03c2", "stra\u00dfe", "finger"];
  const tests = [{ oneOf: said }, { contains: "payroll" }, { startsWith: "/payroll/" }] as const;
  for (
    const hidden of [
      "\u034f",
      "\u115f",
      "\u17b4",
      "\u180b",
      "\u200b",
      "\u2065",
      "\u3164",
      "\uffa0",
      "\ufe0f",
      "\u{e01f0}",
    ]
  ) {
    const [oneOf, contains, startsWith] = tests;
    assert.is(decide({ "arguments.path": oneOf }, path(`pay${hidden}roll`)), undefined, hidden);
    assert.is(decide({ "arguments.path": contains }, path(`a pay${hidden}roll`)), undefined);
    assert.is(decide({ "arguments.path": startsWith }, path(`/pay${hidden}roll/a`)), undefined);
    assert.is(
      decide({ "arguments.path": `/pay${hidden}roll/` }, path("/payroll/")),
      undefined,
      "in the rule",
    );
  }
  for (
    const other of [
      "\u03bf\u03b4\u03bf\u03c3",
      "\u039f\u0394\u039f\u03a3",
      "STRASSE",
      "STRA\u1e9eE",
      "F\u0130NGER",
      "f\u0131nger",
    ]
  ) {
    assert.is(decide({ "arguments.path": { oneOf: said } }, path(other)), undefined, other);
  }
  assert.is(
    decide({ "arguments.path": { contains: "\u03bf\u03c2" } }, path("\u039f\u03a3\u0391")),
    undefined,
  );
  assert.is(
    decide({ "arguments.path": { startsWith: "/\u03bf\u03c2/" } }, path("/\u039f\u03a3/a")),
    undefined,
  );
  assert.is(decide({ "arguments.path": { oneOf: said } }, path("invoices")), false);
});

test("slashes alone are compared as they are written", () => {
  for (const condition of [{ contains: "//" }, { endsWith: "//" }]) {
    assert.is(decide({ "arguments.path": condition }, path("/tmp/a/")), false);
  }
});

test("attack: an argument is written otherwise than a path with percent-encoding", () => {
  for (
    const condition of [{ startsWith: "/my%20files/" }, { under: "/my%20files" }, { glob: "/my%20files/**" }]
  ) {
    assert.is(decide({ "arguments.path": condition }, path("/my%20files/a")), true);
    for (const value of ["/My%20files/a", "/x/../my%20files/a", "/my files/a"]) {
      assert.is(decide({ "arguments.path": condition }, path(value)), undefined, value);
    }
  }
});

test.run();
