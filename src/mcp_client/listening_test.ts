/**
 * Streams for what belongs to no request: opened where needed, opened again, and ended.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  connect,
  event,
  failure,
  legacyServer,
  type Loose,
  modernServer,
  type Received,
  result,
} from "./test_servers.ts";
import { until } from "../test_until.ts";

const test = suite("mcp client/listening");
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: {},
  resources: { subscribe: true, listChanged: true },
};

interface Listen {
  readonly filter: Loose;
  readonly send: (message: Loose) => void;
  readonly end: () => void;
  isClosed: boolean;
}

/** A server of 2026-07-28 that accepts all but `test://no`, and what listens to it. */
function listeningServer(capabilities: Record<string, unknown> = CAPABILITIES) {
  const listens: Listen[] = [];
  const server = modernServer((received, server) => {
    const { id, method, params } = received.message;
    if (method !== "subscriptions/listen") return result(received, { content: [] });
    return server.stream(async (sendText, closed) => {
      const send = (message: Loose) => sendText(event({ jsonrpc: "2.0", ...message }));
      const filter = params.notifications;
      const { resourceSubscriptions: uris } = filter;
      const accepted = uris
        ? { ...filter, resourceSubscriptions: uris.filter((uri: string) => uri !== "test://no") }
        : filter;
      send({ method: "notifications/subscriptions/acknowledged", params: { notifications: accepted } });
      const ended = new Promise<void>((resolve) => {
        const listen: Listen = { filter, send, end: resolve, isClosed: false };
        listens.push(listen);
        closed.then(() => listen.isClosed = true);
      });
      await Promise.race([closed, ended]);
      send({ id, result: { resultType: "complete" } });
    });
  }, capabilities);
  return { server, listens };
}

test("2026-07-28: one stream for what the server declared and what is subscribed to", async () => {
  const { server, listens } = listeningServer();
  const noted: unknown[] = [];
  const client = connect(server, { onNotification: (method, { uri }) => noted.push([method, uri]) });
  await client.connect();
  await until(() => listens.length === 1);
  assert.equal(listens[0]!.filter, { toolsListChanged: true, resourcesListChanged: true });
  await Promise.all(["test://a", "test://b", "test://c"].map((uri) => client.subscribe(uri)));
  const last = listens.at(-1)!;
  assert.equal(last.filter.resourceSubscriptions, ["test://a", "test://b", "test://c"]);
  // Changes at the same time are one.
  assert.ok(listens.length <= 3, `${listens.length} streams`);
  await until(() => server.open === 1);
  last.send({ method: "notifications/resources/updated", params: { uri: "test://b" } });
  await until(() => noted.length === 1);
  assert.equal(noted, [["notifications/resources/updated", "test://b"]]);
  await client.unsubscribe("test://b");
  assert.equal(listens.at(-1)!.filter.resourceSubscriptions, ["test://a", "test://c"]);
  await client.close();
  await until(() => server.open === 0);
});

test("2026-07-28: a resource that is not accepted does not end the others", async () => {
  const { server, listens } = listeningServer();
  const client = connect(server);
  await client.connect();
  assert.is(listens.length, 0);
  const [, refused] = await Promise.all([
    client.subscribe("test://a"),
    failure(client.subscribe("test://no")),
  ]);
  assert.is(refused.reason, "unsupported");
  await client.subscribe("test://b");
  assert.equal(listens.at(-1)!.filter.resourceSubscriptions, ["test://a", "test://b"]);
  await client.close();
  await until(() => server.open === 0);
});

test("2026-07-28: a stream that ends is opened again, and lists count as changed", async () => {
  const { server, listens } = listeningServer();
  const noted: string[] = [];
  const client = connect(server, { onNotification: (method) => noted.push(method) });
  await client.connect();
  await until(() => listens.length === 1);
  assert.equal(noted, []);
  listens[0]!.end();
  await until(() => listens.length === 2);
  await until(() => noted.length === 2);
  assert.equal(noted, ["notifications/tools/list_changed", "notifications/resources/list_changed"]);
  await client.close();
  await until(() => server.open === 0);
});

test("2026-07-28: after a gap subscribed resources count as updated", async () => {
  const { server, listens } = listeningServer({ resources: { subscribe: true } });
  const noted: unknown[] = [];
  const client = connect(server, { onNotification: (method, { uri }) => noted.push([method, uri]) });
  await client.subscribe("test://a");
  assert.equal(noted, []);
  listens[0]!.end();
  await until(() => noted.length === 1);
  assert.equal(noted, [["notifications/resources/updated", "test://a"]]);
  await client.close();
});

test("2026-07-28: a subscription that is not acknowledged fails, and so does not stop the next one", async () => {
  for (const isSilent of [true, false]) {
    const { server, listens } = listeningServer({ resources: { subscribe: true } });
    const { fetch } = server;
    const filters: Loose[] = [];
    let isFaulty = true;
    const faulty = Object.assign(server, {
      fetch: async (url: string, init: RequestInit) => {
        const { id, method, params } = JSON.parse(String(init.body));
        if (!isFaulty || method !== "subscriptions/listen") return await fetch(url, init);
        filters.push(params.notifications);
        return server.stream(async (send, closed) => {
          if (isSilent) await closed;
          else send(event({ jsonrpc: "2.0", id, result: { resultType: "complete" } }));
        });
      },
    });
    const client = connect(faulty, { limits: { timeout: 200 } });
    const [a, b] = await Promise.all(["test://a", "test://b"].map((uri) => failure(client.subscribe(uri))));
    const reason = isSilent ? "timeout" : "malformed";
    assert.equal([a!.reason, b!.reason], [reason, reason]);
    const before = filters.length;
    await new Promise((resolve) => setTimeout(resolve, 600));
    // Nothing is left to listen for.
    assert.is(filters.length, before);
    isFaulty = false;
    await client.subscribe("test://c");
    assert.equal(listens.map(({ filter }) => filter.resourceSubscriptions), [["test://c"]]);
    await client.close();
    await until(() => server.open === 0);
  }
});

test("2026-07-28: a failure of the server does not end listening", async () => {
  let failures = 0;
  const { server, listens } = listeningServer();
  const { fetch } = server;
  const failing = Object.assign(server, {
    fetch: async (url: string, init: RequestInit) =>
      failures < 2 && String(init.body).includes("subscriptions/listen")
        ? new Response(
          JSON.stringify({
            jsonrpc: "2.0",
            id: JSON.parse(String(init.body)).id,
            error: { code: -32603, message: `failure ${++failures}` },
          }),
          { status: 503, headers: { "content-type": "application/json" } },
        )
        : await fetch(url, init),
  });
  const client = connect(failing, { onNotification() {} });
  await client.connect();
  await until(() => listens.length === 1);
  assert.is(failures, 2);
  await client.close();
});

test("nothing is opened for a server that announces nothing, or without a receiver", async () => {
  const { server, listens } = listeningServer({ tools: {} });
  const silent = connect(server, { onNotification() {} });
  await silent.request("tools/call", {});
  assert.is(listens.length, 0);
  const old = legacyServer((received) => result(received, {}), CAPABILITIES);
  await connect(old).request("ping");
  assert.equal(old.received.filter(({ method }) => method === "GET"), []);
});

test("a refusal to listen is not asked for again, and does not concern other requests", async () => {
  await Promise.all([401, 405, 404].map(async (status) => {
    const server = legacyServer(
      (received) =>
        received.method === "GET" ? new Response(null, { status }) : result(received, { content: [] }),
      CAPABILITIES,
    );
    const client = connect(server, { onNotification() {} });
    await client.request("tools/call", {});
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.is(server.received.filter(({ method }) => method === "GET").length, 1, String(status));
    await client.close();
  }));
  const modern = modernServer((received: Received) => {
    const { method, id } = received.message;
    return method === "subscriptions/listen"
      ? new Response(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }), {
        status: 404,
        headers: { "content-type": "application/json" },
      })
      : result(received, { content: [] });
  }, CAPABILITIES);
  const client = connect(modern, { onNotification() {} });
  await client.request("tools/call", {});
  assert.is((await failure(client.subscribe("test://a"))).code, -32601);
  await client.close();
});

for (const [revision, newServer] of [["2025-11-25", legacyServer], ["2026-07-28", modernServer]] as const) {
  test(`${revision}: credentials that cannot be obtained for a while do not end listening`, async () => {
    const ends: (() => void)[] = [];
    let failures = 0;
    const server = newServer((received, server) => {
      if (received.method === "DELETE") return new Response(null);
      return server.stream((send, closed) => {
        const method = "notifications/subscriptions/acknowledged";
        if (received.message) send(event({ jsonrpc: "2.0", method, params: { notifications: {} } }));
        return Promise.race([closed, new Promise<void>((resolve) => ends.push(resolve))]);
      });
    }, CAPABILITIES);
    const client = connect(server, { onNotification() {} }, {
      headers() {
        if (ends.length !== 1 || failures === 2) return {};
        failures++;
        throw Object.assign(new Error("away"), { name: "AccessUnavailable" });
      },
    });
    await client.connect();
    await until(() => ends.length === 1);
    ends[0]!();
    await until(() => ends.length === 2);
    assert.is(failures, 2);
    await client.close();
  });
}

test.run();
