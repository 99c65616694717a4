import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema, type JsonSchema } from "./compile.ts";

const test = suite("json_schema/compile");

function accepts(schema: JsonSchema, good: readonly unknown[], bad: readonly unknown[]): void {
  const check = compileSchema(schema);
  for (const value of good) assert.equal(check(value), [], `${JSON.stringify(value)} fits`);
  for (const value of bad) assert.ok(check(value).length > 0, `${JSON.stringify(value)} does not fit`);
}

test("type: an integer is a number without fraction; several types are alternatives", () => {
  accepts({ type: "integer" }, [1, 1.0, -0], [1.5, "1", null]);
  accepts({ type: ["string", "null"] }, ["", null], [0, [], {}]);
  accepts({ type: "object" }, [{}], [[], null]);
});

test("enum and const compare by content, whatever the order of members", () => {
  accepts({ const: { a: 1, b: [2] } }, [{ b: [2], a: 1 }], [{ a: 1 }, { a: 1, b: [2], c: 3 }]);
  accepts({ enum: [1, "a", null] }, [1, "a", null], ["1", false, undefined]);
});

test("numbers", () => {
  accepts({ minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, "text"], [0.9, 3]);
  accepts({ multipleOf: 0.01 }, [0, 0.07, 19.99], [0.075]);
});

test("strings: lengths count characters, patterns are searched for", () => {
  accepts({ minLength: 1, maxLength: 2 }, ["a", "𝄞𝄞", 5], ["", "abc"]);
  accepts({ pattern: "^a+$" }, ["aa", 1], ["b"]);
});

test("arrays", () => {
  accepts({ prefixItems: [{ type: "string" }], items: { type: "number" } }, [[], ["a"], ["a", 1, 2]], [[1], [
    "a",
    "b",
  ]]);
  accepts({ uniqueItems: true }, [[1, "1", true, [1], { a: 1 }]], [[1, 1], [{ a: 1, b: 2 }, { b: 2, a: 1 }]]);
  accepts({ contains: { const: 1 }, maxContains: 1 }, [[1, 2]], [[], [2], [1, 1]]);
  accepts({ minItems: 1, maxItems: 2 }, [[1]], [[], [1, 2, 3]]);
});

test("objects", () => {
  accepts(
    {
      properties: { a: { type: "string" } },
      patternProperties: { "^x-": { type: "number" } },
      additionalProperties: false,
    },
    [{}, { a: "", "x-1": 1 }],
    [{ a: 1 }, { "x-1": "" }, { b: 1 }],
  );
  accepts({ required: ["toString", "__proto__"] }, [JSON.parse('{"toString":1,"__proto__":2}')], [{}, {
    toString: 1,
  }]);
  accepts({ propertyNames: { maxLength: 2 }, minProperties: 1 }, [{ ab: 1 }], [{}, { abc: 1 }]);
  accepts({ dependentRequired: { a: ["b"] }, dependentSchemas: { c: { required: ["d"] } } }, [{ b: 1 }, {
    a: 1,
    b: 1,
  }], [{ a: 1 }, { c: 1 }]);
});

test("combinations", () => {
  accepts({ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [0, 3]);
  accepts({ anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 5], [4]);
  accepts({ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 5]);
  accepts({ not: { type: "null" } }, [1], [null]);
  accepts({ if: { type: "string" }, then: { minLength: 2 }, else: { minimum: 2 } }, ["ab", 2], ["a", 1]);
  accepts({ properties: { a: true, b: false } }, [{ a: 1 }], [{ b: 1 }]);
});

test("references: inside the document, by pointer and anchor, recursive", () => {
  const tree = {
    $defs: {
      node: {
        $anchor: "node",
        type: "object",
        properties: { next: { $ref: "#/$defs/node" } },
        required: ["value"],
      },
    },
    $ref: "#node",
  };
  accepts(tree, [{ value: 1, next: { value: 2 } }], [{}, { value: 1, next: {} }]);
});

test("a value nested beyond all reason is refused, not followed", () => {
  const check = compileSchema({ $ref: "#/$defs/a", $defs: { a: { items: { $ref: "#/$defs/a" } } } });
  let deep: unknown = [];
  for (let i = 0; i < 10_000; i++) deep = [deep];
  assert.ok(check(deep).length > 0);
});

test("violations tell where, as a JSON Pointer, and are capped", () => {
  const check = compileSchema({ properties: { "a/b~": { items: { type: "string" } } } });
  assert.equal(check({ "a/b~": ["", 1] }), [{ path: "/a~1b~0/1", message: "must be string" }]);
  assert.is(check({ "a/b~": Array.from({ length: 1000 }, () => 1) }).length, 20);
});

for (
  const [schema, message] of [
    [{ type: "text" }, '"#/type"'],
    [{ pattern: "(" }, '"#/pattern"'],
    [{ minimum: "1" }, '"#/minimum"'],
    [{ properties: [] }, '"#/properties"'],
    [{ properties: { a: 1 } }, '"#/properties/a"'],
    [{ unevaluatedProperties: false }, "not supported"],
    [{ nonsense: 1 }, "not supported"],
    [{ $ref: "#/nowhere" }, "names nothing"],
    [{ $ref: "https://example.com/schema" }, "names nothing"],
  ] as const
) {
  test(`${JSON.stringify(schema)} cannot be compiled: ${message}`, () => {
    assert.throws(
      () => compileSchema(schema as JsonSchema),
      (error: Error) => error.message.includes(message),
    );
  });
}

test.run();
