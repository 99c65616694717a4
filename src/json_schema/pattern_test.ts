import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema } from "./compile.ts";
import { accepts, problems, refuses } from "./test_accepts.ts";

const test = suite("json_schema/pattern");
const long = "a".repeat(100_000);

test("patterns that take one pass may look at texts of any length", () => {
  for (
    const pattern of [
      "^a",
      "a",
      "\\S",
      "^a+$",
      "^[a-z*+]*$",
      "^\\p{Lowercase}+$",
      "^ba?|a",
      "(a|b)",
      "^\\*|a",
      "^a+?",
    ]
  ) {
    assert.equal(problems({ pattern }, long), [], pattern);
  }
});

test("a pattern that no engine can run is refused when compiling", () => {
  refuses({ pattern: "(" }, /must be a regular expression/);
  try {
    compileSchema({ pattern: "(?:" + "x".repeat(1_000) + "){30000}" })("x");
  } catch (error) {
    assert.match((error as Error).message, /must be a regular expression/);
  }
});

test("a pattern that may take more than one pass gets no long text", () => {
  for (const pattern of ["a+b", "^(a|b)+$", "^a+b*$", "\\s+$", "a{2,}$", "^(?:a)*$", "[^b]*c"]) {
    assert.match(
      problems({ pattern }, long)[0]!,
      /^: must have at most 3000 characters to be matched against ".*", but has 100000$/,
    );
  }
  accepts({ pattern: "a+b" }, ["a".repeat(2_999) + "b"], ["a".repeat(2_900)]);
});

test("the limit holds for property names too", () => {
  assert.match(
    problems({ patternProperties: { "a+b": true } }, { [long]: 1 })[0]!,
    /must have at most 3000 characters/,
  );
});

test("many texts of medium length reach the limit of steps", () => {
  const check = compileSchema({ items: { pattern: "\\s+$" } });
  const found = check(Array.from({ length: 50 }, () => " ".repeat(2_900) + "x"));
  assert.ok(found.length < 10);
  assert.match(found.at(-1)!.message, "validation limit exceeded");
});

test("a pattern keeps no place between texts", () => {
  const check = compileSchema({ items: { pattern: "a" } });
  for (let i = 0; i < 3; i++) assert.equal(check(["a", "ba", "a"]), []);
});

test.run();
