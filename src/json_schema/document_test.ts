import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema, type JsonSchema } from "./compile.ts";
import { accepts, nest, problems, refuses } from "./test_accepts.ts";

const test = suite("json_schema/document");

test("$ref by JSON Pointer, also with characters that are escaped", () => {
  const $defs = {
    "a/b": { type: "string" },
    "c~d": { type: "number" },
    "e f%": { type: "null" },
    list: { anyOf: [true, false] },
  };
  accepts({ $defs, $ref: "#/$defs/a~1b" }, ["a"], [1]);
  accepts({ $defs, $ref: "#/$defs/c~0d" }, [1], ["a"]);
  accepts({ $defs, $ref: "#/$defs/e%20f%25" }, [null], ["a"]);
  accepts({ $defs, $ref: "#/$defs/list/anyOf/1" }, [], [1]);
  accepts({ definitions: { a: { type: "string" } }, $ref: "#/definitions/a" }, ["a"], [1]);
});

test("$ref stands beside other keywords, and both count", () => {
  accepts({ $defs: { a: { type: "string" } }, $ref: "#/$defs/a", minLength: 2 }, ["ab"], ["a", 1]);
});

test("$ref to the whole schema and to itself further down", () => {
  const tree = {
    type: "object",
    properties: { value: { type: "number" }, children: { items: { $ref: "#" } } },
    required: ["value"],
  };
  accepts(tree, [{ value: 1, children: [{ value: 2, children: [] }] }], [{}, { value: 1, children: [{}] }]);
  assert.equal(problems(tree, { value: 1, children: [{ value: "" }] }), [
    '/children/0/value: must be number, but is ""',
  ]);
});

test("$anchor", () => {
  accepts({ $ref: "#node", $defs: { n: { $anchor: "node", type: "string" } } }, ["a"], [1]);
  // A name is no keyword, a value is no schema.
  accepts({ $ref: "#a", properties: { $anchor: { $anchor: "a", type: "string" } } }, ["a"], [1]);
  refuses({ $ref: "#a", const: { $anchor: "a" } }, /unresolved reference "#a" at "#\/\$ref"/);
  refuses({ $ref: "#a", "x-y": { $anchor: "a" } }, /unresolved reference/);
});

test("$id makes a resource, found by its URI, absolute or relative", () => {
  const schema = {
    $id: "https://example.com/root.json",
    $defs: {
      item: {
        $id: "item.json",
        $defs: { deep: { $anchor: "deep", type: "null" } },
        properties: { d: { $ref: "#deep" } },
      },
      urn: { $id: "urn:example:u", type: "number" },
    },
    properties: {
      a: { $ref: "item.json" },
      b: { $ref: "https://example.com/item.json" },
      c: { $ref: "/item.json#deep" },
      d: { $ref: "item.json#/$defs/deep" },
      e: { $ref: "urn:example:u" },
      f: { $ref: "root.json#/$defs/urn" },
    },
  };
  accepts(schema, [{ a: { d: null }, b: { d: null }, c: null, d: null, e: 1, f: 2 }], [
    { a: { d: 1 } },
    { b: { d: 1 } },
    { c: 1 },
    { d: 1 },
    { e: null },
    { f: null },
  ]);
});

test("an anchor belongs to its resource: two may have the same", () => {
  const schema = {
    $defs: { a: { $anchor: "x", type: "string" }, b: { $id: "b", $anchor: "x", type: "number" } },
    properties: { a: { $ref: "#x" }, b: { $ref: "b#x" } },
  };
  accepts(schema, [{ a: "", b: 1 }], [{ a: 1 }, { b: "" }]);
});

test("without $id at the root, relative references find relative identifiers", () => {
  accepts({ $ref: "node", $defs: { n: { $id: "node", type: "string" } } }, ["a"], [1]);
});

test("a pointer may lead to what only becomes a schema by being referred to", () => {
  accepts({ $ref: "#/x-parts/a", "x-parts": { a: { $ref: "#/x-parts/b" }, b: { type: "string" } } }, ["a"], [
    1,
  ]);
});

test("$dynamicRef: the outermost schema of the name decides", () => {
  const tree = {
    $id: "https://example.com/tree",
    $dynamicAnchor: "node",
    type: "object",
    properties: { data: true, children: { type: "array", items: { $dynamicRef: "#node" } } },
  };
  const strict = {
    $id: "https://example.com/strict-tree",
    $dynamicAnchor: "node",
    $ref: "tree",
    unevaluatedProperties: false,
    $defs: { tree },
  };
  accepts(tree, [{ children: [{ daat: 1 }] }], [{ children: [1] }]);
  accepts(strict, [{ children: [{ data: 1 }] }], [{ daat: 1 }, { children: [{ daat: 1 }] }, {
    children: [1],
  }]);
});

test("$dynamicRef: a generic list whose item schema the referencing schema defines", () => {
  const list = {
    $id: "list",
    type: "array",
    items: { $dynamicRef: "#item" },
    $defs: { default: { $dynamicAnchor: "item" } },
  };
  const strings = {
    $id: "strings",
    $ref: "list",
    $defs: { item: { $dynamicAnchor: "item", type: "string" } },
  };
  const numbers = {
    $id: "numbers",
    $ref: "list",
    $defs: { item: { $dynamicAnchor: "item", type: "number" } },
  };
  const schema = (use: string) => ({
    $id: "https://example.com/",
    $ref: use,
    $defs: { list, strings, numbers },
  });
  accepts(schema("list"), [["a", 1]], [1]);
  accepts(schema("strings"), [["a"]], [[1]]);
  accepts(schema("numbers"), [[1]], [["a"]]);
  accepts(
    { ...schema("list"), $ref: undefined, properties: { s: { $ref: "strings" }, n: { $ref: "numbers" } } },
    [{ s: ["a"], n: [1] }],
    [{ s: [1] }, { n: ["a"] }],
  );
});

test("$dynamicRef without a $dynamicAnchor, or by pointer, is a $ref", () => {
  accepts({ $dynamicRef: "#a", $defs: { a: { $anchor: "a", type: "string" } } }, ["a"], [1]);
  accepts({ $dynamicRef: "#/$defs/a", $defs: { a: { $dynamicAnchor: "a", type: "string" } } }, ["a"], [1]);
  accepts({ $ref: "#a", $defs: { a: { $dynamicAnchor: "a", type: "string" } } }, ["a"], [1]);
});

test("a reference to another document is refused: nothing is fetched", () => {
  refuses(
    { $ref: "https://example.com/schema" },
    /unresolved reference "https:\/\/example\.com\/schema" at "#\/\$ref".* not fetched/,
  );
  refuses(
    { properties: { a: { $ref: "other.json#/a" } } },
    /unresolved reference "other\.json#\/a" at "#\/properties\/a\/\$ref"/,
  );
  refuses({ $dynamicRef: "http://example.com/#x" }, /not fetched/);
  refuses({ $ref: "https://json-schema.org/draft/2020-12/schema" }, /not fetched/);
});

test("unresolved references", () => {
  for (
    const $ref of [
      "#/nowhere",
      "#nowhere",
      "#/$defs/toString",
      "#/__proto__",
      "#/$defs/",
    ]
  ) {
    refuses({ $ref, $defs: { a: { type: ["null"] } } }, /unresolved reference/);
  }
  refuses(
    { $ref: "#/$defs/a/type/0", $defs: { a: { type: ["null"] } } },
    /"#\/\$defs\/a\/type\/0" must be a schema/,
  );
  refuses({ $ref: 5 }, /"#\/\$ref" must be a URI reference, but is 5/);
  refuses({ $ref: "#/%" }, /"#\/\$ref" must be a URI reference/);
  refuses({ $ref: "http://[" }, /"#\/\$ref" must be a URI reference/);
});

test("invalid identifiers", () => {
  refuses({ $id: 5 }, /"#\/\$id" must be a URI reference, but is 5/);
  refuses({ $id: "https://example.com/#a" }, /"#\/\$id" must be a URI without a fragment/);
  refuses({ $defs: { a: { $id: "x" }, b: { $id: "x" } } }, /duplicate identifier .* at "#\/\$defs\/b"/);
  refuses(
    { $defs: { a: { $anchor: "x" }, b: { $dynamicAnchor: "x" } } },
    /duplicate identifier .* at "#\/\$defs\/b"/,
  );
  accepts({ $id: "https://example.com/#", $ref: "#/$defs/a", $defs: { a: { type: "null" } } }, [null], [1]);
});

test("dialects: 2020-12 and draft-07, no others", () => {
  for (
    const $schema of [
      "https://json-schema.org/draft/2020-12/schema",
      "https://json-schema.org/draft/2020-12/schema#",
      "http://json-schema.org/draft-07/schema#",
      "http://json-schema.org/draft-07/schema",
    ]
  ) {
    accepts({ $schema, type: "string" }, ["a"], [1]);
  }
  for (
    const $schema of [
      "https://json-schema.org/draft/2019-09/schema",
      "http://json-schema.org/draft-04/schema#",
      "https://example.com/my-dialect",
      "http://json-schema.org/schema",
      "",
      7,
    ]
  ) {
    const message =
      /"#\/\$schema" must be one of https:\/\/json-schema\.org\/draft\/2020-12\/schema, http:.*draft-07.*but is/;
    refuses({ $schema }, message);
    refuses({ $defs: { a: { $schema } } }, /"#\/\$defs\/a\/\$schema" must be/);
  }
});

const $schema = "http://json-schema.org/draft-07/schema#";

test("draft-07: items may be a list, and additionalItems the rest", () => {
  accepts({ $schema, items: [{ type: "string" }], additionalItems: { type: "number" } }, [["a", 1]], [[
    "a",
    "b",
  ], [1]]);
  accepts({ $schema, items: [true] }, [[1, 2]], []);
  accepts({ $schema, items: [true], additionalItems: false }, [[1]], [[1, 2]]);
  accepts({ $schema, items: { type: "string" }, additionalItems: false }, [["a", "b"]], [[1]]);
  accepts({ $schema, additionalItems: false }, [[1]], []);
});

test("draft-07: definitions, dependencies, anchors by $id", () => {
  accepts({ $schema, $ref: "#/definitions/a", definitions: { a: { type: "string" } } }, ["a"], [1]);
  accepts({ $schema, dependencies: { a: ["b"], c: { required: ["d"] } } }, [{ a: 1, b: 1 }], [{ a: 1 }, {
    c: 1,
  }]);
  accepts({ $schema, allOf: [{ $ref: "#x" }], definitions: { a: { $id: "#x", type: "string" } } }, ["a"], [
    1,
  ]);
  accepts({ $schema, contains: { const: 1 } }, [[1, 1]], [[]]);
});

test("draft-07: beside a $ref nothing counts", () => {
  accepts(
    { $schema, definitions: { a: true }, properties: { p: { $ref: "#/definitions/a", type: "string" } } },
    [{ p: 1 }],
    [],
  );
});

test("draft-07: keywords that came later check nothing, nor those of draft-07 in 2020-12", () => {
  accepts({ $schema, prefixItems: [false], unevaluatedProperties: false, dependentRequired: { a: ["b"] } }, [
    [1],
    { a: 1 },
  ], []);
  accepts({ $schema, contains: { type: "string" }, minContains: 2 }, [["a"]], [[1]]);
  accepts({ additionalItems: false, prefixItems: [true] }, [[1, 2]], []);
});

test("a resource of another dialect may stand inside", () => {
  const schema = {
    properties: { old: { $ref: "old" } },
    $defs: { old: { $schema, $id: "old", items: [{ type: "string" }], additionalItems: false } },
  };
  accepts(schema, [{ old: ["a"] }], [{ old: ["a", 1] }, { old: [1] }]);
});

test("a schema that is too large or too deep is refused", () => {
  const deep = (levels: number): JsonSchema => levels === 0 ? {} : { not: deep(levels - 1) };
  compileSchema(deep(128));
  refuses(nest(1_000, (not) => ({ not })), /more than 128 levels/);
  refuses(deep(129), /more than 128 levels or 10000 subschemas at "#(\/not){129}"$/);
  const wide = (count: number) => ({ anyOf: Array.from({ length: count }, () => ({})) });
  compileSchema(wide(9_999));
  refuses(wide(10_000), /10000 subschemas at/);
});

test("a long chain of references takes no deep stack to compile", () => {
  const $defs = Object.fromEntries(
    Array.from(
      { length: 4_000 },
      (_, i) => [`d${i}`, { properties: { a: { $ref: `#/$defs/d${(i + 1) % 4_000}` } } }],
    ),
  );
  accepts({ $ref: "#/$defs/d0", $defs }, [{ a: { a: 1 } }], []);
});

test("one object in several places of a schema is compiled once, and one inside itself is bounded", () => {
  const name = { type: "string" };
  accepts({ properties: { a: name, b: { items: name } } }, [{ a: "", b: [""] }], [{ a: 1 }, { b: [1] }]);
  const self: Record<string, unknown> = { type: "array" };
  self.items = self;
  accepts(self, [[], [[]]], [1, [1], [[[1]]]]);
});

test.run();
