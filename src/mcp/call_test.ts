import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { CallContext } from "./context.ts";
import { prompt, tool } from "./definition/definition.ts";
import { type Message, modern } from "./test_exchange.ts";
import { newServer, request } from "./test_server.ts";

const test = suite("mcp/call");

/** The params of the notifications that a client receives from a tool. */
async function notificationsOf(run: (call: CallContext) => Promise<unknown>): Promise<Message[]> {
  const { server } = newServer({
    definitions: [tool({ name: "notifies", description: "d", run: (_, call) => run(call) })],
  });
  const meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "debug" };
  const { messages } = await modern(server, "tools/call", { name: "notifies" }, { meta });
  return messages.slice(0, -1).map(({ params }: Message) => params);
}

test("progress is sent only with numbers that JSON can represent", async () => {
  const params = await notificationsOf(async (call) => {
    await call.progress(NaN);
    await call.progress(Infinity);
    await call.progress(1, Infinity);
    await call.progress(2, NaN, "half");
    await call.progress("3" as never, 4);
    await call.progress(4, 5);
  });
  assert.equal(params.map(({ progressToken: _, ...rest }: Message) => rest), [
    { progress: 1 },
    { progress: 2, message: "half" },
    { progress: 4, total: 5 },
  ]);
});

test("a log message always has data", async () => {
  assert.equal(await notificationsOf((call) => call.log("info", undefined as never)), [{
    level: "info",
    data: null,
  }]);
});

test("a prompt argument may have the name of a member of Object.prototype", async () => {
  const { post } = newServer({
    definitions: [prompt({
      name: "p",
      arguments: [{ name: "__proto__" }, { name: "constructor" }],
      get: (values) => Object.entries(values).join(";"),
    })],
  });
  const params = '{"name":"p","arguments":{"__proto__":"a","constructor":"b"}}';
  const body = JSON.stringify(request("prompts/get", 0)).replace('"params":0', `"params":${params}`);
  assert.is((await post(body)).body.result.messages[0].content.text, "__proto__,a;constructor,b");
});

test.run();
