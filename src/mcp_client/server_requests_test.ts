import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../test_until.ts";
import { connect, event, legacyServer, result } from "./test_servers.ts";

const test = suite("mcp client/server_requests");
const TEXT = { content: [{ type: "text", text: "ok" }] };
const call = { name: "t", arguments: {} };

test("requests of the server on the GET stream reach the only call, or no one", async () => {
  let sendOnStream = (_: string): void => {};
  const waiting: ((response: Response) => void)[] = [];
  const server = legacyServer((received, server) => {
    if (received.method === "GET") {
      return server.stream((send, closed) => {
        sendOnStream = send;
        return closed;
      });
    }
    if (received.message.method !== "tools/call") return new Response(null, { status: 202 });
    return new Promise<Response>((resolve) =>
      waiting.push((response) => resolve(response ?? result(received, TEXT)))
    );
  });
  const client = connect(server, { capabilities: { elicitation: {} }, onNotification() {} });
  const asked: string[] = [];
  const ask = (name: string) =>
    client.request("tools/call", { name, arguments: {} }, {
      onServerRequest: () => {
        asked.push(name);
        return Promise.resolve({ action: "accept" });
      },
    });
  const responses = () => server.received.filter(({ message }) => message && message.method === undefined);
  const request = (id: string) =>
    event({ jsonrpc: "2.0", id, method: "elicitation/create", params: { message: "?" } });
  const first = ask("a");
  await until(() => waiting.length === 1);
  sendOnStream(request("one"));
  await until(() => responses().length === 1);
  assert.equal(responses()[0]!.message, { jsonrpc: "2.0", id: "one", result: { action: "accept" } });
  const second = ask("b");
  await until(() => waiting.length === 2);
  sendOnStream(request("two"));
  await until(() => responses().length === 2);
  assert.is(responses()[1]!.message.error.code, -32600);
  assert.equal(asked, ["a"]);
  for (const end of waiting) end(undefined as unknown as Response);
  assert.equal(await Promise.all([first, second]), [TEXT, TEXT]);
  await client.close();
  assert.is(server.open, 0);
});

test("what the user answered reaches the server, also when it is away at first", async () => {
  let failures = 0;
  let asks = (): void => {};
  const server = legacyServer((received, server) => {
    const { message } = received;
    if (message?.method === "tools/call") {
      return server.stream(async (send) => {
        send(event({ jsonrpc: "2.0", id: "one", method: "elicitation/create", params: { message: "?" } }));
        await new Promise<void>((resolve) => asks = resolve);
        send(event({ jsonrpc: "2.0", id: message.id, result: TEXT }));
      });
    }
    if (!message) return new Response(null, { status: 405 });
    if (++failures === 1) return Promise.reject(new TypeError("fetch failed"));
    if (failures === 2) return new Response(null, { status: 503 });
    asks();
    return new Response(null, { status: 202 });
  });
  const client = connect(server, { capabilities: { elicitation: {} } });
  let asked = 0;
  const result = await client.request("tools/call", call, {
    timeout: 5000,
    onServerRequest: () => {
      asked++;
      return Promise.resolve({ action: "accept" });
    },
  });
  assert.equal(result, TEXT);
  assert.is(asked, 1);
  const responses = server.received.filter(({ message }) => message?.id === "one");
  assert.equal(responses.map(({ message }) => message.result), Array(3).fill({ action: "accept" }));
  await client.close();
});

test("a response is not sent again when its call has ended, or to a server that refuses it", async () => {
  for (const status of [400, 503]) {
    let end = (): void => {};
    const server = legacyServer((received, server) => {
      const { message } = received;
      if (message?.method !== "tools/call") return new Response(null, { status });
      return server.stream(async (send) => {
        send(event({ jsonrpc: "2.0", id: "one", method: "elicitation/create", params: { message: "?" } }));
        await new Promise<void>((resolve) => end = resolve);
        send(event({ jsonrpc: "2.0", id: message.id, result: TEXT }));
      });
    });
    const client = connect(server, { capabilities: { elicitation: {} } });
    const onServerRequest = () => Promise.resolve({ action: "accept" });
    const called = client.request("tools/call", call, { onServerRequest });
    const responses = () => server.received.filter(({ message }) => message?.id === "one");
    await until(() => responses().length === 1);
    if (status === 503) end();
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.is(responses().length, 1, String(status));
    end();
    assert.equal(await called, TEXT);
    await client.close();
  }
});

test.run();
