import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { client, type Message, session } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/http: a server without sessions");
const BOTH = { accept: "application/json, text/event-stream" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};

/** Whether a capability of the server says that changes are sent. */
function promisesChanges({ capabilities }: Message): boolean {
  return Object.values(capabilities as Message).some((each) => {
    const { listChanged, subscribe } = each as Message;
    return listChanged !== undefined || subscribe !== undefined;
  });
}

test("initialize opens no session, and promises nothing that needs one", async () => {
  for (const protocolVersion of ["2025-11-25", "2024-11-05"]) {
    const { server } = newServer({ sessions: false });
    const params = { ...INITIALIZE.params, protocolVersion };
    const { status, headers, answer } = await client(server).send({ ...INITIALIZE, params }, BOTH);
    assert.is(status, 200);
    assert.is(headers.get("mcp-session-id"), null);
    assert.is(answer.result.protocolVersion, protocolVersion);
    assert.equal(answer.result.capabilities.tools, {});
    assert.not(promisesChanges(answer.result));
  }
  const { answer } = await client(newServer({}).server).send(INITIALIZE, BOTH);
  assert.ok(promisesChanges(answer.result));
});

test("calls are answered, and there is no stream of the server", async () => {
  const { server } = newServer({ sessions: false });
  const headers = { ...BOTH, "mcp-protocol-version": "2025-11-25" };
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  assert.is((await client(server).send(initialized, headers)).status, 202);
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "add", arguments: { a: 1 } } };
  const { answer } = await client(server).send(call, headers);
  assert.is(answer.result.content[0].text, "2");
  for (const method of ["GET", "DELETE"]) {
    const request = new Request("http://127.0.0.1:8787/mcp", { method, headers });
    const response = await server.fetch(request);
    assert.is(response.status, 405);
    assert.is(response.headers.get("allow"), "POST, OPTIONS");
  }
});

test("a session that an instance with sessions opened stays valid", async () => {
  const store = memoryStore();
  const { request } = await session(
    newServer({ store }).server,
    {},
    newServer({ store, sessions: false }).server,
  );
  assert.is((await request("tools/list")).status, 200);
});

test("over stdio the connection is a session all the same", async () => {
  const { server } = newServer({ sessions: false });
  let text = "";
  await server.serveStdio(
    new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(JSON.stringify(INITIALIZE) + "\n"));
        controller.close();
      },
    }),
    new WritableStream<Uint8Array>({ write: (chunk) => void (text += new TextDecoder().decode(chunk)) }),
  );
  assert.ok(promisesChanges(JSON.parse(text).result));
});

test.run();
