import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { tool } from "../definition/define.ts";
import type { Message } from "../test_exchange.ts";
import { newServer, request } from "../test_server.ts";
import { createSseHandlers } from "./http_sse.ts";
import { hello, openSse as open, postSse as post } from "./test_sse.ts";

const test = suite("mcp/sse_queue");
const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const long = tool({
  name: "long",
  description: "Gives a long text",
  input: { type: "object", properties: { length: { type: "number" } } },
  run: ({ length }) => "x".repeat(length as number),
});

test("messages count as stored only until the client has read them, also on another instance", async () => {
  const store = memoryStore();
  const options = {
    store,
    definitions: [long],
    sse: createSseHandlers,
    storageLimits: { anonymous: 10_000 },
  };
  const [a, b] = [newServer(options).server, newServer(options).server];
  for (const posted of [a, b]) {
    const { events, path } = await open(a);
    for (let id = 1; id <= 20; id++) {
      const call = request("tools/call", { name: "long", arguments: { length: 4000 } }, id);
      assert.is((await post(posted, path, call)).status, 202);
      const answer = await events.message();
      assert.equal([answer.id, answer.result?.content[0].text.length], [id, 4000]);
    }
    await events.cancel();
  }
});

test("attack: a client that does not read fills neither store nor memory, and loses no response", async () => {
  const store = memoryStore();
  const { server } = newServer({
    store,
    definitions: [long],
    sse: createSseHandlers,
    storageLimits: { anonymous: 10_000 },
  });
  const { events, path } = await open(server);
  const statuses: number[] = [];
  for (let id = 1; id <= 50; id++) {
    const call = request("tools/call", { name: "long", arguments: { length: 4000 } }, id);
    const { status, headers } = await post(server, path, call);
    statuses.push(status);
    assert.is(headers.has("retry-after"), status === 503);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const accepted = statuses.lastIndexOf(202) + 1;
  assert.ok(accepted > 2 && accepted < 50, `${accepted} accepted`);
  assert.ok(statuses.slice(accepted).every((status) => status === 503));
  const answers: Message[] = [];
  for (let i = 0; i < accepted; i++) answers.push(await events.message());
  assert.equal(answers.map(({ id }) => id), Array.from({ length: accepted }, (_, i) => i + 1));
  const complete = answers.filter(({ result }) => result?.content[0].text.length === 4000).length;
  assert.ok(complete >= 2 && JSON.stringify(answers).length < 15_000);
  assert.is(answers.filter(({ error }) => error?.code === -32000).length, accepted - complete);
  await post(server, path, request("ping", undefined, 99));
  assert.is((await events.message()).id, 99);
  await events.cancel();
});

test("a request to the client above the storage limit fails at once", async () => {
  const asks = tool({
    name: "asks",
    description: "Asks at length",
    run: (_, call) =>
      call.elicit({ message: "x".repeat(10_000), schema: NAME }).then(() => "asked", () => "refused"),
  });
  const { server } = newServer({
    definitions: [asks],
    sse: createSseHandlers,
    storageLimits: { anonymous: 8000 },
  });
  const { events, path } = await open(server);
  await post(server, path, hello("2025-06-18", { elicitation: {} }));
  await events.message();
  await post(server, path, request("tools/call", { name: "asks" }));
  assert.is((await events.message()).result.content[0].text, "refused");
  await events.cancel();
});

test.run();
