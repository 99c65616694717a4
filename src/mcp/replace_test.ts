import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as v from "valibot";
import { prompt, resource, tool } from "./definition/define.ts";
import type { ToolServer } from "./service.ts";
import { modern } from "./test_exchange.ts";
import { newServer } from "./test_server.ts";

const test = suite("mcp/replace");

const named = (name: string) => tool({ name, description: "", run: () => "" });

async function listTools(server: ToolServer): Promise<string[]> {
  const { answer } = await modern(server, "tools/list");
  return answer.result.tools.map((each: { name: string }) => each.name);
}

test("a list that was offered stays, empty, when its last definition goes", async () => {
  const definitions = [
    named("a"),
    resource({ uri: "a:b", name: "b", read: () => "" }),
    prompt({ name: "c", arguments: [{ name: "d", complete: () => ["e"] }], get: () => "" }),
  ];
  const { server } = newServer({ definitions });
  const offered = (await modern(server, "server/discover")).answer.result.capabilities;
  await server.replace([]);
  for (
    const [method, member] of [
      ["tools/list", "tools"],
      ["resources/list", "resources"],
      ["resources/templates/list", "resourceTemplates"],
      ["prompts/list", "prompts"],
    ] as const
  ) {
    assert.equal((await modern(server, method)).answer.result[member], [], method);
  }
  assert.is((await modern(server, "tools/call", { name: "a" })).answer.error.code, -32602);
  assert.equal((await modern(server, "server/discover")).answer.result.capabilities, offered);
  const never = newServer({ definitions: [named("a")] }).server;
  assert.is((await modern(never, "prompts/list")).answer.error.code, -32601);
});

test("a task can be read after its tool was replaced", async () => {
  let finish = (_: string): void => {};
  const slow = tool({
    name: "slow",
    description: "",
    task: "optional",
    run: () => new Promise<string>((resolve) => finish = resolve),
  });
  const { server } = newServer({ definitions: [slow] });
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const { result } = (await modern(server, "tools/call", { name: "slow" }, { capabilities })).answer;
  const { taskId } = result;
  await server.replace([named("other")]);
  finish("done");
  let answer;
  do answer = (await modern(server, "tasks/get", { taskId }, { capabilities })).answer; while (
    answer.result?.status === "working"
  );
  assert.is(answer.result?.status, "completed", JSON.stringify(answer));
});

test("the last of two calls decides, also when the first one waits for a converter of schemas", async () => {
  const { server } = newServer({ definitions: [named("base")] });
  // The first schema of valibot loads its converter.
  const late = tool({ name: "late", description: "", input: v.object({ a: v.number() }), run: () => "" });
  await Promise.all([server.replace([late]), server.replace([named("last")])]);
  assert.equal(await listTools(server), ["last"]);
});

test("a source that changes while a call waits for a converter does not undo the call", async () => {
  let current = [named("source1")];
  let change = (): void => {};
  const source = { current: () => current, watch: (onChange: () => void) => void (change = onChange) };
  const { server } = newServer({ definitions: [named("base")], sources: [source] });
  assert.equal(await listTools(server), ["base", "source1"]);
  const late = tool({ name: "late", description: "", input: v.object({ a: v.number() }), run: () => "" });
  const replaced = server.replace([late]);
  current = [named("source2")];
  change();
  await replaced;
  assert.equal(await listTools(server), ["late", "source2"]);
});

test("a definition that is no JSON, or has a member of another type, is refused by name, and nothing is replaced", async () => {
  const { server } = newServer({ definitions: [named("a")] });
  for (const wrong of [{ _meta: { n: 1n } }, { title: 5 }] as object[]) {
    const bad = tool({ name: "bad", description: "", ...wrong, run: () => "" });
    assert.throws(() => newServer({ definitions: [bad] }), /^Cannot define "bad": /);
    const error = await server.replace([bad]).catch((error) => error);
    assert.instance(error, TypeError);
    assert.equal(await listTools(server), ["a"]);
  }
});

test.run();
