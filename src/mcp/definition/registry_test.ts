import { suite } from "uvu";
import * as assert from "uvu/assert";
import { prompt, resource, resourceTemplate, tool } from "./define.ts";
import type { Definition } from "./definition.ts";
import { group } from "./group.ts";
import { call, DEFINITIONS, newServer } from "../test_server.ts";

const test = suite("mcp/registry");

const run = () => "x";
for (
  const wrong of [
    "tool",
    { name: "a", run },
    { kind: "tool", run },
    { kind: "tool", name: 7, run },
    { kind: "tool", name: ["a"], run },
    { kind: "tool", name: "a" },
    { kind: "prompt", get: run },
    { kind: "prompt", name: null, get: run },
    { kind: "prompt", name: "a" },
    { kind: "prompt", name: "a", get: run, arguments: [{}] },
    { kind: "prompt", name: "a", get: run, arguments: [{ name: "b" }, { name: "b" }] },
    { kind: "resource", name: "a", read: run },
    { kind: "resource", uri: "test://a", read: run },
    { kind: "resource", uri: "test://a", name: "", read: run },
    { kind: "resource", uri: "test://a", name: "a" },
    { kind: "resource", uri: "test://a", name: "a", read: run, ttl: 0.5 },
    { kind: "resource", uri: "test://a", name: "a", read: run, ttl: NaN },
    { kind: "resource_template", name: "a", read: run },
    { kind: "resource_template", uriTemplate: "test://{a}", read: run },
    { kind: "resource_template", uriTemplate: "test://{a}", name: "a" },
  ]
) {
  test(`an invalid definition is refused at start: ${JSON.stringify(wrong)}`, () => {
    const definition = wrong as unknown as Definition;
    for (const definitions of [[definition], group({ prefix: "its_", middleware: [] }, [definition])]) {
      assert.throws(() => newServer({ definitions }), (error: Error) => error instanceof TypeError);
    }
  });
}

for (
  const [what, define, message] of [
    ["a name with a space", () => tool({ name: "a b", description: "", run: () => 1 }), '"a b"'],
    ["a name that is too long", () => tool({ name: "a".repeat(129), description: "", run: () => 1 }), "128"],
    [
      "a schema that does not describe an object",
      () => tool({ name: "a", description: "", input: { type: "string" }, run: () => 1 }),
      '"type": "object"',
    ],
    [
      "a schema with an unknown type",
      () =>
        tool({
          name: "a",
          description: "",
          input: { type: "object", properties: { x: { type: "text" } } },
          run: () => 1,
        }),
      "/properties/x/type",
    ],
    [
      "a reference to a missing definition",
      () =>
        tool({ name: "a", description: "", input: { type: "object", $ref: "#/$defs/none" }, run: () => 1 }),
      "#/$defs/none",
    ],
    [
      "a reference to the network",
      () =>
        tool({
          name: "a",
          description: "",
          input: { type: "object", $ref: "https://x.example/s" },
          run: () => 1,
        }),
      "https://x.example/s",
    ],
  ] as const
) {
  test(`a definition with ${what} is refused at start`, () => {
    assert.throws(
      () => newServer({ definitions: [define()] }),
      (error: unknown) => error instanceof TypeError && error.message.includes(message),
    );
  });
}

const read = () => "";
const icons = [{ src: "https://example.com/a.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }];
const valid = {
  tool: [tool, {
    name: "t",
    title: "T",
    description: "d",
    icons,
    scopes: ["mail:read", "https://example.com/a"],
    _meta: { any: [1] },
    annotations: { title: "T", readOnlyHint: true, openWorldHint: false },
    input: { type: "object", properties: { title: { type: "number", title: "A title" } } },
    run,
  }],
  resource: [resource, {
    uri: "test://r",
    name: "r",
    title: "R",
    description: undefined,
    mimeType: "text/plain",
    size: 7,
    icons,
    annotations: { audience: ["user", "assistant"], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" },
    read,
  }],
  template: [resourceTemplate, {
    uriTemplate: "test://x/{id}",
    name: "x",
    annotations: { audience: ["user"], priority: undefined },
    read,
  }],
  prompt: [prompt, {
    name: "p",
    title: "P",
    arguments: [{ name: "a", title: "A", description: "d", required: true }],
    get: run,
  }],
} as const;
const of = (kind: keyof typeof valid, members: object): Definition =>
  (valid[kind][0] as (definition: unknown) => Definition)({ ...valid[kind][1], ...members });

test("every member of the right type is accepted", () => {
  newServer({ definitions: Object.keys(valid).map((kind) => of(kind as keyof typeof valid, {})) });
});

for (
  const [kind, path, members] of [
    ...(["tool", "resource", "template", "prompt"] as const).flatMap((kind) =>
      [
        [kind, "title", { title: 5 }],
        [kind, "description", { description: null }],
        [kind, "icons", { icons: "a.png" }],
        [kind, "icons/0", { icons: ["a.png"] }],
        [kind, "icons/0", { icons: [{}] }],
        [kind, "icons/1/src", { icons: [...icons, { src: 1 }] }],
        [kind, "icons/0/sizes", { icons: [{ src: "a", sizes: "48x48" }] }],
        [kind, "icons/0/theme", { icons: [{ src: "a", theme: "blue" }] }],
        [kind, "_meta", { _meta: [] }],
        [kind, "scopes/0", { scopes: ["a b"] }],
        [kind, "scopes/1", { scopes: ["a", ""] }],
      ] as const
    ),
    ["tool", "annotations", { annotations: [] }],
    ["tool", "annotations/title", { annotations: { title: 5 } }],
    ["tool", "annotations/readOnlyHint", { annotations: { readOnlyHint: "yes" } }],
    ["resource", "mimeType", { mimeType: 5 }],
    ["resource", "size", { size: "7" }],
    ["resource", "annotations/audience", { annotations: { audience: "user" } }],
    ["template", "annotations/audience/0", { annotations: { audience: ["everyone"] } }],
    ["resource", "annotations/priority", { annotations: { priority: "high" } }],
    ["template", "annotations/lastModified", { annotations: { lastModified: 0 } }],
    ["prompt", "arguments/0/description", { arguments: [{ name: "a", description: 5 }] }],
    ["prompt", "arguments/0/required", { arguments: [{ name: "a", required: "no" }] }],
  ] as const
) {
  test(`a ${kind} with ${JSON.stringify(members)} is refused at start by its name and member`, () => {
    const definition = of(kind, members);
    const { name } = definition;
    const { uri = name, uriTemplate = uri }: { uri?: string; uriTemplate?: string } = definition as object;
    assert.throws(
      () => newServer({ definitions: [definition] }),
      (error: Error) =>
        error instanceof TypeError && error.message.startsWith(`Cannot define "${uriTemplate}": ${path} `),
    );
  });
}

for (const wrong of [{}, "a", [null], ["a"]]) {
  test(`a prompt whose arguments are ${JSON.stringify(wrong)} is refused by its name and member`, () => {
    assert.throws(
      () => of("prompt", { arguments: wrong }),
      (error: Error) => error instanceof TypeError && error.message.includes('"p": arguments '),
    );
  });
}

test("the scopes of a group are scope tokens (RFC 6749 section 3.3)", () => {
  for (const scope of ["mail read", 'a"', "a\\b", "é", ""]) {
    const definitions = group({ scopes: [scope] }, [of("tool", {})]);
    assert.throws(() => newServer({ definitions }), (error: Error) => error instanceof TypeError, scope);
  }
});

test("a value that is not a definition is refused at start", () => {
  for (const odd of [null, {}, { kind: "tol", name: "x" }, "tool"]) {
    assert.throws(
      () => newServer({ definitions: [odd as never] }),
      (error: Error) => error instanceof TypeError,
    );
  }
});

test("two definitions with one name are refused at start", () => {
  assert.throws(
    () => newServer({ definitions: [DEFINITIONS[0]!, DEFINITIONS[0]!] }),
    (error: unknown) => error instanceof TypeError && error.message.includes('"add"'),
  );
});

test("a definition that was not made by a function of Trivet is named", () => {
  const circle: Record<string, unknown> = { name: "circle", run };
  circle.self = circle;
  assert.throws(() => newServer({ definitions: [circle as unknown as Definition] }), /but got circle/);
});

test("a tool without an input schema refuses arguments", async () => {
  const definitions = [{ kind: "tool", name: "a", description: "d", run } as const];
  const { post } = newServer({ definitions });
  assert.not.ok("isError" in (await post(call("a"))).body.result);
  assert.not.ok("isError" in (await post(call("a", {}))).body.result);
  assert.is((await post(call("a", { b: 1 }))).body.result.isError, true);
});

test.run();
