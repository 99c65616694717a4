import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { prompt, resource, resourceTemplate, tool } from "./define.ts";
import type { ToolServer } from "../service.ts";
import { modern } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/list_pages");
const tools = Array.from(
  { length: 5 },
  (_, i) => tool({ name: `t${i}`, description: "A tool", run: () => "x" }),
);
const store = memoryStore();
const instance = (
  definitions: Parameters<typeof newServer>[0] extends undefined ? never : unknown[],
  more = {},
) => newServer({ store, definitions: definitions as never, pageSize: 2, ...more }).server;

async function pages(
  server: ToolServer,
  method: string,
  member: string,
  headers = {},
  cursor?: string,
): Promise<string[][]> {
  const all: string[][] = [];
  do {
    const { result } =
      (await modern(server, method, cursor === undefined ? {} : { cursor }, { headers })).answer;
    all.push(result[member].map((each: { name: string }) => each.name));
    cursor = result.nextCursor;
    assert.ok(all.length < 1000, "the pages have an end");
  } while (cursor !== undefined);
  return all;
}

test("pages continue to the end of the list on any instance", async () => {
  const a = instance(tools);
  const b = instance(tools);
  assert.equal(await pages(a, "tools/list", "tools"), [["t0", "t1"], ["t2", "t3"], ["t4"]]);
  const { nextCursor } = (await modern(a, "tools/list")).answer.result;
  const { result } = (await modern(b, "tools/list", { cursor: nextCursor })).answer;
  assert.equal(result.tools.map((each: { name: string }) => each.name), ["t2", "t3"]);
  assert.is((await modern(a, "tools/list")).answer.result.nextCursor, nextCursor, "cursors are stable");
});

test("the last page has no cursor", async () => {
  const { result } = (await modern(instance(tools.slice(0, 2)), "tools/list")).answer;
  assert.not.ok("nextCursor" in result);
});

test("a cursor that is changed, invented, of another list or not a string is refused with -32602", async () => {
  const server = instance([
    ...tools,
    ...["a", "b", "c"].map((name) => prompt({ name, get: () => "x" })),
  ]);
  const { nextCursor } = (await modern(server, "tools/list")).answer.result;
  const bad = [nextCursor.slice(1), nextCursor + "A", "", "x", 7, null, {}];
  for (const cursor of bad) {
    assert.is((await modern(server, "tools/list", { cursor })).answer.error?.code, -32602, String(cursor));
  }
  assert.is((await modern(server, "prompts/list", { cursor: nextCursor })).answer.error.code, -32602);
});

test("when the list changes, the next page continues after the last entry", async () => {
  const server = instance(tools);
  const { nextCursor } = (await modern(server, "tools/list")).answer.result;
  await server.replace([tools[1]!, tools[4]!]);
  const { result } = (await modern(server, "tools/list", { cursor: nextCursor })).answer;
  assert.equal(result.tools.map((each: { name: string }) => each.name), ["t4"]);
});

test("when the last entry of a page is removed, the next page skips no entry", async () => {
  const server = instance(tools);
  const { nextCursor } = (await modern(server, "tools/list")).answer.result;
  await server.replace([tools[0]!, ...tools.slice(2)]);
  const { result } = (await modern(server, "tools/list", { cursor: nextCursor })).answer;
  assert.equal(result.tools.map((each: { name: string }) => each.name), ["t2", "t3"]);
});

test("when up to three entries are removed at once, the next pages skip no entry", async () => {
  const before = tools.concat(["t5", "t6", "t7"].map((name) => ({ ...tools[0]!, name })));
  const server = instance(before, { pageSize: 3 });
  const { nextCursor } = (await modern(server, "tools/list")).answer.result;
  const next = (await modern(server, "tools/list", { cursor: nextCursor })).answer.result.nextCursor;
  const indexes = before.keys().toArray();
  for (const a of indexes) {
    for (const b of indexes) {
      for (const c of indexes) {
        const left = before.filter((_, i) => i !== a && i !== b && i !== c);
        await server.replace(left);
        for (const [first, cursor] of [[3, nextCursor], [6, next]] as const) {
          const found = (await pages(server, "tools/list", "tools", {}, cursor)).flat();
          const expected = left.filter((each) => before.indexOf(each) >= first).map(({ name }) => name);
          assert.equal(found.slice(-expected.length || found.length), expected, `${a} ${b} ${c} of ${first}`);
        }
      }
    }
  }
});

test("a page has only entries for the caller's scopes, and is then private", async () => {
  const scoped = [
    tools[0]!,
    { ...tools[1]!, scopes: ["read"] },
    { ...tools[2]!, scopes: ["write"] },
    tools[3]!,
    tools[4]!,
  ];
  const server = instance(scoped);
  assert.equal(await pages(server, "tools/list", "tools"), [["t0", "t3"], ["t4"]]);
  const reader = { authorization: "Bearer reader" };
  assert.equal(await pages(server, "tools/list", "tools", reader), [["t0", "t1"], ["t3", "t4"]]);
  const writer = { authorization: "Bearer writer" };
  assert.equal(await pages(server, "tools/list", "tools", writer), [["t0", "t1"], ["t2", "t3"], ["t4"]]);
  assert.is((await modern(server, "tools/list")).answer.result.cacheScope, "private");
  assert.is((await modern(instance(tools), "tools/list")).answer.result.cacheScope, "public");
});

test("if tokens are required no result is public", async () => {
  const definitions = [
    ...tools.slice(0, 1),
    resource({ uri: "test://r", name: "r", cacheScope: "public", ttl: 5, read: () => "x" }),
    resource({ uri: "test://s", name: "s", cacheScope: "public", scopes: ["read"], read: () => "x" }),
    resourceTemplate({ uriTemplate: "test://x/{id}", name: "x", cacheScope: "public", read: () => "x" }),
    prompt({ name: "p", get: () => "x" }),
  ];
  const requests = [
    ["server/discover", {}],
    ["tools/list", {}],
    ["prompts/list", {}],
    ["resources/templates/list", {}],
    ["resources/read", { uri: "test://r" }],
    ["resources/read", { uri: "test://x/1" }],
    ["resources/read", { uri: "test://s" }],
  ] as const;
  const headers = { authorization: "Bearer reader" };
  for (const auth of ["optional", "required"] as const) {
    const server = instance(definitions, { auth });
    for (const [method, params] of requests) {
      const { result } = (await modern(server, method, params, { headers })).answer;
      const isPublic = auth === "optional" && params !== requests.at(-1)![1];
      assert.is(result.cacheScope, isPublic ? "public" : "private", `${auth} ${method}`);
    }
  }
});

test("an implied scope is sufficient", async () => {
  const server = instance([{ ...tools[0]!, scopes: ["low"] }], {
    implied: new Map([["read", new Set(["low"])]]),
  });
  const headers = { authorization: "Bearer reader" };
  assert.equal(await pages(server, "tools/list", "tools", headers), [["t0"]]);
  assert.equal(
    (await modern(server, "tools/call", { name: "t0" }, { headers })).answer.result.content[0].text,
    "x",
  );
});

test("resources of templates follow fixed resources, also in pages", async () => {
  const server = instance([
    resource({ uri: "test://fixed", name: "fixed", read: () => "x" }),
    resourceTemplate({
      uriTemplate: "test://found/{id}",
      name: "found",
      list: () => Promise.resolve(["a", "b"].map((id) => ({ uri: `test://found/${id}`, name: id }))),
      read: () => "x",
    }),
  ]);
  assert.equal(await pages(server, "resources/list", "resources"), [["fixed", "a"], ["b"]]);
  const { ttlMs, cacheScope } = (await modern(server, "resources/list")).answer.result;
  assert.equal([ttlMs, cacheScope], [0, "private"]);
});

test("a resource that a template lists again comes once, so that its page has an end", async () => {
  const of = (name: string) => ({ uri: `test://${name}`, name });
  const server = instance([
    ...["license", "readme"].map((name) => resource({ ...of(name), read: () => "x" })),
    resourceTemplate({
      uriTemplate: "test://{name}",
      name: "file",
      list: () => Promise.resolve(["a", "readme", "z", "a"].map(of)),
      read: () => "x",
    }),
  ]);
  assert.equal(await pages(server, "resources/list", "resources"), [["license", "readme"], ["a", "z"]]);
});

test.run();
