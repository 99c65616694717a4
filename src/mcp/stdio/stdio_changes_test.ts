import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "../definition/definition.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/stdio: changes");
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};

test("changes are sent from the message after initialize on", async () => {
  const { server } = newServer({});
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const input = writable.getWriter();
  let text = "";
  let wake = (): void => {};
  const output = new WritableStream<Uint8Array>({
    write(chunk) {
      text += new TextDecoder().decode(chunk);
      wake();
    },
  });
  /** Waits for a line that contains the mark. */
  const seen = async (mark: string): Promise<void> => {
    while (!text.includes(mark)) await new Promise<void>((resolve) => wake = resolve);
  };
  const send = (message: object): Promise<void> =>
    input.write(new TextEncoder().encode(JSON.stringify(message) + "\n"));
  const served = server.serveStdio(readable, output);
  await send(INITIALIZE);
  await seen('"id":1');
  await send({ jsonrpc: "2.0", id: 2, method: "ping" });
  await seen('"id":2');
  assert.not.match(text, /list_changed/);
  await server.replace([tool({ name: "other", description: "Other", run: () => "" })]);
  await seen("notifications/tools/list_changed");
  await input.close();
  await served;
});

test.run();
