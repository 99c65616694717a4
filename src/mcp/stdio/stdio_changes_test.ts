import { suite } from "uvu";
import * as assert from "uvu/assert";
import { resourceTemplate, tool } from "../definition/define.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { digestOf } from "../session/session_subscriptions.ts";
import { watchedKey } from "../session/wakeups.ts";
import { newServer, WRITER } from "../test_server.ts";
import { until } from "../../test_until.ts";

const test = suite("mcp/stdio: changes");
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
const FILE = resourceTemplate({ uriTemplate: "file:///{id}", name: "file", read: () => "text" });
const LOG = tool({ name: "log", description: "Logs", run: (_, call) => call.log("debug", "text") });

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

test("subscriptions and the log level outlast sessionLifetime, as the connection is the session", async () => {
  for (const principal of [undefined, WRITER]) {
    let at = 1_000_000;
    const now = () => at;
    const store = memoryStore({ now });
    const { server } = newServer({ store, now, definitions: [FILE, LOG], sessionLifetime: 200 });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const input = writable.getWriter();
    let text = "";
    const output = new WritableStream<Uint8Array>({
      write: (chunk) => void (text += new TextDecoder().decode(chunk)),
    });
    const seen = async (mark: string): Promise<void> => {
      await until(() => text.includes(mark));
      text = "";
    };
    const send = (message: object): Promise<void> =>
      input.write(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"));
    const served = server.serveStdio(readable, output, principal);
    await send(INITIALIZE);
    await seen('"id":1');
    await send({ id: 2, method: "resources/subscribe", params: { uri: "file:///a" } });
    await seen('"id":2');
    await send({ id: 3, method: "logging/setLevel", params: { level: "debug" } });
    await seen('"id":3');
    // Renewed every 50 ms; a clock of its own, as an event loop that is held could let everything expire.
    for (let i = 0; i < 6; i++) {
      await pause(60);
      at += 100;
    }
    const kept = await store.list(watchedKey("session"));
    assert.is(kept.filter(({ key }) => digestOf(key) !== undefined).length, 1);
    await server.resourceUpdated("file:///a");
    await seen("notifications/resources/updated");
    await send({ id: 4, method: "tools/call", params: { name: "log" } });
    await seen("notifications/message");
    await send({ id: 5, method: "resources/subscribe", params: { uri: "file:///b" } });
    await seen('"id":5');
    await server.resourceUpdated("file:///b");
    await seen("notifications/resources/updated");
    await input.close();
    await served;
  }
});

test.run();
