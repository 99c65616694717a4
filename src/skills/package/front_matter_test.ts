import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readSkillMarkdown, type SkillMarkdown } from "./front_matter.ts";

const test = suite("skills/front_matter");
const encoder = new TextEncoder();

function read(text: string): SkillMarkdown {
  const outcome = readSkillMarkdown(encoder.encode(text));
  if ("rule" in outcome) throw new Error(`${outcome.rule}: ${outcome.message}`);
  return outcome;
}

function refused(text: string): string {
  const outcome = readSkillMarkdown(encoder.encode(text));
  if (!("rule" in outcome)) throw new Error("It was taken");
  return `${outcome.rule} ${outcome.line ?? "-"} ${outcome.message}`;
}

const within = (yaml: string): string => `---\nname: demo\n${yaml}\n---\n`;

test("every scalar is the text that was written, whatever it looks like", () => {
  const { fields } = read(within("a: 1.10\nb: 007\nc: yes\nd: ~\ne: null\nf:\ng: 2026-01-01\nh: 'x: y'"));
  assert.equal([...fields], [
    ["name", "demo"],
    ["a", "1.10"],
    ["b", "007"],
    ["c", "yes"],
    ["d", "~"],
    ["e", "null"],
    ["f", ""],
    ["g", "2026-01-01"],
    ["h", "x: y"],
  ]);
});

test("as JSON, scalars are what the core schema says, and only what was quoted stays text", () => {
  const { json } = read(within(
    "version: 1.10\nquoted: '1.10'\noctal: 007\nhex: 0xff\nyes: yes\ntrue: true\nnothing: ~\nempty:\n" +
      "date: 2026-01-01\nlarge: .inf\nno: .nan\nlist: [1, a, [true]]\nmap: {1: x, a: {b: null}}\n" +
      "text: >-\n  one\n  two\nlines: |\n  one\n\n  two",
  ));
  assert.equal(JSON.parse(JSON.stringify(json)), {
    name: "demo",
    version: 1.1,
    quoted: "1.10",
    octal: 7,
    hex: 255,
    yes: "yes",
    true: true,
    nothing: null,
    empty: null,
    date: "2026-01-01",
    large: ".inf",
    no: ".nan",
    list: [1, "a", [true]],
    map: { 1: "x", a: { b: null } },
    text: "one two",
    lines: "one\n\ntwo\n",
  });
});

test("lists and maps are kept, down to four levels", () => {
  const { fields } = read(within("metadata: {author: me, tags: [a, b]}\ndeep: {a: {b: {c: {d: e}}}}"));
  const metadata = fields.get("metadata") as ReadonlyMap<string, unknown>;
  assert.equal([...metadata], [["author", "me"], ["tags", ["a", "b"]]]);
  assert.match(refused(within("deep: {a: {b: {c: {d: {e: f}}}}}")), /^yaml-depth .*4/);
});

test("the line of each field is told", () => {
  assert.equal([...read("---\nname: demo\n\n# comment\ndescription: >-\n  a\n  b\nlast: x\n---\n").lines], [
    ["name", 2],
    ["description", 5],
    ["last", 8],
  ]);
});

test("line ends of every system are taken, and a byte order mark", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const { fields, body } = read(["\ufeff---", "name: demo", "---", "One", "---", "two", ""].join(end));
    assert.equal([...fields], [["name", "demo"]]);
    assert.is(body, "One\n---\ntwo\n");
  }
});

test("only a line of exactly --- opens and ends front matter", () => {
  for (
    const text of ["--- \nname: demo\n---\n", "----\nname: demo\n---\n", "\n---\nname: demo\n---\n", "", "--"]
  ) {
    assert.match(refused(text), /^front-matter 1 /, JSON.stringify(text));
  }
  assert.match(refused("---\nname: demo\n--- \n"), /^front-matter 3 /);
  assert.match(refused("---\nname: demo\n"), /^front-matter 1 /);
  assert.match(read("---\nname: demo\n---").fields.get("name") as string, "demo");
  assert.match(refused("---\n---\n"), /^yaml-fields 2 /);
});

for (
  const [what, bytes, problem] of [
    [
      "no UTF-8",
      [45, 45, 45, 13, 10, 0x61, 13, 0xff],
      ["encoding", 3],
    ],
    ["UTF-16", [0xff, 0xfe, 45, 0], ["encoding", 1]],
    ["a NUL", [45, 10, 10, 0], ["encoding", 3]],
  ] as const
) {
  test(`${what} is told with its line and what to do`, () => {
    const outcome = readSkillMarkdown(Uint8Array.from(bytes));
    assert.equal("rule" in outcome && [outcome.rule, outcome.line], problem);
  });
}

for (
  const [what, text, hint] of [
    ["a blank line before it", "\n---\nname: x\n---\n", "remove the empty lines and spaces before it"],
    ["a blank after it", "--- \nname: x\n---\n", "write three hyphens and nothing else on the first line"],
    ["no line at all", "name: x\n", 'put a line "---" before the first field and after the last'],
    ["a blank after its end", "---\nname: x\n--- \n", "write three hyphens and nothing else on that line"],
    ["a tab as indentation", within("x:\n\ty: z"), "indent with spaces, not tabs"],
    [
      "a text that begins with a sign",
      within("x: @y"),
      "put quotes around a value that begins with a special character",
    ],
    ["a colon in a text", within("x: y: z"), "put quotes around a value that contains a colon"],
  ] as const
) {
  test(`front matter with ${what}: the hint says what to mend`, () => {
    const outcome = readSkillMarkdown(encoder.encode(text));
    assert.is("rule" in outcome && outcome.hint, hint);
  });
}

test("200 lines and 16384 characters are taken, one more is refused", () => {
  const lines = (count: number) => "---\nname: demo\n" + "# x\n".repeat(count - 1) + "---\n";
  assert.is(read(lines(200)).fields.size, 1);
  assert.match(refused(lines(201)), "front-matter-size");
  const long = (count: number) => within("x: " + "y".repeat(count));
  assert.is(read(long(16_000)).fields.size, 2);
  assert.match(refused(long(16_384)), "front-matter-size");
});

test("64 keys are taken, one more is refused, on lines, in a flow map or nested", () => {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => `k${i}`);
  assert.is(read(within(keys(63).map((key) => `${key}: x`).join("\n"))).fields.size, 64);
  for (
    const yaml of [
      keys(64).map((key) => `${key}: x`).join("\n"),
      `x: {${keys(63).join(", ")}}`,
      `x: [${keys(64).map((key) => `{${key}: x}`).join(", ")}]`,
    ]
  ) {
    assert.match(refused(within(yaml)), /^yaml-keys .*64/);
  }
});

test("hundreds of keys in one flow map are refused", () => {
  const keys = Array.from({ length: 600 }, (_, i) => i.toString(36)).join(",");
  assert.match(refused(within(`x: {${keys}}`)), /^yaml-keys .*64/);
});

for (
  const [what, yaml] of [
    ["open brackets", "x: " + "[".repeat(16_000)],
    ["brackets", "x: " + "[".repeat(7900) + "]".repeat(7900)],
    ["braces", "x: " + "{a: ".repeat(3000) + "b" + "}".repeat(3000)],
    ["sequences on one line", "x:\n  " + "- ".repeat(7000) + "a"],
    ["complex keys on one line", "? ".repeat(7000) + "a"],
    ["as many as pass a first look", "x: " + "[".repeat(64) + "]".repeat(64)],
    [
      "as many lines as pass a first look",
      "x:\n" + Array.from({ length: 40 }, (_, i) => " ".repeat(16 * i + 1) + "- ".repeat(8)).join("\n"),
    ],
  ] as const
) {
  test(`nesting by ${what} is refused as nesting, never a stack that ends`, () => {
    assert.match(refused(within(yaml)), /^yaml-depth .*4/);
  });
}

test("brackets in text are text", () => {
  assert.is(
    read(within("description: 'Draws ([{ :-[ }]) as they are'")).fields.get("description"),
    "Draws ([{ :-[ }]) as they are",
  );
});

for (
  const [what, yaml, rule, message] of [
    ["an anchor", "x: &a y", "yaml-anchor", "anchors and aliases"],
    ["an alias", "x: *a", "yaml-anchor", "anchors and aliases"],
    ["an anchor deep inside", "x: [{y: &a z}]", "yaml-anchor", "anchors and aliases"],
    ["an anchor on a key", "&a x: y", "yaml-anchor", "anchors and aliases"],
    ["a local tag", "x: !a y", "yaml", "malformed YAML"],
    ["a tag of YAML itself", "x: !!str y", "yaml-tag", "tags are not allowed"],
    ["a bare tag", "x: ! y", "yaml-tag", "tags are not allowed"],
    ["a merge key", "<<: {a: b}", "yaml-field-name", '"<<" is not allowed'],
    ["a quoted merge key inside", "x: {'<<': b}", "yaml-field-name", '"<<" is not allowed'],
    ["a list as a key", "? [a, b]\n: c", "yaml-field-name", '"" is not allowed'],
    ["no key", "? : c", "yaml-field-name", '"" is not allowed'],
    ["a key twice", "x: 1\nx: 2", "yaml-duplicate", '"x"'],
    ["a key twice inside", "x: {y: 1, y: 2}", "yaml-duplicate", '"y"'],
    ["a key twice in two spellings", "x: 1\n'x': 2", "yaml-duplicate", '"x"'],
    ["__proto__", "__proto__: x", "yaml-field-name", '"__proto__" is not allowed'],
    ["constructor inside a list", "x: [{constructor: y}]", "yaml-field-name", '"constructor" is not allowed'],
    ["a directive", "%YAML 1.1", "yaml", "malformed YAML"],
    ["a second document", "...\nx: y", "yaml", "malformed YAML"],
  ] as const
) {
  test(`${what} is refused`, () => {
    const outcome = refused(within(yaml));
    assert.is(outcome.slice(0, outcome.indexOf(" ")), rule);
    assert.match(outcome, / \d+ malformed YAML frontmatter in SKILL\.md: /);
    assert.match(outcome, message);
  });
}

test("front matter that is a list, a text or nothing is refused", () => {
  for (const yaml of ["- a", "text", "# only a comment", ""]) {
    assert.match(refused(`---\n${yaml}\n---\n`), /^yaml-fields /);
  }
});

test("a body of 8 MB of empty lines is read", () => {
  const text = within("x: y") + "\n".repeat(8 * 1024 * 1024);
  assert.is(read(text).body.length, 8 * 1024 * 1024);
});

test("what the parser would take long for is refused by the number of its tokens", () => {
  const read = (yaml: string) =>
    readSkillMarkdown(new TextEncoder().encode(`---\nname: demo\n${yaml}\n---\n`)) as { rule?: string };
  for (const unit of ["a: ", "&a ", "!a ", "[] ", "? ", "'a' "]) {
    assert.is(read(`x: ${unit.repeat(3900)}`).rule, "yaml-keys", unit);
  }
  assert.is(read(`x: [${"a,".repeat(2000)}]`).rule, "yaml-keys");
  assert.not.ok("rule" in read(`x: [${"a,".repeat(600)}]`));
  // A text may be long: it is one token, or two.
  for (const text of [`x: "${"a: ".repeat(3900)}"`, `x: |\n  ${"a: ".repeat(3900)}`]) {
    assert.not.ok("rule" in read(text));
  }
});

test.run();
