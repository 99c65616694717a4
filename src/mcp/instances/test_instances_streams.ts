/**
 * Test kit: scenarios of streams whose events come from another instance, and of streams that are resumed at another
 * instance.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { WATCHED } from "./test_instances.ts";
import {
  Client,
  eventually,
  type Pair,
  type Scenario,
  type Stream,
  textOf,
} from "./test_instances_client.ts";

const MODERN = "2026-07-28";
const TOOLS_CHANGED = "notifications/tools/list_changed";
const UPDATED = "notifications/resources/updated";
const PROGRESS = { _meta: { progressToken: "p" } };

/** A `subscriptions/listen` stream on an instance, after its acknowledgment. */
async function listen(on: Pair["a"], notifications: Record<string, unknown>): Promise<Stream> {
  const client = new Client({ revision: MODERN });
  const stream = (await client.request(on, "subscriptions/listen", { notifications })).stream!;
  assert.is((await stream.next()).method, "notifications/subscriptions/acknowledged");
  return stream;
}

const methodOf = ({ method }: { method: string }) => method;
const progressOf = ({ params, result }: { params?: { progress: number }; result?: unknown }) =>
  params?.progress ?? (result ? "response" : "error");

export const STREAM_SCENARIOS: readonly Scenario[] = [
  [
    "a stream on B has changes of A once, and only those that its session subscribed to",
    async ({ a, b }) => {
      const client = await Client.open(a);
      const stream = (await client.get(b)).stream!;
      const stranger = (await (await Client.open(b)).get(b)).stream!;
      await client.request(a, "resources/subscribe", { uri: WATCHED });
      await a.order({ do: "update", uri: WATCHED });
      assert.equal((await stream.next()).params, { uri: WATCHED });
      await a.order({ do: "replace" });
      assert.is((await stream.next()).method, TOOLS_CHANGED);
      assert.is((await stranger.next()).method, TOOLS_CHANGED);
      assert.ok(await stream.isQuiet(300));
      assert.ok(await stranger.isQuiet(0));
      await stream.cut();
      await stranger.cut();
    },
  ],

  ["a change right after its subscription is received", async ({ a, b }) => {
    const client = await Client.open(a);
    const stream = (await client.get(b)).stream!;
    for (let i = 0; i < 10; i++) {
      await client.request(a, "resources/subscribe", { uri: WATCHED });
      await a.order({ do: "update", uri: WATCHED });
      assert.is((await stream.next()).method, UPDATED);
      await client.request(a, "resources/unsubscribe", { uri: WATCHED });
    }
    await stream.cut();
  }],

  ["subscriptions/listen on B has changes of A once", async ({ a, b }) => {
    const stream = await listen(b, { toolsListChanged: true, resourceSubscriptions: [WATCHED] });
    const other = await listen(b, { promptsListChanged: true });
    await a.order({ do: "update", uri: WATCHED });
    await a.order({ do: "update", uri: "test://other" });
    await a.order({ do: "replace" });
    assert.is((await stream.next()).params.uri, WATCHED);
    assert.is((await stream.next()).method, TOOLS_CHANGED);
    assert.ok(await stream.isQuiet(300));
    assert.ok(await other.isQuiet(0));
    await stream.cut();
    await other.cut();
  }],

  ["both instances receive a hundred changes of both once", async ({ a, b }) => {
    const streams = await Promise.all([a, b].map((on) => listen(on, { resourceSubscriptions: uris })));
    await Promise.all(uris.map((uri, i) => [a, b][i % 2]!.order({ do: "update", uri })));
    for (const stream of streams) {
      const seen = [];
      while (seen.length < uris.length) seen.push((await stream.next()).params.uri);
      assert.equal(seen.sort(), uris);
      assert.ok(await stream.isQuiet(300));
      await stream.cut();
    }
  }],

  [
    "the newest stream of a session on A is active, and its stream on B after the end",
    async ({ a, b }) => {
      const client = await Client.open(a);
      const older = (await client.get(b)).stream!;
      const newer = (await client.get(a)).stream!;
      await b.order({ do: "replace" });
      assert.is((await newer.next()).method, TOOLS_CHANGED);
      await a.order({ do: "replace" });
      assert.is((await newer.next()).method, TOOLS_CHANGED);
      assert.ok(await older.isQuiet(300));
      await newer.cut();
      let isActive = false;
      const next = older.next().then((message) => {
        isActive = true;
        return message;
      });
      while (!isActive) await a.order({ do: "replace" });
      assert.is((await next).method, TOOLS_CHANGED);
      await older.cut();
    },
  ],

  ["of concurrent streams of a session one is active", async ({ a, b }) => {
    const client = await Client.open(a);
    const replies = await Promise.all([a, b, a, b, a, b].map((on) => client.get(on)));
    const streams = replies.map(({ stream }) => stream!);
    await a.order({ do: "replace" });
    const active = await Promise.all(streams.map(async (stream) => !await stream.isQuiet(500)));
    assert.is(active.filter((each) => each).length, 1);
    await Promise.all(streams.map((stream) => stream.cut()));
  }],

  ["a resumed stream has missed changes once, on either instance", async ({ a, b }) => {
    const client = await Client.open(a);
    for (const uri of uris) await client.request(a, "resources/subscribe", { uri });
    let stream = (await client.get(a)).stream!;
    assert.is((await stream.nextEvent())!.data, "");
    const seen: string[] = [];
    let sent = 0;
    for (let round = 0; round < 6; round++) {
      const [here, there] = round % 2 ? [a, b] : [b, a];
      await there!.order({ do: "update", uri: uris[sent++]! });
      seen.push((await stream.next()).params.uri);
      await stream.cut();
      for (let i = 0; i < 3; i++) await [a, b][i % 2]!.order({ do: "update", uri: uris[sent++]! });
      stream = (await client.get(here!, stream.lastId)).stream!;
      // Some changes are published while the stream is opened.
      const more = [0, 1].map((i) => [a, b][i]!.order({ do: "update", uri: uris[sent++]! }));
      while (seen.length < sent) seen.push((await stream.next()).params.uri);
      await Promise.all(more);
    }
    assert.ok(await stream.isQuiet(300));
    assert.equal(seen.sort(), uris.slice(0, sent));
    await stream.cut();
  }],

  ["a stream that is lost before its missed changes are sent loses none", async ({ a, b }) => {
    const client = await Client.open(a);
    await client.request(a, "resources/subscribe", { uri: WATCHED });
    let stream = (await client.get(a)).stream!;
    await stream.nextEvent();
    await stream.cut();
    await a.order({ do: "update", uri: WATCHED });
    stream = (await client.get(b, stream.lastId)).stream!;
    // Only the first event is read.
    const seen = [(await stream.nextEvent())!.json];
    const last = stream.lastId;
    await stream.cut();
    stream = (await client.get(a, last)).stream!;
    await b.order({ do: "replace" });
    while (seen.at(-1)?.method !== TOOLS_CHANGED) seen.push(await stream.next());
    assert.equal(seen.filter((each) => each).map(methodOf), [UPDATED, TOOLS_CHANGED]);
    await stream.cut();
  }],

  [
    "a call continues after a disconnect, and B returns the rest of its stream in order",
    async ({ a, b }) => {
      for (const revision of ["2025-03-26", "2025-11-25"]) {
        const client = await Client.open(a, { revision });
        const stream = (await client.call(a, "count", { to: 12, every: 40 }, PROGRESS)).stream!;
        const seen = [await stream.next(), await stream.next(), await stream.next()];
        await stream.cut();
        let rest = (await client.get(b, stream.lastId)).stream!;
        seen.push(await rest.next(), await rest.next());
        await rest.cut();
        // Resumed on its own instance, then after the end of the call.
        rest = (await client.get(a, rest.lastId)).stream!;
        seen.push(await rest.next());
        const last = rest.lastId;
        await rest.cut();
        await new Promise((resolve) => setTimeout(resolve, 500));
        rest = (await client.get(b, last)).stream!;
        seen.push(...await rest.rest());
        assert.equal(seen.map(progressOf), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "response"]);
        assert.is(seen.at(-1).id, client.lastRequest);
        assert.is(textOf(seen.at(-1)), "counted on A");
      }
    },
  ],

  ["a stream is resumed from its first event", async ({ a, b }) => {
    const client = await Client.open(a);
    const stream = (await client.call(a, "count", { to: 3, every: 20 }, PROGRESS)).stream!;
    assert.is((await stream.nextEvent())!.data, "");
    await stream.cut();
    const rest = (await client.get(b, stream.lastId)).stream!;
    assert.equal((await rest.rest()).map(progressOf), [1, 2, 3, "response"]);
  }],

  ["fast events arrive in order on both instances", async ({ a, b }) => {
    const client = await Client.open(a);
    const stream = (await client.call(a, "count", { to: 300, every: 0 }, PROGRESS)).stream!;
    await stream.nextEvent();
    const first = stream.lastId;
    const expected = [...Array.from({ length: 300 }, (_, i) => i + 1), "response"];
    assert.equal((await stream.rest()).map(progressOf), expected);
    assert.equal((await (await client.get(b, first)).stream!.rest()).map(progressOf), expected);
  }],

  ["resuming an unknown stream, or another session's, gets 204", async ({ a, b }) => {
    const client = await Client.open(a);
    const stream = (await client.call(a, "count", { to: 1, every: 0 }, PROGRESS)).stream!;
    await stream.nextEvent();
    const first = stream.lastId!;
    await stream.rest();
    const other = await Client.open(a);
    assert.is((await other.get(b, first)).status, 204);
    assert.is((await client.get(b, "AAAAAAAAAAAAAAAAAAAAAA.3")).status, 204);
    const isKept = async () => {
      const { status, stream: rest } = await client.get(b, stream.lastId);
      await rest?.cut();
      return status === 204;
    };
    await eventually(isKept, "the end of the stream");
    assert.is((await client.get(b, first)).status, 200);
  }],

  ["open streams end with their final messages when their instance stops", async ({ a, b }) => {
    const client = await Client.open(a);
    const legacy = (await client.get(b)).stream!;
    const modern = await listen(b, { toolsListChanged: true });
    await b.order({ do: "end_streams" });
    assert.equal(await legacy.rest(), []);
    const [finalResult, ...more] = await modern.rest();
    assert.equal(more, []);
    assert.is(finalResult.result.resultType, "complete");
  }],
];

const uris = Array.from({ length: 100 }, (_, i) => `test://${String(i).padStart(3, "0")}`);
