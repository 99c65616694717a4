/**
 * HTTP+SSE, the transport of 2024-11-05.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createMcpClient } from "./create_client.ts";
import { connect, event, failure, type Received, scriptedServer, URL_OF_TESTS } from "./test_servers.ts";
import { until } from "../test_until.ts";
import { sseTransport } from "./transports/sse_transport.ts";

const test = suite("mcp client/http_sse");
const TEXT = { content: [{ type: "text", text: "ok" }] };
const call = { name: "t", arguments: {} };

/** A server of HTTP+SSE at the URL of the tests. */
function sseServer(endpoint: string, onMessage: (message: Received["message"]) => unknown) {
  let send = (_: string): void => {};
  let end = (): void => {};
  const server = scriptedServer((received, server) => {
    const { method, url, message } = received;
    if (method === "GET") {
      return server.stream((sendText, closed) => {
        send = sendText;
        send(`event: endpoint\ndata: ${endpoint}\n\n`);
        return Promise.race([closed, new Promise<void>((resolve) => end = resolve)]);
      });
    }
    if (url === URL_OF_TESTS) return new Response(null, { status: 405 });
    if (message.id !== undefined) {
      send(`event: message\n${event({ jsonrpc: "2.0", id: message.id, result: onMessage(message) })}`);
    }
    return new Response("Accepted", { status: 202 });
  });
  return { server, end: () => end() };
}

const HANDSHAKE = {
  protocolVersion: "2024-11-05",
  capabilities: { tools: {} },
  serverInfo: { name: "old", version: "1" },
};

test("a server of HTTP+SSE is found by falling back, and its end is reported", async () => {
  const { server, end } = sseServer(
    "/messages?session=1",
    ({ method }) => method === "initialize" ? HANDSHAKE : TEXT,
  );
  const ends: (Error | undefined)[] = [];
  const client = connect(server, { onClosed: (reason) => ends.push(reason) });
  const info = await client.connect();
  assert.equal([info.transport, info.revision, info.serverInfo.name], ["sse", "2024-11-05", "old"]);
  assert.equal(await client.request("tools/call", call), TEXT);
  assert.is(server.received.at(-1)!.url, "http://127.0.0.1:8787/messages?session=1");
  end();
  await until(() => ends.length === 1);
  assert.is((await failure(client.request("tools/call", call))).mayHaveRun, false);
  await client.close();
  assert.equal(ends.length, 1);
  assert.is(server.open, 0);
});

test("messages are not sent to an endpoint of another origin", async () => {
  for (const endpoint of ["http://other.example/messages", "//other.example/m", "http://"]) {
    const { server } = sseServer(endpoint, () => HANDSHAKE);
    const transport = sseTransport({
      url: URL_OF_TESTS,
      fetch: server.fetch,
      headers: { authorization: "Bearer a" },
    });
    const error = await failure(createMcpClient({ transport, name: "t", version: "1" }).connect());
    assert.is(error.reason, "malformed");
    assert.is(server.received.length, 1);
    assert.is(server.open, 0);
  }
});

test("a stream of HTTP+SSE that never names its endpoint ends by the timeout, or by close", async () => {
  const server = scriptedServer((_, server) => server.stream((_, closed) => closed));
  const newClient = (timeout: number) =>
    createMcpClient({
      transport: sseTransport({ url: URL_OF_TESTS, fetch: server.fetch }),
      name: "t",
      version: "1",
      limits: { timeout },
    });
  assert.is((await failure(newClient(20).connect())).reason, "timeout");
  const client = newClient(60_000);
  const [error] = await Promise.all([failure(client.connect()), client.close()]);
  assert.is(error.reason, "closed");
  await until(() => server.open === 0);
});

test.run();
