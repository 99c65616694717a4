import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileWhen } from "./condition.ts";

const test = suite("gateway/policy/condition");

const decide = (when: unknown, input: unknown) => compileWhen(when, "rules[0].when")(input);
const path = (value: unknown) => ({ path: value });

test("comparisons of values of the same type are true or false", () => {
  const cases: [unknown, unknown, boolean][] = [
    ["a", "a", true],
    ["a", "b", false],
    [1, 1, true],
    [1, 2, false],
    [null, null, true],
    [{ oneOf: ["a", "b"] }, "b", true],
    [{ oneOf: [1, "b"] }, 2, false],
    [{ startsWith: "/tmp/" }, "/tmp/a", true],
    [{ startsWith: "/tmp/" }, "/etc/a", false],
    [{ endsWith: ".txt" }, "a.txt", true],
    [{ contains: "drop table" }, "select", false],
    [{ under: "/tmp" }, "/tmp", true],
    [{ under: "/tmp" }, "/tmp/a", true],
    [{ under: "/tmp/" }, "/tmpfile", false],
    [{ under: "https://api.example/v1" }, "https://api.example/v1/x?y=1", true],
    [{ glob: "/tmp/*.txt" }, "/tmp/a.txt", true],
    [{ glob: "/tmp/*.txt" }, "/tmp/a/b.txt", false],
    [{ glob: "/tmp/**/x/*.txt" }, "/tmp/a/b/x/y.txt", true],
    [{ glob: "*@example.com" }, "a@example.com", true],
    [{ below: 5 }, 4, true],
    [{ below: 5 }, 5, false],
    [{ atMost: 5 }, 5, true],
    [{ above: 5 }, 5, false],
    [{ atLeast: 5 }, 5, true],
    [{ atLeast: 1, atMost: 5 }, 6, false],
    [{ not: "a" }, "b", true],
    [{ not: { startsWith: "/tmp/" } }, "/tmp/x", false],
    [{ present: true }, "a", true],
    [{ present: false }, "a", false],
  ];
  for (const [condition, value, expected] of cases) {
    assert.is(
      decide({ "arguments.path": condition }, path(value)),
      expected,
      JSON.stringify([condition, value]),
    );
  }
});

test("a missing argument is unknown, but not to present", () => {
  for (
    const condition of ["a", { oneOf: [1] }, { startsWith: "a" }, { above: 1 }, { not: "a" }, {
      contains: "a",
    }]
  ) {
    assert.is(decide({ "arguments.path": condition }, {}), undefined, JSON.stringify(condition));
    assert.is(decide({ "arguments.path": condition }, undefined), undefined);
  }
  assert.is(decide({ "arguments.path": { present: true } }, {}), false);
  assert.is(decide({ "arguments.path": { present: false } }, {}), true);
  assert.is(
    decide({ "arguments.force": { present: true, equals: true } }, {}),
    false,
    "an optional argument",
  );
  assert.is(decide({ "arguments.path": { present: true } }, path(null)), undefined);
});

test("a value of another type is unknown", () => {
  const cases: [unknown, unknown][] = [
    [true, "true"],
    [5, "5"],
    ["5", 5],
    ["a", ["a"]],
    ["a", { a: 1 }],
    [{ above: 100 }, "1e9"],
    [{ above: 100 }, JSON.parse("1e999")],
    [{ above: 100 }, [500]],
    [{ startsWith: "/etc/" }, ["/etc/passwd"]],
    [{ startsWith: "/etc/" }, { toString: "/etc/" }],
    [null, "null"],
  ];
  for (const [condition, value] of cases) {
    assert.is(
      decide({ "arguments.path": condition }, path(value)),
      undefined,
      JSON.stringify([condition, value]),
    );
  }
});

test("a member whose name another program may read as this one makes it unknown", () => {
  const when = { "arguments.file_path": { startsWith: "/tmp/" } };
  assert.is(decide(when, { file_path: "/tmp/a" }), true);
  for (const other of ["FILE_PATH", "filePath", "file-path", "ﬁle_path", "file_path\u200b", "File Path"]) {
    assert.is(decide(when, { file_path: "/tmp/a", [other]: "/etc/passwd" }), undefined, other);
    assert.is(decide(when, { [other]: "/etc/passwd" }), undefined, `only ${other}`);
  }
});

test("names of the prototype are members like others", () => {
  assert.is(decide({ "arguments.__proto__": "a" }, JSON.parse('{"__proto__":"a"}')), true);
  assert.is(decide({ "arguments.constructor": { present: true } }, {}), false);
  assert.is(decide({ "arguments.toString": { present: true } }, {}), false);
});

test("a path leads through objects, items of lists, and all of them", () => {
  assert.is(decide({ "arguments.a.b": 1 }, { a: { b: 1 } }), true);
  assert.is(decide({ "arguments.a.1": "y" }, { a: ["x", "y"] }), true);
  assert.is(decide({ "arguments.a.2": { present: true } }, { a: ["x", "y"] }), false);
  assert.is(decide({ "arguments.a\\.b": 1 }, { "a.b": 1 }), true);
  assert.is(decide({ "arguments.a.b": 1 }, { a: "b" }), undefined);
  assert.is(decide({ "arguments.a.b": 1 }, { a: [{ b: 1 }] }), undefined, "a list is no object");
});

test("with a star all values must agree, and there must be some", () => {
  const when = { "arguments.files.*.path": { startsWith: "/tmp/" } };
  const files = (...paths: unknown[]) => ({ files: paths.map((path) => ({ path })) });
  assert.is(decide(when, files("/tmp/a", "/tmp/b")), true);
  assert.is(decide(when, files("/etc/a", "/etc/b")), false);
  assert.is(decide(when, files("/tmp/a", "/etc/b")), undefined);
  assert.is(decide(when, files("/tmp/a", 5)), undefined);
  assert.is(decide(when, files()), undefined);
  assert.is(decide(when, { files: "/tmp/a" }), undefined);
  assert.is(decide(when, files(...Array(1001).fill("/tmp/a"))), undefined, "too many to look at");
  assert.is(decide({ "arguments.*": "a" }, { x: "a", y: "a" }), true);
});

test("several conditions must all hold, and one that is false decides", () => {
  const when = { "arguments.a": 1, "arguments.b": 2 };
  assert.is(decide(when, { a: 1, b: 2 }), true);
  assert.is(decide(when, { a: 1 }), undefined);
  assert.is(decide(when, { a: 0 }), false);
});

test("hostile texts are compared in bounded time", () => {
  const star = { "arguments.path": { glob: "*a*a*a*a*a*a*a*a*b" } };
  const many = { "arguments.path": { glob: "/**/a/**/a/**/a/**/b" } };
  const began = performance.now();
  assert.is(decide(star, path("a".repeat(65_000))), false);
  assert.is(decide(many, path("/a".repeat(32_000))), false);
  assert.is(decide({ "arguments.path": { under: "/tmp" } }, path("/tmp" + "/..".repeat(20_000))), undefined);
  assert.is(decide({ "arguments.path": { contains: "x" } }, path("%25".repeat(20_000))), false);
  assert.is(decide({ "arguments.path": { contains: "x" } }, path("a".repeat(4_000_000))), undefined);
  assert.ok(performance.now() - began < 5000);
});

test("attack: arguments of four megabytes hold the event loop for a moment only", () => {
  // Its compatibility form has 18 characters.
  const wide = "\ufdfa";
  const names = Object.fromEntries(Array.from({ length: 9999 }, (_, i) => [`${wide.repeat(130)}${i}`, 0]));
  const list = Array.from({ length: 999 }, (_, i) => `/tmp/${i}${wide.repeat(1300)}`);
  const cases: [when: unknown, input: unknown, truth?: boolean][] = [
    [{ "arguments.path": "a" }, { ...names, path: "a" }],
    [{ "arguments.*.path": "a" }, { x: names, y: { path: "a" } }],
    [{ "arguments.files.*": { under: "/tmp" } }, { files: list }],
    [
      { "arguments.path": { under: "https://a.example/x" } },
      path(`https://a.example/x/${wide.repeat(65_000)}`),
    ],
    [{ "arguments.path": { contains: "x" } }, path(wide.repeat(65_000))],
    [{ "arguments.path": { under: "/tmp" } }, path(`/${".".repeat(65_000)}x`), false],
    [{ "arguments.path": { contains: "/tmp" } }, path(`/${" .".repeat(32_000)}x`), false],
  ];
  for (const [when, input, expected] of cases) {
    const began = performance.now();
    const truth = decide(when, input);
    const took = performance.now() - began;
    assert.is(truth, expected);
    assert.ok(took < 250, `${Math.round(took)} ms for ${JSON.stringify(when)}`);
  }
  const files = (text: string, count: number) => ({ files: Array(count).fill(text) });
  assert.is(decide({ "arguments.files.*": "a" }, files("a", 1000)), true);
  const many = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`column_${i}`, 0]));
  assert.is(decide({ "arguments.path": "a" }, { ...many, path: "a" }), true);
});

for (
  const [what, when, place] of [
    ["a list", [], "rules[0].when"],
    ["nothing", {}, "rules[0].when"],
    ["a path without its root", { path: "a" }, 'rules[0].when["path"]'],
    ["an empty name", { "arguments..a": "a" }, 'rules[0].when["arguments..a"]'],
    ["the root alone", { arguments: "a" }, 'rules[0].when["arguments"]'],
    ["an unknown comparison", { "arguments.a": { matches: "a" } }, 'rules[0].when["arguments.a"]'],
    ["an empty condition", { "arguments.a": {} }, 'rules[0].when["arguments.a"]'],
    ["a list as a condition", { "arguments.a": ["x"] }, 'rules[0].when["arguments.a"]'],
    ["an empty text", { "arguments.a": { startsWith: "" } }, 'rules[0].when["arguments.a"].startsWith'],
    ["a number as a text", { "arguments.a": { contains: 5 } }, 'rules[0].when["arguments.a"].contains'],
    ["a text as a number", { "arguments.a": { above: "5" } }, 'rules[0].when["arguments.a"].above'],
    ["a relative folder", { "arguments.a": { under: "tmp" } }, 'rules[0].when["arguments.a"].under'],
    ["a host without an end", { "arguments.a": { startsWith: "https://a.example" } }, "startsWith"],
    [
      "an unknown comparison inside not",
      { "arguments.a": { not: { x: 1 } } },
      'rules[0].when["arguments.a"].not',
    ],
  ] as const
) {
  test(`${what} is refused with its place`, () => {
    assert.throws(
      () => compileWhen(when, "rules[0].when"),
      (error: Error) => error instanceof TypeError && error.message.includes(place),
    );
  });
}

test.run();
