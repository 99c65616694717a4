import { suite } from "uvu";
import * as assert from "uvu/assert";
import { accepts, problems, refuses } from "./test_accepts.ts";

const test = suite("json_schema/scalar");

test("minimum, maximum: the bound itself fits, other types are not looked at", () => {
  accepts({ minimum: 1, maximum: 3 }, [1, 1.5, 3, "0", null, [], {}, true], [0.999, 3.001, -1]);
  accepts({ minimum: -2.5 }, [-2.5, 0], [-2.6]);
});

test("exclusiveMinimum, exclusiveMaximum: the bound itself does not fit", () => {
  accepts({ exclusiveMinimum: 1, exclusiveMaximum: 3 }, [1.001, 2.999, "1"], [1, 3]);
  accepts({ exclusiveMinimum: 0 }, [5e-324], [0, -0]);
});

test("multipleOf counts in decimal, as people do", () => {
  accepts({ multipleOf: 0.01 }, [0, 0.07, 19.99, 4.35, 1.1, -0.07, "x"], [0.075, 0.001]);
  accepts({ multipleOf: 2 }, [4, 0, -6, 1e300], [3, 2.5]);
  accepts({ multipleOf: 0.0001 }, [0.0075], [0.00751]);
  accepts({ multipleOf: 1.5 }, [4.5, 9007199254740990], [4]);
  accepts({ multipleOf: 1e-8 }, [12391239123], [1.5e-9]);
  accepts({ multipleOf: 0.123456789 }, [0], [1e308]);
  accepts({ multipleOf: 5e-324 }, [1.7976931348623157e308], []);
});

test("a number too large for JavaScript is no multiple, and no error", () => {
  accepts({ multipleOf: 0.5 }, [], [JSON.parse("1e999"), JSON.parse("-1e999")]);
});

test("minLength, maxLength count characters, not units", () => {
  accepts({ minLength: 2, maxLength: 3 }, ["ab", "abc", "𝄞𝄞", "𝄞𝄞𝄞", "a𝄞", 5, []], [
    "",
    "a",
    "𝄞",
    "abcd",
    "𝄞𝄞𝄞𝄞",
  ]);
  accepts({ maxLength: 0 }, [""], ["a", "𝄞"]);
  accepts({ minLength: 0 }, [""], []);
  accepts({ maxLength: 2 }, ["\ud834\ud834", "\udd1e\ud834"], ["\udd1e\ud834\udd1ea"]);
});

test("an invalid length is reported in characters", () => {
  assert.equal(problems({ maxLength: 1 }, "𝄞𝄞𝄞"), [": must have at most 1 character, but has 3"]);
  assert.equal(problems({ minLength: 3 }, "𝄞𝄞"), [": must have at least 3 characters, but has 2"]);
});

test("pattern is searched for anywhere, with the flag u", () => {
  accepts({ pattern: "a+" }, ["baab", 1, null], ["b", ""]);
  accepts({ pattern: "^.$" }, ["𝄞"], ["ab"]);
  accepts({ pattern: "^\\p{Letter}+$" }, ["жук"], ["1"]);
});

test("violations have the expectation and the value", () => {
  assert.equal(problems({ minimum: 1 }, 0), [": must be at least 1, but is 0"]);
  assert.equal(problems({ maximum: 1 }, 2), [": must be at most 1, but is 2"]);
  assert.equal(problems({ exclusiveMinimum: 1 }, 1), [": must be greater than 1, but is 1"]);
  assert.equal(problems({ exclusiveMaximum: 1 }, 1), [": must be less than 1, but is 1"]);
  assert.equal(problems({ multipleOf: 2 }, 3), [": must be a multiple of 2, but is 3"]);
  assert.equal(problems({ pattern: "^a$" }, "b"), [': must match the pattern ^a$, but is "b"']);
});

test("invalid keyword values", () => {
  for (const keyword of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
    refuses({ [keyword]: "1" }, new RegExp(`"#/${keyword}" must be a number, but is "1"`));
    refuses({ [keyword]: NaN }, /must be a number/);
  }
  refuses({ multipleOf: 0 }, /must be a number greater than 0, but is 0/);
  refuses({ minLength: -1 }, /"#\/minLength" must be a non-negative integer, but is -1/);
  refuses({ maxLength: 1.5 }, /must be a non-negative integer/);
  refuses({ pattern: "(" }, /"#\/pattern" must be a regular expression, but is "\("/);
  refuses({ pattern: 1 }, /must be a regular expression/);
});

test.run();
