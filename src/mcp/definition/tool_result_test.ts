import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "./define.ts";
import type { AnySchema } from "../schema/standard_schema.ts";
import { call, newServer } from "../test_server.ts";

const test = suite("mcp/tool_result");

/** The result for a client when a tool returns the value. */
async function resultOf(value: unknown, output?: AnySchema) {
  const { post, events } = newServer({
    definitions: [tool({ name: "gives", description: "Gives it", output, run: () => value as never })],
  });
  const { result } = (await post(call("gives"))).body;
  return { result, faults: events.filter(({ type }) => type === "fault").length };
}

const text = { type: "text", text: "x" };
const image = { type: "image", data: "AA==", mimeType: "image/png" };
const link = { type: "resource_link", uri: "test://a", name: "a" };
const embedded = { type: "resource", resource: { uri: "test://a", text: "a" } };

for (const items of [[image], [text, link], [embedded], [{ ...text, annotations: { priority: 1 } }]]) {
  test(`content items are returned as content: ${JSON.stringify(items)}`, async () => {
    assert.equal((await resultOf(items)).result, { content: items });
    assert.equal((await resultOf(items[0])).result, { content: items.slice(0, 1) });
  });
}

for (
  const data of [
    { content: ["a"] },
    { content: [text, 1] },
    { content: [{ type: "text" }] },
    { content: [{ type: "image", data: "AA==" }] },
    { content: [{ type: "video", url: "x" }] },
    { content: [text], role: "assistant" },
    { content: [], total: 0 },
    { content: [text], isError: "no" },
    { content: [text], _meta: 1 },
    { content: [text], resultType: "task" },
    { content: "a" },
    [],
    [text, "a"],
    [{ type: "image" }],
    { type: "resource", resource: null },
    { type: "resource_link", uri: "test://a" },
  ]
) {
  test(`a value that is not a result is returned as data: ${JSON.stringify(data)}`, async () => {
    assert.equal((await resultOf(data)).result, { content: [{ type: "text", text: JSON.stringify(data) }] });
  });
}

test("a value of an output schema is data, also in the shape of a result", async () => {
  for (
    const [data, output] of [
      [{ content: ["a"] }, { type: "object", required: ["content"] }],
      [{ content: [text] }, { type: "object", required: ["content"] }],
      [[image], { type: "array" }],
    ] as const
  ) {
    const { result, faults } = await resultOf(data, output);
    assert.equal(result.content, [{ type: "text", text: JSON.stringify(data) }]);
    // Before 2026-07-28 structured content must be an object.
    assert.equal(result.structuredContent, Array.isArray(data) ? undefined : data);
    assert.is(faults, 0);
  }
});

test("a tool with an output schema must return a value", async () => {
  for (const nothing of [undefined, () => 1, Symbol("x")]) {
    const { result, faults } = await resultOf(nothing, {});
    assert.equal([result.isError, typeof result.content[0].text, faults], [true, "string", 1]);
  }
  assert.equal((await resultOf(null, {})).result.content[0].text, "null");
});

test.run();
