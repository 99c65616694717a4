import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RpcError } from "../../../jsonrpc/error.ts";
import { resource, tool } from "../../../mcp/definition/define.ts";
import { ToolError } from "../../../mcp/definition/definition.ts";
import { modern, session } from "../../../mcp/test_exchange.ts";
import { MODERN, newGateway, upstreamOf } from "../test_gateway.ts";

const test = suite("gateway/upstream/proxy/proxy_tool");

const DEFINITIONS = [
  tool({
    name: "add",
    title: "Add",
    description: "Adds",
    input: {
      type: "object",
      properties: { a: { type: "number" } },
      required: ["a"],
      additionalProperties: false,
    },
    output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
    annotations: { readOnlyHint: true },
    run: ({ a }) => ({ sum: (a as number) + 1 }),
  }),
  tool({
    name: "links",
    description: "Links to resources",
    run: () => ({
      content: [
        { type: "resource_link", uri: "test://x", name: "x" },
        { type: "resource", resource: { uri: "test://y", text: "y" } },
      ],
      _meta: { "com.example/a": 1 },
    }),
  }),
  tool({
    name: "refuse",
    description: "Fails with a reason",
    run() {
      throw new ToolError("Ask for less");
    },
  }),
  tool({
    name: "protocol_error",
    description: "Fails with an error of the protocol",
    run() {
      throw new RpcError(-31234, "Not today", { until: "tomorrow" });
    },
  }),
  tool({
    name: "meta",
    description: "Returns what it got in _meta",
    run: (_, { meta }) => JSON.stringify(meta),
  }),
];

for (const revision of [MODERN, "2025-11-25", "2024-11-05"]) {
  test(`an upstream of ${revision} serves clients of every revision`, async () => {
    const { server, upstreams } = await newGateway({ calc: upstreamOf(DEFINITIONS, revision) });
    assert.is(upstreams.status()[0]!.revision, revision);
    for (const client of [MODERN, "2025-11-25", "2024-11-05"]) {
      const request = client === MODERN
        ? (method: string, params?: Record<string, unknown>) => modern(server, method, params)
        : (await session(server, { revision: client })).request;
      const { tools } = (await request("tools/list")).answer.result;
      assert.equal(tools.map((each: { name: string }) => each.name), [
        "calc_add",
        "calc_links",
        "calc_refuse",
        "calc_protocol_error",
        "calc_meta",
      ]);
      assert.is(tools[0].inputSchema.additionalProperties, false);
      assert.is(tools[0].outputSchema !== undefined, client >= "2025-06-18" && revision >= "2025-06-18");
      const call = async (name: string, given = {}) =>
        (await request("tools/call", { name: `calc_${name}`, arguments: given })).answer;
      const sum = (await call("add", { a: 1 })).result;
      assert.equal(sum.content, [{ type: "text", text: '{"sum":2}' }]);
      assert.equal(
        sum.structuredContent,
        client >= "2025-06-18" && revision >= "2025-06-18" ? { sum: 2 } : undefined,
      );
      assert.is(sum.resultType, client === MODERN ? "complete" : undefined);
      // The upstream checks the arguments.
      assert.match((await call("add", { a: "1" })).result.content[0].text, "/a");
      assert.equal((await call("refuse")).result, {
        ...(client === MODERN && { resultType: "complete", _meta: sum._meta }),
        content: [{ type: "text", text: "Ask for less" }],
        isError: true,
      });
      assert.equal((await call("protocol_error")).error, {
        code: -31234,
        message: "Not today",
        data: { until: "tomorrow" },
      });
    }
    await upstreams.close();
  });
}

test("links and _meta pass", async () => {
  const { server, upstreams } = await newGateway({
    calc: upstreamOf([...DEFINITIONS, resource({ uri: "test://x", name: "x", read: () => "x" })]),
  });
  const { result } = (await modern(server, "tools/call", { name: "calc_links" })).answer;
  assert.equal(result.content, [
    { type: "resource_link", uri: "upstream://calc/test://x", name: "x" },
    { type: "resource", resource: { uri: "upstream://calc/test://y", text: "y" } },
  ]);
  assert.is(result._meta["com.example/a"], 1);
  const meta = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "com.example/b": 2 };
  const seen = JSON.parse(
    (await modern(server, "tools/call", { name: "calc_meta" }, { meta })).answer.result.content[0].text,
  );
  assert.is(seen.traceparent, meta.traceparent);
  assert.is(seen["com.example/b"], 2);
  await upstreams.close();
});

test.run();
