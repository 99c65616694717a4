import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readSkillMarkdown, type SkillMarkdown } from "./front_matter.ts";

const test = suite("skills/package/front_matter");
const encoder = new TextEncoder();

function read(text: string): SkillMarkdown {
  const outcome = readSkillMarkdown(encoder.encode(text));
  if ("rule" in outcome) throw new Error(`${outcome.rule}: ${outcome.message}`);
  return outcome;
}

function refused(text: string): string {
  const outcome = readSkillMarkdown(encoder.encode(text));
  if (!("rule" in outcome)) throw new Error("It was accepted");
  return `${outcome.rule} ${outcome.line ?? "-"} ${outcome.message}`;
}

const within = (yaml: string): string => `---\nname: demo\n${yaml}\n---\n`;

test("every scalar is its text as written", () => {
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

test("as JSON, plain scalars have the types of the core schema, and quoted scalars are strings", () => {
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

test("lists and maps are kept up to four levels", () => {
  const { fields } = read(within("metadata: {author: me, tags: [a, b]}\ndeep: {a: {b: {c: {d: e}}}}"));
  const metadata = fields.get("metadata") as ReadonlyMap<string, unknown>;
  assert.equal([...metadata], [["author", "me"], ["tags", ["a", "b"]]]);
  assert.match(refused(within("deep: {a: {b: {c: {d: {e: f}}}}}")), /^yaml-depth .*4/);
});

test("each field has its line", () => {
  assert.equal([...read("---\nname: demo\n\n# comment\ndescription: >-\n  a\n  b\nlast: x\n---\n").lines], [
    ["name", 2],
    ["description", 5],
    ["last", 8],
  ]);
});

test("LF, CR LF, CR and a byte order mark are accepted", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const { fields, body } = read(["\ufeff---", "name: demo", "---", "One", "---", "two", ""].join(end));
    assert.equal([...fields], [["name", "demo"]]);
    assert.is(body, "One\n---\ntwo\n");
  }
});

test("only a line of exactly --- begins and ends front matter", () => {
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
      "invalid UTF-8",
      [45, 45, 45, 13, 10, 0x61, 13, 0xff],
      ["encoding", 3],
    ],
    ["UTF-16", [0xff, 0xfe, 45, 0], ["encoding", 1]],
    ["a NUL", [45, 10, 10, 0], ["encoding", 3]],
  ] as const
) {
  test(`${what} is refused with its line`, () => {
    const outcome = readSkillMarkdown(Uint8Array.from(bytes));
    assert.equal("rule" in outcome && [outcome.rule, outcome.line], problem);
  });
}

for (
  const [what, text, hint] of [
    ["an empty line before it", "\n---\nname: x\n---\n", /empty lines/],
    ["a space after its first delimiter", "--- \nname: x\n---\n", /first line/],
    ["no delimiter", "name: x\n", /"---"/],
    ["a space after its last delimiter", "---\nname: x\n--- \n", /that line/],
    ["a tab as indentation", within("x:\n\ty: z"), /tabs/],
    ["a value that begins with an indicator", within("x: @y"), /quotes .* begins/],
    ["a colon in a value", within("x: y: z"), /quotes .* colon/],
  ] as const
) {
  test(`the hint for front matter with ${what} names the cause`, () => {
    const outcome = readSkillMarkdown(encoder.encode(text));
    assert.match("rule" in outcome && outcome.hint || "", hint);
  });
}

test("200 lines and 16384 characters are accepted, and one more is refused", () => {
  const lines = (count: number) => "---\nname: demo\n" + "# x\n".repeat(count - 1) + "---\n";
  assert.is(read(lines(200)).fields.size, 1);
  assert.match(refused(lines(201)), "front-matter-size");
  const long = (count: number) => "---\n" + "name: demo\nx: ".padEnd(count, "y") + "\n---\n";
  assert.is(read(long(16_384)).fields.size, 2);
  assert.match(refused(long(16_385)), "front-matter-size");
});

test("64 keys are accepted, and one more is refused, on lines, in a flow map or nested", () => {
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
    ["as many brackets as the scan allows", "x: " + "[".repeat(64) + "]".repeat(64)],
    [
      "as many lines as the scan allows",
      "x:\n" + Array.from({ length: 40 }, (_, i) => " ".repeat(16 * i + 1) + "- ".repeat(8)).join("\n"),
    ],
  ] as const
) {
  test(`nesting by ${what} is refused with yaml-depth, without a stack overflow`, () => {
    assert.match(refused(within(yaml)), /^yaml-depth .*4/);
  });
}

test("brackets in a quoted value are text", () => {
  assert.is(
    read(within("description: 'Draws ([{ :-[ }]) as they are'")).fields.get("description"),
    "Draws ([{ :-[ }]) as they are",
  );
});

for (
  const [what, yaml, rule, name] of [
    ["an anchor", "x: &a y", "yaml-anchor", ""],
    ["an alias", "x: *a", "yaml-anchor", ""],
    ["a nested anchor", "x: [{y: &a z}]", "yaml-anchor", ""],
    ["an anchor on a key", "&a x: y", "yaml-anchor", ""],
    ["a local tag", "x: !a y", "yaml", ""],
    ["a tag of YAML itself", "x: !!str y", "yaml-tag", ""],
    ["a bare tag", "x: ! y", "yaml-tag", ""],
    ["a merge key", "<<: {a: b}", "yaml-field-name", '"<<"'],
    ["a quoted nested merge key", "x: {'<<': b}", "yaml-field-name", '"<<"'],
    ["a list as a key", "? [a, b]\n: c", "yaml-field-name", '""'],
    ["no key", "? : c", "yaml-field-name", '""'],
    ["a duplicate key", "x: 1\nx: 2", "yaml-duplicate", '"x"'],
    ["a nested duplicate key", "x: {y: 1, y: 2}", "yaml-duplicate", '"y"'],
    ["a duplicate key in two spellings", "x: 1\n'x': 2", "yaml-duplicate", '"x"'],
    ["__proto__", "__proto__: x", "yaml-field-name", '"__proto__"'],
    ["constructor inside a list", "x: [{constructor: y}]", "yaml-field-name", '"constructor"'],
    ["half of a surrogate pair", 'x: "a\\ud800"', "yaml-surrogate", ""],
    ["half of a surrogate pair in a key", 'x: [{"\\udfff": y}]', "yaml-surrogate", ""],
    ["a directive", "%YAML 1.1", "yaml", ""],
    ["a second document", "...\nx: y", "yaml", ""],
  ] as const
) {
  test(`${what} is refused`, () => {
    const outcome = refused(within(yaml));
    assert.is(outcome.slice(0, outcome.indexOf(" ")), rule);
    assert.match(outcome, /^\S+ \d+ .*SKILL\.md/);
    assert.ok(outcome.includes(name), outcome);
  });
}

test("a character beyond U+FFFF may be escaped, whole or in halves", () => {
  const { json } = read(within('whole: "\\U0001F600"\nhalves: "\\ud83d\\ude00"'));
  assert.equal([json.whole, json.halves], ["😀", "😀"]);
});

test("front matter that is a list, a text or nothing is refused", () => {
  for (const yaml of ["- a", "text", "# only a comment", ""]) {
    assert.match(refused(`---\n${yaml}\n---\n`), /^yaml-fields /);
  }
});

test("a body of 8 MB of empty lines is read", () => {
  const text = within("x: y") + "\n".repeat(8 * 1024 * 1024);
  assert.is(read(text).body.length, 8 * 1024 * 1024);
});

test("front matter with too many tokens is refused before parsing", () => {
  const read = (yaml: string) =>
    readSkillMarkdown(new TextEncoder().encode(`---\nname: demo\n${yaml}\n---\n`)) as { rule?: string };
  for (const unit of ["a: ", "&a ", "!a ", "[] ", "? ", "'a' "]) {
    assert.is(read(`x: ${unit.repeat(3900)}`).rule, "yaml-keys", unit);
  }
  assert.is(read(`x: [${"a,".repeat(2000)}]`).rule, "yaml-keys");
  assert.not.ok("rule" in read(`x: [${"a,".repeat(600)}]`));
  // A long scalar is one or two tokens.
  for (const text of [`x: "${"a: ".repeat(3900)}"`, `x: |\n  ${"a: ".repeat(3900)}`]) {
    assert.not.ok("rule" in read(text));
  }
});

test.run();
