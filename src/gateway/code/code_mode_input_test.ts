/**
 * Programs whose calls ask the user: a program that runs again runs nothing twice.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "../../mcp/definition/define.ts";
import { ToolError } from "../../mcp/definition/definition.ts";
import { session } from "../../mcp/test_exchange.ts";
import { definitions, done, run, runAccepting, serve, toSource } from "./test_code_mode.ts";

const test = suite("gateway/code_mode: input");

test("2026-07-28: a repeated program runs nothing twice, also failures", async () => {
  const { server } = serve();
  const { result, asked } = await runAccepting(server, async (tools) => {
    const first = await tools("count", { step: 1 });
    const again = await tools("count", { step: 1 });
    const failed = await tools("refuse").catch((error) => error.message);
    const a = await tools("confirm", { what: "a" });
    const middle = await tools("text", { say: "middle" });
    const b = await tools("confirm", { what: "b" });
    return [first.sum, again.sum, failed, a, middle, b];
  });
  assert.equal(JSON.parse(result.content[0].text), [
    1,
    1,
    "Ask for less",
    "accept s-a",
    "middle",
    "accept s-b",
  ]);
  assert.equal(asked, [["Sure of a?"], ["Sure of b?"]]);
  assert.equal(done, [
    "count 1",
    "count 1",
    "refuse",
    "stamp a",
    "confirm a",
    "text middle",
    "stamp b",
    "confirm b",
  ]);
});

test("2026-07-28: calls beside one that asks are complete before the answer, and keep their order", async () => {
  const ready = Promise.withResolvers<void>();
  const slow = tool({
    name: "slow",
    description: "Waits for fast",
    async run() {
      await ready.promise;
      done.push("slow");
      return "slow";
    },
  });
  const fast = tool({
    name: "fast",
    description: "Fast",
    run() {
      done.push("fast");
      ready.resolve();
      return "fast";
    },
  });
  const { server } = serve({}, { definitions: [...definitions, slow, fast] });
  const { result } = await runAccepting(server, async (tools) => {
    const order: string[] = [];
    const note = (name: string) => (value: string) => void order.push(name, value);
    // In the order of the requests "slow" is first, but "fast" is the first to answer.
    const both = [tools("slow").then(note("1")), tools("fast").then(note("2"))];
    const winner = await Promise.race([both[0]!.then(() => "slow"), both[1]!.then(() => "fast")]);
    const said = await tools("text", { say: winner });
    const [confirmed] = await Promise.all([tools("confirm", { what: "race" }), ...both]);
    return [order, said, confirmed];
  });
  assert.equal(JSON.parse(result.content[0].text), [["2", "fast", "1", "slow"], "fast", "accept s-race"]);
  assert.equal([...done].sort(), ["confirm race", "fast", "slow", "stamp race", "text fast"]);
});

test("2026-07-28: a failure beside a request for input is not lost", async () => {
  const { server } = serve();
  const { result, asked } = await runAccepting(server, async (tools) =>
    await Promise.all([
      tools("confirm", { what: "a" }),
      tools("refuse").catch((error) => error.message),
      tools("confirm", { what: "b" }),
    ]));
  assert.equal(JSON.parse(result.content[0].text), ["accept s-a", "Ask for less", "accept s-b"]);
  assert.equal(asked.flat().sort(), ["Sure of a?", "Sure of b?"]);
  assert.is(done.filter((each) => each === "refuse").length, 1);
});

test("2026-07-28: kept results arrive before those of new calls, as in the run before", async () => {
  const { server } = serve();
  const { result } = await runAccepting(server, async (tools) => {
    const order: string[] = [];
    const calls = ["confirm", "count", "text", "refuse"].map((name) =>
      tools(name, { what: "x", step: 1, say: "s" }).catch(() => {}).then(() => void order.push(name))
    );
    await Promise.all(calls);
    return order.indexOf("confirm");
  });
  assert.is(result.content[0].text, "3");
});

test("2026-07-28: a call that fails while another one asks has failed, and does not run again", async () => {
  const asks = Promise.withResolvers<void>();
  const ask = tool({
    name: "ask",
    description: "Asks",
    async run(_, { elicit }) {
      const asked = elicit({ message: "Sure?", schema: { type: "object", properties: {} } });
      asked.catch(() => asks.resolve());
      return (await asked).action;
    },
  });
  const fail = tool({
    name: "fail",
    description: "Fails",
    async run() {
      done.push("fail");
      await asks.promise;
      throw new ToolError("Failed late");
    },
  });
  const { server } = serve({}, { definitions: [ask, fail] });
  const { result } = await runAccepting(
    server,
    (tools) => Promise.all([tools("ask"), tools("fail").catch((error) => error.message)]),
  );
  assert.equal(JSON.parse(result.content[0].text), ["accept", "Failed late"]);
  assert.equal(done, ["fail"]);
});

test("a tool that becomes a task gives a program its result", async () => {
  const job = tool({ name: "job", description: "Takes long", task: "required", run: () => "job done" });
  const { server } = serve({}, { definitions: [job] });
  for (const capabilities of [{}, { extensions: { "io.modelcontextprotocol/tasks": {} } }]) {
    const result = await run(server, (tools) => tools("job"), { capabilities });
    assert.is(result.content[0].text, "job done");
  }
});

test("2025-11-25: the program waits for the answer", async () => {
  const { server } = serve();
  const open = await session(server, { capabilities: { elicitation: {} } });
  const params = {
    name: "run_code",
    arguments: {
      code: toSource(async (
        tools,
      ) => [await tools("count", { step: 1 }), await tools("confirm", { what: "x" })]),
    },
  };
  const response = await open.fetch({ jsonrpc: "2.0", id: 7, method: "tools/call", params });
  const reader = (await import("../../mcp/test_exchange.ts")).readEvents(response);
  const asked = await reader.message();
  assert.is(asked.method, "elicitation/create");
  await open.send({ jsonrpc: "2.0", id: asked.id, result: { action: "accept", content: {} } });
  const answer = await reader.message();
  assert.equal(JSON.parse(answer.result.content[0].text), [{ sum: 1 }, "accept s-x"]);
  assert.equal(done, ["count 1", "stamp x", "confirm x"]);
});

test("a client that cannot be asked: the program gets an exception", async () => {
  const { server } = serve();
  const result = await run(server, (tools) => tools("confirm", { what: "x" }).catch(() => "caught"));
  assert.is(result.content[0].text, "caught");
});

test.run();
