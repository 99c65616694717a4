import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { MarkedArgument } from "./header_fields.ts";
import { ListedTools } from "./listed_tools.ts";
import { failure } from "./test_servers.ts";

const test = suite("mcp client/listed tools");

const marked = { type: "object", properties: { a: { type: "string", "x-mcp-header": "a" } } };

test("tools that a server no longer lists are forgotten", () => {
  const fields = new Map<string, readonly MarkedArgument[]>();
  const tools = new ListedTools(fields, true);
  const list = (names: string[], params: { cursor?: string } = {}) =>
    tools.accept(names.map((name) => ({ name, inputSchema: marked, outputSchema: {} })), true, params);
  const known = (names: string[]) => names.filter((name) => fields.has(name) && tools.hasOutput(name));
  const names = ["a", "b", "c", "d"];
  list(["a", "b"]);
  list(["c"], { cursor: "2" });
  // The next page is still to come.
  list(["a"]);
  assert.equal(known(names), ["a", "b", "c"]);
  list(["d"], { cursor: "2" });
  list(["a"]);
  assert.equal(known(names), ["a", "d"]);
  for (let round = 0; round < 100; round++) list([`t${round}`]);
  assert.is(fields.size, 2);
});

test("a schema that a list replaces while it is compiled is not used again", async () => {
  const tools = new ListedTools(new Map(), true);
  const list = (type: string) =>
    tools.accept([{ name: "t", outputSchema: { type: "object", properties: { a: { type } } } }], false, {});
  const check = () => tools.check("t", { structuredContent: { a: 1 } }, "server");
  list("number");
  const first = check();
  list("string");
  await first;
  assert.is((await failure(check())).reason, "malformed");
});

test.run();
