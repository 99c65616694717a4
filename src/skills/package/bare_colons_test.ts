import { suite } from "uvu";
import * as assert from "uvu/assert";
import { quoteBareColons, readDespiteColons } from "./bare_colons.ts";

const test = suite("skills/package/bare_colons");
const encoder = new TextEncoder();
const quote = (text: string): string => quoteBareColons(text)?.text ?? text;
const within = (yaml: string): string => `---\n${yaml}\n---\nbody: a: b\n`;

for (
  const [what, yaml, repaired] of [
    ["a value", "a: b: c", 'a: "b: c"'],
    ["a value that ends with one", "a: b c:", 'a: "b c:"'],
    ["a value with a tab after it", "a: b:\tc", 'a: "b:\tc"'],
    ["quotes and backslashes in a value", 'a: b: "c" \\d', 'a: "b: \\"c\\" \\\\d"'],
    ["spaces around a value", "a:   b: c  ", 'a:   "b: c"  '],
    ["a comment after a value", "a: b: c # d: e", 'a: "b: c" # d: e'],
    ["a # that begins no comment", "a: b: c#d", 'a: "b: c#d"'],
    ["several values", "a: b: c\nd: e\nf: g: h", 'a: "b: c"\nd: e\nf: "g: h"'],
    ["a value on several lines", "a: b\n  c: d\ne: f", 'a: "b\n  c: d"\ne: f'],
    ["a value with an empty line in it", "a: b: c\n\n  d\ne: f", 'a: "b: c\n\n  d"\ne: f'],
    ["a value before a comment line", "a: b: c\n  # d\ne: f", 'a: "b: c"\n  # d\ne: f'],
    ["a value below its key", "description:\n  b: c", 'description:\n  "b: c"'],
    ["a value below its key and a comment", "description: # x\n\n  b: c", 'description: # x\n\n  "b: c"'],
  ] as const
) {
  test(`${what}: only the value is quoted`, () => {
    assert.is(quote(within(yaml)), within(repaired));
    assert.is(quote("\ufeff" + within(yaml)), "\ufeff" + within(repaired), "after a byte order mark");
    for (const end of ["\r\n", "\r"]) {
      assert.is(quote(within(yaml).replaceAll("\n", end)), within(repaired).replaceAll("\n", end));
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
    ["a list below its key", "description:\n  - b: c"],
    ["a map below the key of a map field", "metadata:\n  b: c"],
    ["a nested value", "metadata:\n  b: c: d"],
    ["a colon without a space", "a: http://b:80/c"],
    ["a text without colon", "a: b"],
  ] as const
) {
  test(`${what}: unchanged`, () => assert.is(quote(within(yaml)), within(yaml)));
}

test("text without front matter is unchanged", () => {
  for (const text of ["", "a: b: c\n", "---\na: b: c\n", "text\n---\na: b: c\n---x\n"]) {
    assert.is(quote(text), text);
  }
});

test("a valid file is read without repair", () => {
  const { read, repaired } = readDespiteColons(encoder.encode(within("name: demo\ndescription: 'a: b'")));
  assert.is(repaired, undefined);
  assert.is("rule" in read ? read.message : read.fields.get("description"), "a: b");
});

test("a repair is reported with its line and the correction", () => {
  const { read, repaired } = readDespiteColons(
    encoder.encode(within("name: demo\ndescription: Use when: x")),
  );
  assert.equal([repaired?.file, repaired?.line, repaired?.rule], ["SKILL.md", 3, "yaml-bare-colon"]);
  assert.match(repaired!.hint!, 'description: "Use when: x"');
  assert.is("rule" in read ? read.message : read.fields.get("description"), "Use when: x");
});

test("a file that quotes cannot repair keeps its problem", () => {
  const { read, repaired } = readDespiteColons(encoder.encode(within('a: "open\nb: c: d')));
  assert.is(repaired, undefined);
  assert.is("rule" in read && read.rule, "yaml");
});

test("a body of 8 MB of line ends is processed in linear time", () => {
  const text = within("a: b: c") + "\n".repeat(8 * 1024 * 1024);
  assert.is(quote(text).length, text.length + 2);
});

test.run();
