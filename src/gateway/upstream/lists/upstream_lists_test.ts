import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../../../http/test_loop_watchdog.ts";
import type { JsonObject } from "../../../mcp_client/client.ts";
import { digestLists, isListed, type RawLists, readLists } from "./upstream_lists.ts";

const test = suite("gateway/upstream/lists/upstream_lists");
const ALL = { tools: { allow: [], deny: [] } };
const INPUT = { type: "object" };

function raw(
  lists: Partial<
    Record<
      "tools" | "resources" | "resourceTemplates" | "prompts",
      JsonObject[]
    >
  >,
): RawLists {
  const features = { resources: true, completions: true, tasks: false };
  return {
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
    skills: [],
    features,
    failed: new Map(),
    ...lists,
  };
}

test("leaves out what cannot be offered, with a reason, and keeps the others", async () => {
  const deep = (levels: number): JsonObject => levels === 0 ? {} : { properties: { a: deep(levels - 1) } };
  // Too many to compile.
  const many = (first: JsonObject): JsonObject => ({
    ...first,
    ...Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`p${i}`, {}])),
  });
  const bad: [string, JsonObject][] = [
    ["no schema", {}],
    ["not an object", { inputSchema: { type: "string" } }],
    ["invalid type", {
      inputSchema: { type: "object", properties: { a: { type: "strin" } } },
    }],
    ["network", {
      inputSchema: {
        type: "object",
        properties: { a: { $ref: "https://evil.example/x" } },
      },
    }],
    ["network 2019-09", {
      inputSchema: {
        $schema: "https://json-schema.org/draft/2019-09/schema",
        type: "object",
        properties: { a: { $ref: "https://evil.example/x" } },
      },
    }],
    ["network and many subschemas", {
      inputSchema: {
        type: "object",
        properties: many({ a: { $ref: "https://evil.example/x" } }),
      },
    }],
    ["pattern", {
      inputSchema: { type: "object", properties: { a: { pattern: "(" } } },
    }],
    ["deep", { inputSchema: { type: "object", ...deep(500) } }],
    ["large", {
      inputSchema: { type: "object", description: "x".repeat(300_000) },
    }],
    ["header", {
      inputSchema: {
        type: "object",
        properties: { a: { type: "number", "x-mcp-header": "A" } },
      },
    }],
    ["output", { inputSchema: INPUT, outputSchema: { type: 1 } }],
  ];
  const lists = await readLists(
    raw({
      tools: [
        { name: "first", inputSchema: INPUT },
        ...bad.map(([name, members]) => ({ name, ...members })),
        { inputSchema: INPUT },
        { name: "first", inputSchema: INPUT, description: "again" },
        { name: "x".repeat(1001), inputSchema: INPUT },
        { name: "many subschemas", inputSchema: { type: "object", properties: many({}) } },
        {
          name: "last",
          inputSchema: {
            ...INPUT,
            $schema: "https://json-schema.org/draft/2019-09/schema",
          },
        },
      ],
      resources: [{ uri: "no uri", name: "x" }, { uri: "a://b", name: "" }],
      resourceTemplates: [{ uriTemplate: "a://{", name: "x" }, {
        uriTemplate: "a://{b}",
        name: "x",
      }],
      prompts: [{ name: "p", arguments: [{ name: "a" }, { name: "a" }] }, {
        name: "q",
      }],
    }),
    ALL,
  );
  assert.equal(lists.tools.map(({ name }) => name), ["first", "many subschemas", "last"]);
  assert.equal(lists.resources.map(({ name }) => name), ["a://b"]);
  assert.equal(lists.resourceTemplates.map(({ uri }) => uri), ["a://{b}"]);
  assert.equal(lists.prompts.map(({ name }) => name), ["q"]);
  assert.is(lists.leftOut.length, bad.length + 3 + 3);
  for (const [name] of bad) {
    assert.ok(
      lists.leftOut.some((each) => each.includes(JSON.stringify(name))),
      name,
    );
  }
});

test("shortens what is too long, and drops members of a wrong type", async () => {
  const { tools: [tool] } = await readLists(
    raw({
      tools: [{
        name: "a",
        title: 1,
        description: "x".repeat(5_000_000),
        annotations: "none",
        icons: [{ src: `data:${"x".repeat(100_000)}` }],
        _meta: { a: "x".repeat(100_000) },
        inputSchema: INPUT,
      }],
    }),
    ALL,
  );
  assert.ok(tool!.description.length < 20_000);
  assert.equal(Object.keys(tool!).sort(), [
    "description",
    "inputSchema",
    "name",
    "requiresTask",
  ]);
});

test("drops annotations and icons for which strict clients would refuse the whole list", async () => {
  const icons = [{ src: "https://example.com/a.png" }];
  const { tools, resources } = await readLists(
    raw({
      tools: [
        { name: "a", annotations: { readOnlyHint: "yes" }, icons: [{}], inputSchema: INPUT },
        { name: "b", annotations: { readOnlyHint: true, own: 1 }, icons, inputSchema: INPUT },
      ],
      resources: [{ uri: "a://b", name: "b", annotations: { audience: ["all"] }, icons: [{ src: 1 }] }],
    }),
    ALL,
  );
  assert.equal(tools.map(({ annotations, icons }) => ({ annotations, icons })), [
    { annotations: undefined, icons: undefined },
    { annotations: { readOnlyHint: true, own: 1 }, icons },
  ]);
  assert.equal(Object.keys(resources[0]!).sort(), ["name", "uri"]);
});

test("a template that takes long to match is left out", async () => {
  const uriTemplates = [
    "a://{a}" + "{+b}".repeat(15),
    "b://{a}" + "{+b}".repeat(16),
    `c://{?${Array.from({ length: 17 }, (_, i) => `a${i}`)}}`,
    "d://" + "a".repeat(496),
    "e://" + "a".repeat(497),
  ];
  const { resourceTemplates, leftOut } = await readLists(
    raw({ resourceTemplates: uriTemplates.map((uriTemplate) => ({ uriTemplate, name: "x" })) }),
    ALL,
  );
  assert.equal(resourceTemplates.map(({ uri }) => uri), [uriTemplates[0], uriTemplates[3]]);
  assert.is(leftOut.length, 3);
});

test("whether a URI is listed is found without holding the event loop", async () => {
  const variables = Array.from({ length: 16 }, (_, i) => `{+b${i}}`).join("");
  const resourceTemplates = Array.from({ length: 20 }, (_, i) => ({
    uriTemplate: `a://${variables}!x${i}`,
    name: "x",
  }));
  const lists = await readLists(raw({ resources: [{ uri: "b://c", name: "x" }], resourceTemplates }), ALL);
  const uri = "a://" + "b".repeat(8000);
  await assertLoopIsFree(async () => {
    const uris = ["b://c", "b://d", uri, `${uri}c`, `${uri}!x1`];
    const found = await Promise.all(uris.map((each) => isListed(lists, each)));
    assert.equal(found, [true, false, false, false, true]);
  });
});

test("control characters reach no report", async () => {
  const { leftOut } = await readLists(
    raw({ tools: [{ name: "\u001b[31mred\u0000" }] }),
    ALL,
  );
  assert.not.match(leftOut[0]!, /\p{C}/u);
});

test("10,000 tools do not hold the event loop", async () => {
  const tools = Array.from({ length: 10_000 }, (_, i) => ({
    name: `tool_${i}`,
    inputSchema: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "number" } },
    },
  }));
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const lists = await readLists(raw({ tools }), ALL);
  clearInterval(timer);
  assert.is(lists.tools.length, 10_000);
  assert.ok(turns > 2, `only ${turns} turns`);
});

test("patterns of schemas do not hold the event loop, and pass unchanged", async () => {
  const patterns = ["(|)".repeat(26) + "x", "^(a+)+$", "\\p{L}".repeat(20_000)];
  const tools = patterns.map((pattern) => {
    const schema = { ...INPUT, properties: { a: { pattern } }, patternProperties: { [pattern]: {} } };
    return { name: `tool_${pattern.length}`, inputSchema: schema, outputSchema: schema };
  });
  await assertLoopIsFree(async () => {
    const lists = await readLists(raw({ tools }), ALL);
    assert.equal(lists.tools.map(({ inputSchema }) => inputSchema), tools.map((each) => each.inputSchema));
    assert.equal(lists.leftOut, []);
  });
});

test("patterns choose tools", async () => {
  const tools = ["get_a", "get_b", "delete_a"].map((name) => ({
    name,
    inputSchema: INPUT,
  }));
  const lists = await readLists(raw({ tools }), {
    tools: { allow: ["get_*", "delete_*"], deny: ["*_b"] },
  });
  assert.equal(lists.tools.map(({ name }) => name), ["get_a", "delete_a"]);
});

test("equal lists have equal digests", async () => {
  const a = await digestLists(raw({ prompts: [{ name: "p" }] }));
  assert.is(a, await digestLists(raw({ prompts: [{ name: "p" }] })));
  assert.is.not(a, await digestLists(raw({ prompts: [{ name: "q" }] })));
});

test.run();
