import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findExcess } from "./json_text.ts";
import { MAX_JSON_DEPTH } from "./small_json.ts";

const test = suite("http/json_text");

const list = (count: number, item: (index: number) => string): string =>
  `[${Array.from({ length: count }, (_, index) => item(index)).join(",")}]`;
const row = (index: number): string =>
  `{"id":${index},"name":"n${index}","price":1,"tags":["a","b"],"more":null}`;

const TEXTS: readonly (readonly [name: string, text: string, excess: "depth" | "values" | undefined])[] = [
  ["one long string", JSON.stringify("x".repeat(4_000_000)), undefined],
  ["a long string of quotes", JSON.stringify('"'.repeat(200_000)), undefined],
  ["a table of 10,000 rows", list(10_000, row), undefined],
  ["300,000 numbers", list(300_000, String), undefined],
  ["braces within strings", JSON.stringify("{[".repeat(100_000)), undefined],
  ["quotes past the limit, in a string that never ends", '"' + '\\"'.repeat(1_000_001), "values"],
  ["text that is not JSON", '"never ends' + "[".repeat(100_000), undefined],
  ["colons that follow no name", "[" + ":".repeat(200_000), undefined],
  ["more closing brackets than opening ones", "[" + "]".repeat(200_000), undefined],
  [
    "a string that ends after 100,000 backslashes",
    `["${"\\\\".repeat(50_000)}",${list(1_000_000, String)}]`,
    "values",
  ],
  [
    "a string that goes on after 100,001 backslashes",
    `["${"\\".repeat(100_001)}",${list(1_000_000, String)}]`,
    undefined,
  ],
  ["the maximum depth", "[".repeat(MAX_JSON_DEPTH) + "]".repeat(MAX_JSON_DEPTH), undefined],
  [
    "one level more than the maximum depth",
    "[".repeat(MAX_JSON_DEPTH + 1) + "]".repeat(MAX_JSON_DEPTH + 1),
    "depth",
  ],
  ["a million numbers", list(1_000_000, String), "values"],
  ["200,000 empty lists", list(200_000, () => "[]"), "values"],
  ["100,000 strings", list(100_000, (index) => `"${index}"`), "values"],
  ["50,000 objects with different names", list(50_000, (index) => `{"k${index}":0}`), "values"],
  [
    "50,000 long names with a common prefix",
    list(50_000, (index) => `{"${"k".repeat(60)}${index}":0}`),
    "values",
  ],
];

for (const [name, text, excess] of TEXTS) {
  test(`${name}: ${excess ? `over the limit of ${excess}` : "within the limits"}`, () =>
    assert.is(findExcess(text), excess));
}

test.run();
