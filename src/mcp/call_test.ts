import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { CallContext } from "./context.ts";
import { prompt, tool } from "./definition/define.ts";
import { type Message, modern, modernHeaders, modernParams } from "./test_exchange.ts";
import { newServer, request, WRITER } from "./test_server.ts";

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

test("a handler that reads its signal after the client disconnected sees that the call is cancelled", async () => {
  const disconnect = new AbortController();
  let wasAborted: boolean | undefined;
  const late = tool({
    name: "late",
    description: "d",
    async run(_, call) {
      disconnect.abort();
      await new Promise((resolve) => setTimeout(resolve));
      wasAborted = call.signal.aborted;
    },
  });
  const { server } = newServer({ definitions: [late] });
  const params = modernParams({ name: "late" });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const headers = { "content-type": "application/json", ...modernHeaders("tools/call", { name: "late" }) };
  await server.fetch(
    new Request("http://127.0.0.1:8787/mcp", { method: "POST", headers, body, signal: disconnect.signal }),
  );
  assert.is(wasAborted, true);
});

test("a call that was cancelled asks its user for nothing", async () => {
  let started = (): void => {};
  const running = new Promise<void>((resolve) => started = resolve);
  let cancelled = (): void => {};
  const over = new Promise<void>((resolve) => cancelled = resolve);
  let outcome: unknown;
  const asks = tool({
    name: "asks",
    description: "d",
    async run(_, call) {
      started();
      await over;
      outcome = await call.elicit({ message: "?", schema: { type: "object", properties: {} } }).catch((
        error,
      ) => error);
    },
  });
  const { server } = newServer({ definitions: [asks] });
  const encoder = new TextEncoder();
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  const write = (message: object) =>
    writer.write(encoder.encode(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"));
  let written = "";
  const output = new WritableStream<Uint8Array>({
    write: (chunk) => void (written += new TextDecoder().decode(chunk)),
  });
  const served = server.serveStdio(input.readable, output, WRITER);
  const clientInfo = { name: "test", version: "1" };
  await write({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo },
  });
  await write({ id: 1, method: "tools/call", params: { name: "asks" } });
  await running;
  await write({ method: "notifications/cancelled", params: { requestId: 1 } });
  await write({ id: 2, method: "ping" });
  while (!written.includes('"id":2')) await new Promise((resolve) => setTimeout(resolve, 1));
  cancelled();
  await writer.close();
  await served;
  assert.is((outcome as Error).name, "AbortError");
  assert.not.match(written, "elicitation/create");
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
