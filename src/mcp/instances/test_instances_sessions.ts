/**
 * Test kit: scenarios of a session whose requests go to different instances.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { WATCHED } from "./test_instances.ts";
import { Client, type Pair, type Scenario, textOf, watchMessages } from "./test_instances_client.ts";

const ASKING = { capabilities: { elicitation: {}, sampling: {} } };
const ACCEPT = { result: { action: "accept", content: { name: "Ann" } } };

/** Opens a session, calls a tool on A and reads the server's request. */
async function startRequest({ a }: Pair, tool: string = "ask") {
  const client = await Client.open(a, ASKING);
  const stream = (await client.call(a, tool)).stream!;
  const sent = await stream.next();
  return { client, stream, sent };
}

export const SESSION_SCENARIOS: readonly Scenario[] = [
  ["a session of A continues on B, and its end on B applies to A", async ({ a, b }) => {
    for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
      const client = await Client.open(a, { revision });
      const { body } = await client.request(b, "tools/list");
      assert.ok(body.result.tools.length > 5);
      assert.is(textOf((await client.call(b, "who")).body), "B");
      assert.is((await client.end(b)).status, 204);
      for (const on of [a, b]) {
        assert.is((await client.request(on, "ping")).status, 404);
        assert.is((await client.get(on)).status, 404);
        assert.is((await client.end(on)).status, 404);
      }
    }
  }],

  ["a session is private to its principal on every instance", async ({ a, b }) => {
    const client = await Client.open(a, { token: "reader" });
    const thief = new Client({ token: "writer" });
    thief.session = client.session;
    assert.is((await thief.request(b, "ping")).status, 404);
    assert.is((await client.request(b, "ping")).status, 200);
  }],

  ["the end of a session on B ends its streams and its calls on A", async ({ a, b }) => {
    const client = await Client.open(a, ASKING);
    const stream = (await client.get(a)).stream!;
    const waiting = (await client.call(a, "wait", {}, { _meta: { progressToken: 1 } })).stream!;
    assert.is((await waiting.next()).method, "notifications/progress");
    const asking = (await client.call(a, "ask")).stream!;
    assert.is((await asking.next()).method, "elicitation/create");
    const newMessages = await watchMessages(a);
    await client.end(b);
    assert.equal(await stream.rest(), []);
    assert.equal(await waiting.rest(), []);
    assert.equal(await asking.rest(), []);
    assert.equal(await newMessages(1), ["wait was aborted"]);
  }],

  ["B accepts the response to a request of A", async (pair) => {
    const { client, stream, sent } = await startRequest(pair);
    assert.is(sent.method, "elicitation/create");
    assert.is(sent.params.message, "Who is the user?");
    assert.is(await client.answer(pair.b, sent.id, ACCEPT), 202);
    assert.equal((await stream.rest()).map(textOf), ["accept Ann on A"]);
  }],

  ["B accepts a decline", async (pair) => {
    const { client, stream, sent } = await startRequest(pair);
    assert.is(await client.answer(pair.b, sent.id, { result: { action: "decline" } }), 202);
    assert.equal((await stream.rest()).map(textOf), ["decline no name on A"]);
  }],

  ["an error response through B is the error of the call", async (pair) => {
    const { client, stream, sent } = await startRequest(pair);
    const error = { code: -1, message: "User rejected sampling request" };
    assert.is(await client.answer(pair.b, sent.id, { error }), 202);
    const [response, ...more] = await stream.rest();
    assert.equal(more, []);
    assert.is(response.id, client.lastRequest);
    assert.is(response.error.code, -1);
    assert.match(response.error.message, "User rejected");
  }],

  ["B accepts the response to a sampling request", async (pair) => {
    const { client, stream, sent } = await startRequest(pair, "ask_model");
    assert.is(sent.method, "sampling/createMessage");
    const result = { role: "assistant", content: { type: "text", text: "Hello" }, model: "m" };
    assert.is(await client.answer(pair.b, sent.id, { result }), 202);
    assert.equal((await stream.rest()).map(textOf), ["Hello on A"]);
  }],

  ["of concurrent responses to one request one is accepted", async (pair) => {
    const { client, stream, sent } = await startRequest(pair);
    const racing = [pair.a, pair.b, pair.a, pair.b].map((on) => client.answer(on, sent.id, ACCEPT));
    assert.equal((await Promise.all(racing)).sort(), [202, 400, 400, 400]);
    assert.equal((await stream.rest()).map(textOf), ["accept Ann on A"]);
    assert.is(await client.answer(pair.b, sent.id, ACCEPT), 400);
    assert.is(await client.answer(pair.b, "unknown", ACCEPT), 400);
  }],

  ["another session cannot respond", async (pair) => {
    const { client, stream, sent } = await startRequest(pair);
    const other = await Client.open(pair.b, ASKING);
    assert.is(await other.answer(pair.b, sent.id, ACCEPT), 400);
    assert.is(await client.answer(pair.b, sent.id, ACCEPT), 202);
    assert.is((await stream.rest()).length, 1);
  }],

  ["a request whose stream was lost is sent again on B and answered there", async (pair) => {
    const { client, stream, sent } = await startRequest(pair);
    const first = stream.lastId!.replace(/\d+$/, "0");
    await stream.cut();
    const resumed = (await client.get(pair.b, first)).stream!;
    assert.equal(await resumed.next(), sent);
    assert.is(await client.answer(pair.b, sent.id, ACCEPT), 202);
    assert.equal((await resumed.rest()).map(textOf), ["accept Ann on A"]);
  }],

  ["notifications/cancelled to B aborts the call on A, which gets no response", async ({ a, b }) => {
    const client = await Client.open(a);
    const stream = (await client.call(a, "wait", {}, { _meta: { progressToken: 1 } })).stream!;
    await stream.next();
    const newMessages = await watchMessages(a);
    const params = { requestId: client.lastRequest, reason: "enough" };
    const { status } = await client.post(b, { jsonrpc: "2.0", method: "notifications/cancelled", params });
    assert.is(status, 202);
    assert.equal(await stream.rest(), []);
    assert.equal(await newMessages(1), ["wait was aborted"]);
  }],

  ["notifications/cancelled does not affect the same id of another session", async ({ a, b }) => {
    const [one, other] = [await Client.open(a), await Client.open(a)];
    const progress = { _meta: { progressToken: 1 } };
    const streams = await Promise.all(
      [one, other].map(async (each) => (await each.call(a, "wait", {}, progress)).stream!),
    );
    assert.is(one.lastRequest, other.lastRequest);
    for (const stream of streams) await stream.next();
    const message = {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: one.lastRequest },
    };
    await one.post(b, message);
    assert.equal(await streams[0]!.rest(), []);
    assert.ok(await streams[1]!.isQuiet(300));
    await other.post(b, message);
    assert.equal(await streams[1]!.rest(), []);
  }],

  [
    "after a cancellation the call ends without a response, and the client's response is refused",
    async (pair) => {
      const { client, stream, sent } = await startRequest(pair);
      const params = { requestId: client.lastRequest };
      await client.post(pair.b, { jsonrpc: "2.0", method: "notifications/cancelled", params });
      assert.equal(await stream.rest(), []);
      assert.is(await client.answer(pair.b, sent.id, ACCEPT), 400);
    },
  ],

  ["subscriptions of a session on A apply on B", async ({ a, b }) => {
    const client = await Client.open(a);
    await Promise.all(
      ["test://watched", "test://watched"].map((uri, i) =>
        client.request([a, b][i]!, "resources/subscribe", { uri })
      ),
    );
    const stream = (await client.get(b)).stream!;
    await a.order({ do: "update", uri: WATCHED });
    assert.is((await stream.next()).params.uri, WATCHED);
    await client.request(a, "resources/unsubscribe", { uri: WATCHED });
    await a.order({ do: "update", uri: WATCHED });
    assert.ok(await stream.isQuiet(300));
    await stream.cut();
  }],
];
