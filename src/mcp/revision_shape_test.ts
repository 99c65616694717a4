import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ContentItem } from "./definition/content.ts";
import { prompt, resource, tool } from "./definition/define.ts";
import { modern, session } from "./test_exchange.ts";
import { newServer } from "./test_server.ts";

const test = suite("mcp/revision_shape");
const icons = [{ src: "https://example.com/i.png", sizes: ["any"] }];
const _meta = { "example.com/x": 1 };
const content: ContentItem[] = [
  { type: "text", text: "text", annotations: { audience: ["user"], priority: 1 } },
  { type: "audio", data: "AA==", mimeType: "audio/wav" },
  { type: "resource_link", uri: "test://r", name: "r", title: "R" },
  { type: "resource", resource: { uri: "test://e", text: "embedded" } },
];
const { server } = newServer({
  definitions: [
    tool({
      name: "object",
      title: "Title",
      description: "Gives an object",
      annotations: { readOnlyHint: true },
      icons,
      _meta,
      output: { type: "object", properties: { a: { type: "number" } } },
      run: () => ({ a: 1 }),
    }),
    tool({
      name: "list",
      description: "Gives a list",
      output: { type: "array", items: { type: "number" } },
      run: () => [1, 2],
    }),
    tool({ name: "content", description: "Gives all kinds", run: () => ({ content }) }),
    resource({
      uri: "test://r",
      name: "r",
      title: "R",
      description: "A resource",
      mimeType: "text/plain",
      size: 4,
      annotations: { priority: 0.5 },
      icons,
      _meta,
      read: () => "text",
    }),
    prompt({
      name: "p",
      title: "P",
      description: "A prompt",
      icons,
      arguments: [{ name: "x", title: "X", description: "An argument", required: true }],
      get: () => [{ role: "user", content: content[1]! }],
    }),
  ],
});

const OLD = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
const resultOf = async (revision: string, method: string, params = {}) =>
  revision === "2026-07-28"
    ? (await modern(server, method, params)).answer.result
    : (await (await session(server, { revision })).request(method, params)).answer.result;

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  "2024-11-05": [],
  "2025-03-26": ["annotations"],
  "2025-06-18": ["annotations", "title", "outputSchema", "_meta"],
  "2025-11-25": ["annotations", "title", "outputSchema", "_meta", "icons"],
  "2026-07-28": ["annotations", "title", "outputSchema", "_meta", "icons"],
};

for (const revision of [...OLD, "2026-07-28"]) {
  test(`${revision}: lists have the members of the revision`, async () => {
    const known = KNOWN[revision]!;
    const [object, list] = (await resultOf(revision, "tools/list")).tools;
    assert.equal(Object.keys(object).sort(), ["name", "description", "inputSchema", ...known].sort());
    assert.is("outputSchema" in list, revision === "2026-07-28");
    const [listed] = (await resultOf(revision, "resources/list")).resources;
    const has = ["uri", "name", "description", "mimeType", "size", "annotations"];
    const newer = known.filter((name) => name !== "annotations" && name !== "outputSchema");
    assert.equal(Object.keys(listed).sort(), [...has, ...newer].sort());
    const [shown] = (await resultOf(revision, "prompts/list")).prompts;
    assert.is("title" in shown, revision >= "2025-06-18");
    assert.is("title" in shown.arguments[0], revision >= "2025-06-18");
    assert.is(shown.arguments[0].required, true);
  });

  test(`${revision}: content types that the revision does not have become text`, async () => {
    const result = await resultOf(revision, "tools/call", { name: "content" });
    const types = result.content.map((item: { type: string }) => item.type);
    assert.equal(types, [
      "text",
      revision >= "2025-03-26" ? "audio" : "text",
      revision >= "2025-06-18" ? "resource_link" : "text",
      "resource",
    ]);
    if (revision < "2025-06-18") assert.is(result.content[2].text, "R: test://r");
    const { messages } = await resultOf(revision, "prompts/get", { name: "p", arguments: { x: "y" } });
    assert.is(messages[0].content.type, revision >= "2025-03-26" ? "audio" : "text");
  });

  test(`${revision}: structured content follows the revision, and is always also text`, async () => {
    const object = await resultOf(revision, "tools/call", { name: "object" });
    assert.equal(object.structuredContent, revision >= "2025-06-18" ? { a: 1 } : undefined);
    assert.is(object.content[0].text, '{"a":1}');
    const list = await resultOf(revision, "tools/call", { name: "list" });
    assert.equal(list.structuredContent, revision === "2026-07-28" ? [1, 2] : undefined);
    assert.is(list.content[0].text, "[1,2]");
  });
}

test.run();
