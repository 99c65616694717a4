import { suite } from "uvu";
import * as assert from "uvu/assert";
import { quoteBareColons, readDespiteColons } from "./bare_colons.ts";

const test = suite("skills/bare_colons");
const encoder = new TextEncoder();
const mend = (text: string): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(quoteBareColons(encoder.encode(text)));
const within = (yaml: string): string => `---\n${yaml}\n---\nbody: a: b\n`;

for (
  const [what, yaml, repaired] of [
    ["a value", "a: b: c", 'a: "b: c"'],
    ["a value that ends with one", "a: b c:", 'a: "b c:"'],
    ["a value with a tab after it", "a: b:\tc", 'a: "b:\tc"'],
    ["quotes and backslashes inside", 'a: b: "c" \\d', 'a: "b: \\"c\\" \\\\d"'],
    ["blanks around it", "a:   b: c  ", 'a:   "b: c"  '],
    ["a comment behind it", "a: b: c # d: e", 'a: "b: c" # d: e'],
    ["a sign that is no comment", "a: b: c#d", 'a: "b: c#d"'],
    ["several values", "a: b: c\nd: e\nf: g: h", 'a: "b: c"\nd: e\nf: "g: h"'],
    ["a value on several lines", "a: b\n  c: d\ne: f", 'a: "b\n  c: d"\ne: f'],
    ["a value with an empty line in it", "a: b: c\n\n  d\ne: f", 'a: "b: c\n\n  d"\ne: f'],
    ["a value with a comment below it", "a: b: c\n  # d\ne: f", 'a: "b: c"\n  # d\ne: f'],
    ["a value below its name", "description:\n  b: c", 'description:\n  "b: c"'],
    ["a value below its name and a comment", "description: # x\n\n  b: c", 'description: # x\n\n  "b: c"'],
  ] as const
) {
  test(`${what}: quoted, and nothing else changes`, () => {
    assert.is(mend(within(yaml)), within(repaired));
    assert.is(mend("\ufeff" + within(yaml)), "\ufeff" + within(repaired), "after a byte order mark");
    for (const end of ["\r\n", "\r"]) {
      assert.is(mend(within(yaml).replaceAll("\n", end)), within(repaired).replaceAll("\n", end));
    }
  });
}

for (
  const [what, yaml] of [
    ["single quotes", "a: 'x: y'"],
    ["double quotes", 'a: "x: y"'],
    ["quotes on several lines", 'a: "x\n  y: z"'],
    ["a flow map", "a: {b: c}"],
    ["a flow map on several lines", "a: {b: c,\n  d: e: f}"],
    ["a flow list", "a: [b: c]"],
    ["a block scalar", "a: |\n  b: c: d"],
    ["a folded scalar", "a: >-\n  b: c: d"],
    ["an anchor", "a: &a b: c"],
    ["an alias", "a: *a : c"],
    ["a tag", "a: !b c: d"],
    ["a comment", "# a: b: c"],
    ["a value that is a comment", "a: # b: c"],
    ["a comment inside a value", "a: b # c\n  d: e"],
    ["a list", "a: - b: c"],
    ["a list below its name", "description:\n  - b: c"],
    ["a map below a name that is no text's", "metadata:\n  b: c"],
    ["what is nested", "metadata:\n  b: c: d"],
    ["a colon without a blank", "a: http://b:80/c"],
    ["a text without colon", "a: b"],
  ] as const
) {
  test(`${what}: left alone`, () => assert.is(mend(within(yaml)), within(yaml)));
}

test("what is no front matter is left alone", () => {
  for (const text of ["", "a: b: c\n", "---\na: b: c\n", "text\n---\na: b: c\n---x\n"]) {
    assert.is(mend(text), text);
  }
});

test("a file that needs no mending is read as it is", () => {
  const { read, repaired } = readDespiteColons(encoder.encode(within("name: demo\ndescription: 'a: b'")));
  assert.is(repaired, undefined);
  assert.is("rule" in read ? read.message : read.fields.get("description"), "a: b");
});

test("what is repaired is told with its line and how it should read", () => {
  const { read, repaired } = readDespiteColons(
    encoder.encode(within("name: demo\ndescription: Use when: x")),
  );
  assert.equal([repaired?.file, repaired?.line, repaired?.rule], ["SKILL.md", 3, "yaml-bare-colon"]);
  assert.match(repaired!.hint!, 'description: "Use when: x"');
  assert.is("rule" in read ? read.message : read.fields.get("description"), "Use when: x");
});

test("what quotes do not mend keeps its own problem", () => {
  const { read, repaired } = readDespiteColons(encoder.encode(within('a: "open\nb: c: d')));
  assert.is(repaired, undefined);
  assert.is("rule" in read && read.rule, "yaml");
});

test("8 MB of lines after the front matter cost no more than they weigh", () => {
  const text = within("a: b: c") + "\n".repeat(8 * 1024 * 1024);
  assert.is(mend(text).length, text.length + 2);
});

test.run();
