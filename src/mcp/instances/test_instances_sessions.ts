/**
 * Scenarios of a session whose requests go to different instances, for any two instances on one store. Nothing but tests
 * imports this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { WATCHED } from "./test_instances.ts";
import { Client, type Pair, type Scenario, tellingOf, textOf } from "./test_instances_client.ts";

const ASKING = { capabilities: { elicitation: {}, sampling: {} } };
const ACCEPT = { result: { action: "accept", content: { name: "Ann" } } };

/** A session, its call of `ask` on A, and the server's request. */
async function asked({ a }: Pair, tool: string = "ask") {
  const client = await Client.open(a, ASKING);
  const stream = (await client.call(a, tool)).stream!;
  const question = await stream.next();
  return { client, stream, question };
}

export const SESSION_SCENARIOS: readonly Scenario[] = [
  ["a session opened on A goes on on B, and its end on B is its end on A", async ({ a, b }) => {
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

  ["a session is its principal's on every instance", async ({ a, b }) => {
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
    const telling = await tellingOf(a);
    await client.end(b);
    assert.equal(await stream.rest(), []);
    assert.equal(await waiting.rest(), []);
    assert.equal(await asking.rest(), []);
    assert.equal(await telling(1), ["wait was aborted"]);
  }],

  ["a question of A is answered through B", async (pair) => {
    const { client, stream, question } = await asked(pair);
    assert.is(question.method, "elicitation/create");
    assert.is(question.params.message, "Who is you?");
    assert.is(await client.answer(pair.b, question.id, ACCEPT), 202);
    assert.equal((await stream.rest()).map(textOf), ["accept Ann on A"]);
  }],

  ["a question is declined through B", async (pair) => {
    const { client, stream, question } = await asked(pair);
    assert.is(await client.answer(pair.b, question.id, { result: { action: "decline" } }), 202);
    assert.equal((await stream.rest()).map(textOf), ["decline nobody on A"]);
  }],

  ["an error as the answer through B is the call's error", async (pair) => {
    const { client, stream, question } = await asked(pair);
    const error = { code: -1, message: "User rejected sampling request" };
    assert.is(await client.answer(pair.b, question.id, { error }), 202);
    const [response, ...more] = await stream.rest();
    assert.equal(more, []);
    assert.is(response.id, client.lastRequest);
    assert.is(response.error.code, -1);
    assert.match(response.error.message, "User rejected");
  }],

  ["a question to the model is answered through B", async (pair) => {
    const { client, stream, question } = await asked(pair, "ask_model");
    assert.is(question.method, "sampling/createMessage");
    const result = { role: "assistant", content: { type: "text", text: "Hello" }, model: "m" };
    assert.is(await client.answer(pair.b, question.id, { result }), 202);
    assert.equal((await stream.rest()).map(textOf), ["Hello on A"]);
  }],

  ["of answers to one question, on any instance, one is taken", async (pair) => {
    const { client, stream, question } = await asked(pair);
    const racing = [pair.a, pair.b, pair.a, pair.b].map((on) => client.answer(on, question.id, ACCEPT));
    assert.equal((await Promise.all(racing)).sort(), [202, 400, 400, 400]);
    assert.equal((await stream.rest()).map(textOf), ["accept Ann on A"]);
    assert.is(await client.answer(pair.b, question.id, ACCEPT), 400);
    assert.is(await client.answer(pair.b, "never asked", ACCEPT), 400);
  }],

  ["another session cannot answer", async (pair) => {
    const { client, stream, question } = await asked(pair);
    const other = await Client.open(pair.b, ASKING);
    assert.is(await other.answer(pair.b, question.id, ACCEPT), 400);
    assert.is(await client.answer(pair.b, question.id, ACCEPT), 202);
    assert.is((await stream.rest()).length, 1);
  }],

  ["a question whose stream was lost is asked again on B, and answered there", async (pair) => {
    const { client, stream, question } = await asked(pair);
    const first = stream.lastId!.replace(/\d+$/, "0");
    await stream.cut();
    const again = (await client.get(pair.b, first)).stream!;
    assert.equal(await again.next(), question);
    assert.is(await client.answer(pair.b, question.id, ACCEPT), 202);
    assert.equal((await again.rest()).map(textOf), ["accept Ann on A"]);
  }],

  ["notifications/cancelled to B aborts the call on A, which gets no response", async ({ a, b }) => {
    const client = await Client.open(a);
    const stream = (await client.call(a, "wait", {}, { _meta: { progressToken: 1 } })).stream!;
    await stream.next();
    const telling = await tellingOf(a);
    const params = { requestId: client.lastRequest, reason: "enough" };
    const { status } = await client.post(b, { jsonrpc: "2.0", method: "notifications/cancelled", params });
    assert.is(status, 202);
    assert.equal(await stream.rest(), []);
    assert.equal(await telling(1), ["wait was aborted"]);
  }],

  ["notifications/cancelled of one session leaves the same id of another alone", async ({ a, b }) => {
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

  ["a cancelled question: the call ends without a response, and its answer comes too late", async (pair) => {
    const { client, stream, question } = await asked(pair);
    const params = { requestId: client.lastRequest };
    await client.post(pair.b, { jsonrpc: "2.0", method: "notifications/cancelled", params });
    assert.equal(await stream.rest(), []);
    assert.is(await client.answer(pair.b, question.id, ACCEPT), 400);
  }],

  ["what a session sets on A holds on B", async ({ a, b }) => {
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
