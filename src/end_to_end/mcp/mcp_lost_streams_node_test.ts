/**
 * The official clients over HTTP with sessions: after a broken connection they receive the messages that were sent
 * meanwhile. And the end of a session.
 *
 * @module
 */
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.d.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/types.d.ts"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import {
  connectFeatures,
  type FeatureClient,
  type FeatureClientOptions,
  type Loose,
} from "./test_feature_client.ts";
import { withTimeout } from "./test_notification_log.ts";
import { serveFeatures } from "./test_feature_serve.ts";
import { textOf, TOOLS } from "./test_feature_step.ts";

const CLIENTS: readonly (readonly [string, FeatureClientOptions])[] = [
  ["client 1.x", { generation: 1, transport: "http" }],
  ["client 2.x", { generation: 2, transport: "http", mode: "legacy" }],
];

/** A call of `wait` that has reported its start. */
async function begin(
  client: FeatureClient,
  key: string,
): Promise<{ call: Promise<Loose>; steps: number[]; tokens: string[] }> {
  const steps: number[] = [];
  const tokens: string[] = [];
  const began = Promise.withResolvers<void>();
  const call = client.call("wait", { key }, {
    onprogress({ progress }) {
      steps.push(progress);
      began.resolve();
    },
    onresumptiontoken: (token) => void tokens.push(token),
  });
  await withTimeout(began.promise, "progress");
  return { call, steps, tokens };
}

/** Every entry of this runtime, and two instances that take requests in turn. */
const SERVERS: readonly (readonly [name: string, entry: string, count: number])[] = [
  ...Object.keys(entries).map((entry) => [entry, entry, 1] as const),
  ["two instances", Object.keys(entries)[0]!, 2],
];

for (const [where, entry, count] of SERVERS) {
  for (const [name, options] of CLIENTS) {
    const test = suite(`${name} loses its connection, ${where}`);
    let server: RunningServer;
    let client: FeatureClient;

    test.before(async () => {
      server = await serveFeatures(entry, count);
    });
    test.before.each(async () => {
      client = await connectFeatures(options, server);
    });
    test.after.each(() => client.close());
    test.after(() => server.close());

    test(`${name}, ${where}: a call whose connection breaks gets its result`, async () => {
      const { call, steps, tokens } = await begin(client, "once");
      client.wire.callOf("wait")!.cut();
      const resumed = await withTimeout(
        client.wire.next(({ method }) => method === "GET"),
        "the resumption",
      );
      assert.is(resumed.headers.get("last-event-id"), tokens.at(-1));
      await client.call("release", { key: "once" });
      assert.is(textOf(await withTimeout(call, "the result")), "released once");
      assert.equal(steps, [1, 2]);
      assert.ok(tokens.length > 2);
    });

    test(`${name}, ${where}: a call whose connection breaks three times gets its result`, async () => {
      const { call, steps } = await begin(client, "often");
      let broken = client.wire.callOf("wait")!;
      for (let i = 0; i < 3; i++) {
        const resumed = client.wire.next(({ method }) => method === "GET");
        broken.cut();
        broken = await withTimeout(resumed, "the resumption");
        assert.ok(broken.headers.get("last-event-id"));
      }
      await client.call("release", { key: "often" });
      assert.is(textOf(await withTimeout(call, "the result")), "released often");
      assert.equal(steps, [1, 2]);
    });

    test(`${name}, ${where}: after its stream is resumed, the client is notified once of each change`, async () => {
      const uris = ["tour://notes/today", "tour://notes/tomorrow"];
      const unsubscribe = await client.subscribe(uris);
      const updated = "notifications/resources/updated";
      await client.call("touch", { uri: uris[0] });
      assert.is((await client.notifications.next(updated)).uri, uris[0]);
      const stream = client.wire.exchanges.find(({ method }) => method === "GET")!;
      const resumed = client.wire.next(({ method }) => method === "GET");
      // The server can still write to the broken stream when the resource changes.
      stream.cut();
      await client.call("touch", { uri: uris[1] });
      await withTimeout(resumed, "the resumption");
      assert.is((await client.notifications.next(updated)).uri, uris[1]);
      await client.call("touch", { uri: uris[0] });
      assert.is((await client.notifications.next(updated)).uri, uris[0]);
      assert.equal(client.notifications.take(updated), []);
      await unsubscribe(uris[0]!);
    });

    test(`${name}, ${where}: requests of an ended session get 404; a new session starts`, async () => {
      const id = client.sessionId()!;
      assert.match(id, /^[\x21-\x7e]+$/);
      const stream = client.wire.exchanges.find(({ method }) => method === "GET")!;
      await client.terminate();
      await withTimeout(stream.ended, "the end of the stream");
      const send = (method: string, body?: string) =>
        fetch(`${server.url}/mcp`, {
          method,
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "mcp-session-id": id,
            "mcp-protocol-version": "2025-11-25",
          },
          ...(body !== undefined && { body }),
        }).then(async (response) => {
          await response.body?.cancel();
          return response.status;
        });
      assert.is(await send("POST", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })), 404);
      assert.is(await send("GET"), 404);
      assert.is(await send("DELETE"), 404);
      assert.is(client.sessionId(), undefined);
      const again = await connectFeatures(options, server);
      assert.is.not(again.sessionId(), id);
      assert.is((await again.list("tools")).all.length, TOOLS.length);
      await again.close();
    });

    test(`${name}, ${where}: the server reports no fault`, async () => {
      assert.is(textOf(await client.call("faults")), "[]");
    });

    test.run();
  }

  const test = suite(`sessions and subscriptions, ${where}`);
  let server: RunningServer;
  test.before(async () => {
    server = await serveFeatures(entry, count);
  });
  test.after(() => server.close());

  test(`client 1.x, ${where}: another transport with the session id resumes the session and its running call`, async () => {
    const first = await connectFeatures({ generation: 1, transport: "http" }, server);
    const { call, tokens } = await begin(first, "handed over");
    const failed = call.catch((error) => error);
    const sessionId = first.sessionId()!;
    await first.close();
    assert.instance(await failed, Error);

    const successor = new Client({ name: "successor", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { sessionId });
    await successor.connect(transport as Parameters<typeof successor.connect>[0]);
    const params = { name: "wait", arguments: { key: "handed over" } };
    const result = successor.request({ method: "tools/call", params }, CallToolResultSchema, {
      resumptionToken: tokens.at(-1)!,
    });
    await successor.callTool({ name: "release", arguments: { key: "handed over" } });
    assert.is(textOf(await withTimeout(result, "the result")), "released handed over");
    await successor.close();
  });

  test(`client 2.x, ${where}: in the modern era a broken connection cancels the call`, async () => {
    const client = await connectFeatures({
      generation: 2,
      transport: "http",
      mode: { pin: "2026-07-28" },
    }, server);
    const began = Promise.withResolvers<void>();
    const call = client.call("hang", { key: "cut" }, { onprogress: () => began.resolve() }).catch(() =>
      "failed"
    );
    await withTimeout(began.promise, "progress");
    client.wire.callOf("hang")!.cut();
    assert.is(textOf(await withTimeout(client.call("aborted", { key: "cut" }), "the abort")), "AbortError");
    await client.close();
    assert.is(await call, "failed");
  });

  test(`client 2.x, ${where}: a broken connection closes its subscription; a new subscription is notified`, async () => {
    const client = await connectFeatures({
      generation: 2,
      transport: "http",
      mode: { pin: "2026-07-28" },
    }, server);
    await client.subscribe(["tour://notes/today"]);
    for (const exchange of client.wire.exchanges) {
      if (exchange.message?.method === "subscriptions/listen") exchange.cut();
    }
    await client.subscribe(["tour://notes/tomorrow"]);
    await client.call("touch", { uri: "tour://notes/today" });
    await client.call("touch", { uri: "tour://notes/tomorrow" });
    const updated = await client.notifications.next("notifications/resources/updated");
    assert.is(updated.uri, "tour://notes/tomorrow");
    await client.close();
  });

  test(`client 2.x, ${where}: a server that closes ends subscriptions gracefully`, async () => {
    const client = await connectFeatures({
      generation: 2,
      transport: "http",
      mode: { pin: "2026-07-28" },
    }, server);
    await client.subscribe([]);
    assert.equal(await client.notifications.next("acknowledged"), {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
    });
    await client.call("close_streams");
    assert.is(await client.notifications.next("closed"), "graceful");
    await client.close();
  });

  test.run();
}
