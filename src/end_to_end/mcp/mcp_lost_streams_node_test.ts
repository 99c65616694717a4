/**
 * The official clients, with a handshake over HTTP, when the connection breaks: what was said meanwhile reaches them.
 * And when a session ends.
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
import { connectFeatures, type FeatureClient, type Loose, type TourOptions } from "./test_feature_client.ts";
import { withTimeout } from "./test_notification_log.ts";
import { serveFeatures } from "./test_feature_serve.ts";
import { textOf, TOOLS } from "./test_feature_step.ts";

const CLIENTS: readonly (readonly [string, TourOptions])[] = [
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
const PLACES: readonly (readonly [name: string, entry: string, count: number])[] = [
  ...Object.keys(entries).map((entry) => [entry, entry, 1] as const),
  ["two instances", Object.keys(entries)[0]!, 2],
];

for (const [place, entry, count] of PLACES) {
  for (const [name, options] of CLIENTS) {
    const test = suite(`${name} loses its connection, ${place}`);
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

    test(`${name}, ${place}: a call whose connection breaks has its result`, async () => {
      const { call, steps, tokens } = await begin(client, "once");
      client.wire.callOf("wait")!.cut();
      const back = await withTimeout(
        client.wire.next(({ method }) => method === "GET"),
        "the client's return",
      );
      assert.is(back.headers.get("last-event-id"), tokens.at(-1));
      await client.call("release", { key: "once" });
      assert.is(textOf(await withTimeout(call, "the result")), "released once");
      assert.equal(steps, [1, 2]);
      assert.ok(tokens.length > 2);
    });

    test(`${name}, ${place}: and when it breaks again and again`, async () => {
      const { call, steps } = await begin(client, "often");
      let broken = client.wire.callOf("wait")!;
      for (let time = 0; time < 3; time++) {
        const back = client.wire.next(({ method }) => method === "GET");
        broken.cut();
        broken = await withTimeout(back, "the client's return");
        assert.ok(broken.headers.get("last-event-id"));
      }
      await client.call("release", { key: "often" });
      assert.is(textOf(await withTimeout(call, "the result")), "released often");
      assert.equal(steps, [1, 2]);
    });

    test(`${name}, ${place}: changes while the session's stream is broken are notified afterwards, once`, async () => {
      const uris = ["tour://notes/today", "tour://notes/tomorrow"];
      const unwatch = await client.watch(uris);
      const updated = "notifications/resources/updated";
      await client.call("touch", { uri: uris[0] });
      assert.is((await client.notifications.next(updated)).uri, uris[0]);
      const stream = client.wire.exchanges.find(({ method }) => method === "GET")!;
      const back = client.wire.next(({ method }) => method === "GET");
      // Its last message is still being sent to the broken stream.
      stream.cut();
      await client.call("touch", { uri: uris[1] });
      await withTimeout(back, "the client's return");
      assert.is((await client.notifications.next(updated)).uri, uris[1]);
      await client.call("touch", { uri: uris[0] });
      assert.is((await client.notifications.next(updated)).uri, uris[0]);
      assert.equal(client.notifications.take(updated), []);
      await unwatch(uris[0]!);
    });

    test(`${name}, ${place}: an ended session is not found; a new one can begin`, async () => {
      const id = client.sessionId()!;
      assert.match(id, /^[\x21-\x7e]+$/);
      const stream = client.wire.exchanges.find(({ method }) => method === "GET")!;
      await client.terminate();
      await withTimeout(stream.ended, "the end of the session's stream");
      const ask = (method: string, body?: string) =>
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
      assert.is(await ask("POST", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })), 404);
      assert.is(await ask("GET"), 404);
      assert.is(await ask("DELETE"), 404);
      assert.is(client.sessionId(), undefined);
      const again = await connectFeatures(options, server);
      assert.is.not(again.sessionId(), id);
      assert.is((await again.list("tools")).all.length, TOOLS.length);
      await again.close();
    });

    test(`${name}, ${place}: nothing went wrong on the server`, async () => {
      assert.is(textOf(await client.call("faults")), "[]");
    });

    test.run();
  }

  const test = suite(`other losses, ${place}`);
  let server: RunningServer;
  test.before(async () => {
    server = await serveFeatures(entry, count);
  });
  test.after(() => server.close());

  test(`client 1.x, ${place}: another process takes the session over, and the result of a call that ran`, async () => {
    const first = await connectFeatures({ generation: 1, transport: "http" }, server);
    const { call, tokens } = await begin(first, "handed over");
    const lost = call.catch((error) => error);
    const sessionId = first.sessionId()!;
    await first.close();
    assert.instance(await lost, Error);

    const heir = new Client({ name: "heir", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { sessionId });
    await heir.connect(transport as Parameters<typeof heir.connect>[0]);
    const params = { name: "wait", arguments: { key: "handed over" } };
    const result = heir.request({ method: "tools/call", params }, CallToolResultSchema, {
      resumptionToken: tokens.at(-1)!,
    });
    await heir.callTool({ name: "release", arguments: { key: "handed over" } });
    assert.is(textOf(await withTimeout(result, "the result")), "released handed over");
    await heir.close();
  });

  test(`client 2.x, ${place}: in the modern era a connection that breaks is a cancellation`, async () => {
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

  test(`client 2.x, ${place}: a subscription whose connection breaks is closed; a new one is notified again`, async () => {
    const client = await connectFeatures({
      generation: 2,
      transport: "http",
      mode: { pin: "2026-07-28" },
    }, server);
    await client.watch(["tour://notes/today"]);
    for (const exchange of client.wire.exchanges) {
      if (exchange.message?.method === "subscriptions/listen") exchange.cut();
    }
    await client.watch(["tour://notes/tomorrow"]);
    await client.call("touch", { uri: "tour://notes/today" });
    await client.call("touch", { uri: "tour://notes/tomorrow" });
    const told = await client.notifications.next("notifications/resources/updated");
    assert.is(told.uri, "tour://notes/tomorrow");
    await client.close();
  });

  test(`client 2.x, ${place}: a server that stops ends subscriptions gracefully`, async () => {
    const client = await connectFeatures({
      generation: 2,
      transport: "http",
      mode: { pin: "2026-07-28" },
    }, server);
    await client.watch([]);
    assert.equal(await client.notifications.next("honoured"), {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
    });
    await client.call("farewell");
    assert.is(await client.notifications.next("closed"), "graceful");
    await client.close();
  });

  test.run();
}
