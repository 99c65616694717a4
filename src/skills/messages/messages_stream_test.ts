import { suite } from "uvu";
import * as assert from "uvu/assert";
import { eventsOf, toMessage } from "./model_events.ts";
import {
  type Any,
  call,
  createRequest,
  json,
  newMessages,
  readStream,
  split,
  sse,
  stream,
  streamText,
  text,
} from "./test_messages.ts";

const test = suite("skills/messages as a stream");

const VIEW = "text_editor_code_execution";
const THINKING = { type: "thinking", thinking: "Thinking hard…", signature: "c2ln" };
const ROUNDS = [
  [THINKING, text("I look — at it."), call("toolu_1", "load_skill", { name: "tables" })],
  [text("Done: ✓")],
] as const;

/** Assembles the events of a response to a message. */
async function assemble(response: Response): Promise<Any> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(await response.arrayBuffer());
  }
  return await toMessage(eventsOf({ type: "text/event-stream", chunks: chunks() }));
}

async function collect(parts: readonly Uint8Array[]): Promise<Any[]> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield* parts;
  }
  return await Array.fromAsync(eventsOf({ type: "text/event-stream", chunks: chunks() }));
}

test("the events of all rounds form one message", async () => {
  const { post } = newMessages([stream(ROUNDS[0]), stream(ROUNDS[1])]);
  const response = await post(createRequest(["tables"], { stream: true }));
  assert.is(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.is(response.headers.get("cache-control"), "no-cache, no-transform");
  const events = await readStream(response);
  const { container } = events[0].message;
  assert.equal(Object.keys(container), ["id", "expires_at", "skills"]);
  assert.equal(events[0], {
    type: "message_start",
    message: {
      id: "msg_01Upstream",
      type: "message",
      role: "assistant",
      model: "any",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 1 },
      container,
    },
  });
  const at = (index: number) => events.filter((event) => event.index === index);
  assert.equal(at(2), [
    {
      type: "content_block_start",
      index: 2,
      content_block: {
        type: "server_tool_use",
        id: "srvtoolu_1",
        name: VIEW,
        input: {},
        caller: { type: "direct" },
      },
    },
    {
      type: "content_block_delta",
      index: 2,
      delta: {
        type: "input_json_delta",
        partial_json: '{"command":"view","path":"/skills/tables/SKILL.md"}',
      },
    },
    { type: "content_block_stop", index: 2 },
  ]);
  assert.equal(at(3).map(({ type }) => type), ["content_block_start", "content_block_stop"]);
  assert.is(at(3)[0].content_block.tool_use_id, "srvtoolu_1");
  assert.equal(events.filter(({ type }) => type === "content_block_start").map(({ index }) => index), [
    0,
    1,
    2,
    3,
    4,
  ]);
  assert.equal(events.slice(-2), [
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null, container },
      usage: { input_tokens: 20, output_tokens: 10 },
    },
    { type: "message_stop" },
  ]);
  assert.is(events.filter(({ type }) => type === "message_start").length, 1);
  assert.is(events.filter(({ type }) => type === "ping").length, 2);
});

test("a stream assembles to the message without streaming, from equal requests to the model", async () => {
  const streamed = newMessages([stream(ROUNDS[0]), stream(ROUNDS[1])]);
  const whole = newMessages([json(ROUNDS[0]), json(ROUNDS[1])]);
  const a = await assemble(await streamed.post(createRequest(["tables"], { stream: true })));
  const b = await whole.send(createRequest(["tables"]));
  assert.equal({ ...a, container: 0 }, { ...b, container: 0 });
  assert.equal(a.content[0], THINKING);
  const [one, two] = [streamed, whole].map(({ modelRequests }) =>
    modelRequests.map(({ body }) => ({ ...JSON.parse(body), stream: 0 }))
  );
  assert.equal(one, two);
});

test("the model's stream may be split at any byte", async () => {
  let first: string | undefined;
  for (const size of [1, 2, 3, 7, 64, 1e6]) {
    const { post } = newMessages([stream(ROUNDS[0], {}, size), stream(ROUNDS[1], {}, size)]);
    const events = await (await post(createRequest(["tables"], { stream: true }))).text();
    const bare = events.replace(/"container":\{.*?\}\]\}/g, "");
    first ??= bare;
    assert.is(bare, first);
  }
  const bytes = new TextEncoder().encode(streamText(ROUNDS[0]));
  const whole = await collect([bytes]);
  assert.is(whole.length, 17);
  for (let at = 1; at < bytes.length; at++) {
    assert.equal(await collect([bytes.slice(0, at), bytes.slice(at)]), whole, `split at ${at}`);
  }
});

test("lines may end with CR LF or CR, data may have several lines, and comments are ignored", async () => {
  const lines = streamText(ROUNDS[1]).replaceAll("data: {", "data:{\ndata:").replaceAll(
    "event: ping",
    ": quiet\nevent:ping",
  );
  for (const end of ["\r\n", "\r"]) {
    for (const size of [1, 1e6]) {
      const { post } = newMessages([sse(split(lines.replaceAll("\n", end), size))]);
      const message = await assemble(await post(createRequest(["tables"], { stream: true })));
      assert.equal(message.content, ROUNDS[1]);
    }
  }
});

test("the endpoint may respond to stream: true with JSON, and otherwise with a stream", async () => {
  const one = newMessages([json(ROUNDS[0]), json(ROUNDS[1])]);
  const a = await assemble(await one.post(createRequest(["tables"], { stream: true })));
  const two = newMessages([stream(ROUNDS[0]), json(ROUNDS[1])]);
  const b = await two.send(createRequest(["tables"]));
  assert.equal({ ...a, container: 0 }, { ...b, container: 0 });
});

test("without skills the bytes of a stream are forwarded unchanged", async () => {
  const bytes = streamText(ROUNDS[1]).replaceAll("data: {", "data:   {") + ": end\n\n";
  const { post } = newMessages([sse(split(bytes, 5))]);
  const response = await post({ model: "any", stream: true });
  assert.is(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.is(await response.text(), bytes);
});

test("a call of the client's tool is streamed, also with truncated input", async () => {
  const cut = streamText([call("toolu_9", "weather", { at: "sea" })], { stop_reason: "max_tokens" })
    .replace(/event: content_block_delta\ndata: .*sea.*\n\n/, "");
  const { post } = newMessages([sse(split(cut, 1e6))]);
  const events = await readStream(await post(createRequest(["tables"], { stream: true })));
  const deltas = events.filter(({ type }) => type === "content_block_delta");
  assert.equal(deltas.map(({ delta }) => delta.partial_json), ['{"a']);
  assert.is(events.at(-2).delta.stop_reason, "max_tokens");
});

test("citations, unknown deltas and unknown events are kept", async () => {
  const citation = { type: "char_location", cited_text: "x" };
  const event = (value: Any): string => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
  const delta = (index: number, delta: Any): string => event({ type: "content_block_delta", index, delta });
  const upstreamEvents = streamText([text("abcdef"), call("toolu_1", "load_skill", { name: "tables" })])
    .replace(
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
      (stop) =>
        delta(0, { type: "citations_delta", citation }) + delta(0, { type: "new_delta", note: "a" }) +
        delta(0, { type: "new_delta", note: "b" }) + event({ type: "new_event", x: 1 }) + stop,
    );
  const { post, modelRequests } = newMessages([sse(split(upstreamEvents, 1e6)), stream(ROUNDS[1])]);
  const events = await readStream(await post(createRequest(["tables"], { stream: true })));
  assert.equal(events.filter(({ type }) => type === "new_event"), [{ type: "new_event", x: 1 }]);
  const sent = JSON.parse(modelRequests[1]!.body).messages[1].content[0];
  assert.equal(sent, { ...text("abcdef"), citations: [citation], note: "ab" });
});

test.run();
