import { suite } from "uvu";
import * as assert from "uvu/assert";
import { digestJson, toCanonicalJson } from "./canonical_json.ts";

const test = suite("gateway/policy/canonical_json");

test("equal values have one text, and members without a value none", () => {
  const value = { b: [1, { d: null, c: "ü" }], a: undefined, "": true };
  assert.is(toCanonicalJson(value), '{"":true,"b":[1,{"c":"ü","d":null}]}');
  assert.is(toCanonicalJson(new Date(0)), '"1970-01-01T00:00:00.000Z"');
  assert.is(toCanonicalJson(JSON.parse('{"__proto__":1}')), '{"__proto__":1}');
  assert.is(digestJson({ a: 1, b: 2 }), digestJson({ b: 2, a: 1 }));
  // printf '{"a":1}' | openssl dgst -sha256 -binary | basenc --base64url
  assert.is(digestJson({ a: 1 }), "AVq9f1zFei3ZS3WQ8ErYCEJzkF7jPsXOvq5iJ2qX-GI");
});

for (const value of [new Map([[1, 2]]), () => 1, Symbol("a"), 1n, { a: new Set([1]) }]) {
  test(`${typeof value} ${value.constructor.name} is refused`, () => {
    assert.throws(() => toCanonicalJson(value), (error: Error) => error instanceof TypeError);
  });
}

let deep: unknown = 1;
for (let i = 0; i < 300; i++) deep = [deep];
for (
  const [what, value] of [
    ["depth", deep],
    ["length", Array(20_001).fill(1)],
    ["number of members", Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [i, 1]))],
    ["number of values in all", Array.from({ length: 200 }, () => Array(101).fill(1))],
    ["size", ["x".repeat(300_000), "x".repeat(300_000)]],
    ["size of names", { ["x".repeat(600_000)]: 1 }],
  ] as const
) {
  test(`a value of great ${what} is refused`, () => {
    assert.throws(() => toCanonicalJson(value), (error: Error) => error instanceof RangeError);
  });
}

test.run();
