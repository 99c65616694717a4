import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parsePairs } from "./form.ts";

const test = suite("http/form");

const PIECES = [
  "",
  "a",
  "a=",
  "=b",
  "a=b=c",
  "a%3Db=%26",
  "a+b=c+%2B",
  "a=%C3%A9",
  "a=é\u{1f600}",
  "a=%EF%BB%BFb",
  "a=%",
  "a=%zz",
  "a=%E2%82",
  "a=%ED%A0%80",
  "?a=b",
  "a=\u0000#;",
];

test("parsePairs() returns the names and values of URLSearchParams for any text", () => {
  for (const first of PIECES) {
    for (const second of PIECES) {
      const text = `${first}&${second}`;
      assert.equal([...parsePairs(text)].map((pair) => [...pair]), [...new URLSearchParams(text)], text);
      assert.equal([...parsePairs(first)].map((pair) => [...pair]), [...new URLSearchParams(first)], first);
    }
  }
});

test.run();
