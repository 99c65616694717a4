import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EventStream } from "./event_stream.ts";

const test = suite("http/event_stream");

function bodyOf(stream: EventStream): ReadableStream<Uint8Array> {
  return stream.response().body!;
}

async function readAll(stream: EventStream): Promise<string> {
  return await stream.response().text();
}

test("events, ids, names, empty data and retry have the event stream format", async () => {
  const stream = new EventStream();
  stream.send("", { id: "a.0" });
  stream.send('{"a":1}', { id: "a.1" });
  stream.send("x", { event: "endpoint" });
  stream.retry(500);
  stream.send("last");
  stream.close();
  stream.send("too late");
  stream.close();
  assert.is(
    await readAll(stream),
    'id: a.0\ndata:\n\nid: a.1\ndata: {"a":1}\n\nevent: endpoint\ndata: x\n\nretry: 500\n\ndata: last\n\n',
  );
  assert.is(stream.isOpen, false);
});

test("the response has the header fields that prevent buffering by proxies", () => {
  const stream = new EventStream();
  const { status, headers } = stream.response([["mcp-protocol-version", "2026-07-28"]]);
  assert.is(status, 200);
  assert.is(headers.get("content-type"), "text/event-stream");
  assert.is(headers.get("cache-control"), "no-cache, no-transform");
  assert.is(headers.get("x-accel-buffering"), "no");
  assert.is(headers.get("mcp-protocol-version"), "2026-07-28");
  stream.close();
});

test("an idle stream sends comments and calls onKeepAlive with each", async () => {
  let calls = 0;
  const stream = new EventStream({
    keepAlive: 5,
    onKeepAlive: () => {
      if (++calls === 3) stream.close();
    },
  });
  assert.is(await readAll(stream), ":\n\n:\n\n:\n\n");
});

test("a disconnect calls onDisconnect once and closes the stream", async () => {
  let disconnects = 0;
  const stream = new EventStream({ onDisconnect: () => disconnects++ });
  const reader = bodyOf(stream).getReader();
  stream.send("x");
  await reader.read();
  await reader.cancel();
  assert.is(disconnects, 1);
  assert.is(stream.isOpen, false);
  stream.send("y");
  stream.close();
  assert.is(disconnects, 1);
});

test("close() does not call onDisconnect", async () => {
  let disconnects = 0;
  const stream = new EventStream({ onDisconnect: () => disconnects++ });
  stream.close();
  await readAll(stream);
  assert.is(disconnects, 0);
});

test("waitUntilWritable() waits for a slow reader, and ends when the client disconnects", async () => {
  const stream = new EventStream();
  const reader = bodyOf(stream).getReader();
  while (!stream.isFull) stream.send("x");
  let isWritable = false;
  const first = stream.waitUntilWritable().then(() => isWritable = true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(isWritable, false);
  await reader.read();
  await first;
  while (!stream.isFull) stream.send("x");
  const second = stream.waitUntilWritable();
  await reader.cancel();
  await second;
  await stream.waitUntilWritable();
});

test("a client that does not read is disconnected when the buffer reaches its limit", async () => {
  let disconnects = 0;
  const stream = new EventStream({ onDisconnect: () => disconnects++ });
  let sent = 0;
  while (stream.isOpen && sent < 10_000) {
    stream.send("x".repeat(100));
    sent++;
  }
  assert.is(disconnects, 1);
  assert.ok(sent <= 2001, String(sent));
  let failed = false;
  await readAll(stream).catch(() => failed = true);
  assert.ok(failed);
});

test.run();
