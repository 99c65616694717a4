/**
 * Servers whose lists do not end or have invalid entries, and whose results do not match the schema that they listed.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { connect, failure, modernServer, result } from "./test_servers.ts";

const test = suite("mcp client/hostile lists");

test("a list without an end is refused", async () => {
  const pages = (page: (count: number) => Record<string, unknown>) => {
    let count = 0;
    return modernServer((received) => result(received, page(count++)));
  };
  const tool = { name: "t", inputSchema: { type: "object" } };
  const [same, endless, wide, heavy, odd] = [
    pages(() => ({ tools: [], nextCursor: "a" })),
    pages((count) => ({ tools: [], nextCursor: String(count) })),
    pages((count) => ({ tools: Array.from({ length: 6 }, () => tool), nextCursor: String(count) })),
    pages((count) => ({ tools: [{ ...tool, description: "x".repeat(600) }], nextCursor: String(count) })),
    pages(() => ({ tools: [], nextCursor: 7 })),
  ];
  assert.is((await failure(connect(same).listAll("tools"))).reason, "malformed");
  assert.is(same.received.length, 3);
  assert.is((await failure(connect(endless).listAll("tools"))).reason, "too_large");
  assert.is(
    (await failure(connect(wide, { limits: { listEntries: 10 } }).listAll("tools"))).reason,
    "too_large",
  );
  assert.is(wide.received.length, 3);
  assert.is(
    (await failure(connect(heavy, { limits: { listBytes: 1000 } }).listAll("tools"))).reason,
    "too_large",
  );
  assert.is(heavy.received.length, 3);
  assert.is((await failure(connect(odd).listAll("tools"))).reason, "malformed");
});

test("the time for which a page of a list may be kept is reported when it is a number", async () => {
  const tool = { name: "t", inputSchema: { type: "object" } };
  const pages = [{ ttlMs: 5000, nextCursor: "1" }, { nextCursor: "2" }, { ttlMs: "1", nextCursor: "3" }, {
    ttlMs: 0,
  }];
  const server = modernServer((received) =>
    result(received, { tools: [tool], ...pages[Number(received.message.params.cursor ?? 0)] })
  );
  const reported: number[] = [];
  await connect(server).listAll("tools", { onTtl: (ttlMs) => reported.push(ttlMs) });
  assert.equal(reported, [5000, 0]);
});

test("entries without their name, and tools with invalid marks, are left out", async () => {
  const marked = (name: unknown) => ({
    type: "object",
    properties: { a: { type: "string", "x-mcp-header": name } },
  });
  const tools = [{ name: "a" }, {}, null, { name: 5 }, { name: "b", inputSchema: marked("bad name") }, {
    name: "c",
    inputSchema: marked("Good"),
  }];
  const client = connect(modernServer((received) => result(received, { tools, prompts: {} })));
  assert.equal((await client.listAll("tools")).map(({ name }) => name), ["a", "c"]);
  assert.is((await failure(client.listAll("prompts"))).reason, "malformed");
});

test("structured content is checked against the schema of the tool that was listed", async () => {
  const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const results: Record<string, Record<string, unknown>> = {
    good: { structuredContent: { n: 1 } },
    wrong: { structuredContent: { n: "1" } },
    missing: {},
    failed: { isError: true },
  };
  const tools = Object.keys(results).map((name) => ({ name, outputSchema }));
  const server = modernServer((received) => {
    const { method, params } = received.message;
    return result(received, method === "tools/list" ? { tools } : { content: [], ...results[params.name] });
  });
  for (const checkOutput of [true, false]) {
    const client = connect(server, { checkOutput });
    await client.listAll("tools");
    const ends = await Promise.all(
      Object.keys(results).map((name) =>
        client.request("tools/call", { name, arguments: {} }).then(() => "ok", ({ reason }) => reason)
      ),
    );
    assert.equal(ends, checkOutput ? ["ok", "malformed", "malformed", "ok"] : ["ok", "ok", "ok", "ok"]);
  }
});

for (const [pattern, a] of [["^(a+)+$", "a".repeat(40) + "!"], ["(|)".repeat(26) + "x", "a"]] as const) {
  test(`a pattern of an output schema does not hold the event loop: ${pattern.slice(0, 20)}`, async () => {
    const outputSchema = { type: "object", properties: { a: { type: "string", pattern } } };
    const server = modernServer((received) =>
      result(
        received,
        received.message.method === "tools/list"
          ? { tools: [{ name: "t", outputSchema }] }
          : { content: [], structuredContent: { a } },
      )
    );
    const client = connect(server);
    await client.listAll("tools");
    await assertLoopIsFree(() => client.request("tools/call", { name: "t", arguments: {} }));
  });
}

test.run();
