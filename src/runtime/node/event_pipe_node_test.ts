import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers";
import { FastResponse } from "srvx/node";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EventStream, useEventChannel } from "../../http/event_stream.ts";
import { type ResponseConstructor, useResponse } from "../../http/response.ts";
import { EventPipe, type EventResponse, SharedInterval } from "./event_pipe.ts";
import { createNodeHandler } from "../node_answer.ts";

const test = suite("runtime/event_pipe");

useResponse(FastResponse as unknown as ResponseConstructor);
useEventChannel((...given) => new EventPipe(...given));

/** Requests a stream from a server that answers with it. The stream of a GET request gets the connection for itself. */
async function requestStream(
  stream: EventStream,
  method = "GET",
  wrap = (response: Response): Response => response,
): Promise<[IncomingMessage, () => void]> {
  const server = createServer(createNodeHandler({ fetch: () => wrap(stream.response()) }, (error) => {
    throw error;
  }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sent = request({ method, port, host: "127.0.0.1", agent: false }).end();
  const [response] = await once(sent, "response") as [IncomingMessage];
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return [response, stop];
}

/** Reads until the text has this end, or to the end of the response. */
async function readUntil(response: IncomingMessage, end?: string): Promise<string> {
  let text = "";
  for await (const chunk of response.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (end !== undefined && text.endsWith(end)) break;
  }
  return text;
}

for (const method of ["GET", "POST"]) {
  test(`${method}: events from before and after the response started arrive in order, and close() ends the response`, async () => {
    const stream = new EventStream();
    stream.send("first", { id: "1" });
    stream.send("second");
    const [response, stop] = await requestStream(stream, method);
    assert.is(response.headers["content-type"], "text/event-stream");
    assert.is(await readUntil(response, "second\n\n"), "id: 1\ndata: first\n\ndata: second\n\n");
    stream.send("third ü");
    stream.close();
    stream.send("too late");
    assert.is(await readUntil(response), "data: third ü\n\n");
    stop();
  });

  test(`${method}: an idle stream sends comments, and calls onKeepAlive with each`, async () => {
    let calls = 0;
    const stream: EventStream = new EventStream({
      keepAlive: 5,
      onKeepAlive: () => {
        if (++calls === 3) stream.close();
      },
    });
    const [response, stop] = await requestStream(stream, method);
    assert.is(await readUntil(response), ":\n\n:\n\n:\n\n");
    stop();
  });

  test(`${method}: a disconnect calls onDisconnect once and closes the stream`, async () => {
    let disconnects = 0;
    const gone = Promise.withResolvers<void>();
    const stream = new EventStream({
      onDisconnect: () => {
        disconnects++;
        gone.resolve();
      },
    });
    stream.send("x");
    const [response, stop] = await requestStream(stream, method);
    response.destroy();
    await gone.promise;
    assert.is(stream.isOpen, false);
    stream.send("y");
    stream.close();
    assert.is(disconnects, 1);
    stop();
  });

  test(`${method}: a reader that stops makes the stream full; it continues, in order, when the reader does`, async () => {
    const stream = new EventStream();
    stream.comment();
    const [response, stop] = await requestStream(stream, method);
    let sent = 0;
    while (!stream.isFull) {
      stream.send("x".repeat(50_000), { id: String(sent++) });
      // The socket takes what it can.
      if (sent % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const writable = stream.waitUntilWritable().then(() => stream.close());
    const text = await readUntil(response);
    await writable;
    const ids = Array.from(text.matchAll(/^id: (\d+)$/gm), ([, id]) => Number(id));
    assert.equal(ids, Array.from({ length: sent }, (_, i) => i));
    stop();
  });

  test(`${method}: close() while events wait for a slow reader sends them first`, async () => {
    const stream = new EventStream();
    stream.comment();
    const [response, stop] = await requestStream(stream, method);
    let sent = 0;
    while (!stream.isFull) stream.send("x".repeat(200_000), { id: String(sent++) });
    stream.close();
    const ids = Array.from((await readUntil(response)).matchAll(/^id: (\d+)$/gm), ([, id]) => Number(id));
    assert.equal(ids, Array.from({ length: sent }, (_, i) => i));
    stop();
  });

  test(`${method}: a client that does not read is disconnected when the queue reaches its limit`, async () => {
    let disconnects = 0;
    const stream = new EventStream({ onDisconnect: () => disconnects++ });
    stream.comment();
    const [response, stop] = await requestStream(stream, method);
    const failed = new Promise<unknown>((resolve) => response.on("error", resolve));
    let sent = 0;
    while (stream.isOpen && sent < 10_000) {
      stream.send("x".repeat(50_000));
      sent++;
    }
    assert.is(disconnects, 1);
    assert.is(stream.isOpen, false);
    response.resume();
    assert.instance(await failed, Error);
    stop();
  });
}

test("a program that wraps the handler can read the body, and cancelling it is a disconnect", async () => {
  const closed = new EventStream();
  closed.send("one");
  const { body } = closed.response();
  assert.instance(body, ReadableStream);
  closed.send("two");
  closed.close();
  assert.is(await new Response(body).text(), "data: one\n\ndata: two\n\n");

  const gone = Promise.withResolvers<void>();
  const open = new EventStream({ onDisconnect: () => gone.resolve() });
  open.send("x");
  const reader = open.response().body!.getReader();
  await reader.read();
  await reader.cancel();
  await gone.promise;
  assert.is(open.isOpen, false);
});

test("a response that is gone before the stream starts is a disconnect", () => {
  let disconnects = 0;
  const stream = new EventStream({ onDisconnect: () => disconnects++ });
  const { events } = stream.response() as unknown as EventResponse;
  events!.pipe({ destroyed: true } as ServerResponse);
  assert.is(disconnects, 1);
  assert.is(stream.isOpen, false);
});

test("a program can change the header fields, and pass the response on", async () => {
  const stream = new EventStream();
  stream.send("x");
  const [response, stop] = await requestStream(stream, "GET", (given) => {
    given.headers.set("x-more", "1");
    return given;
  });
  assert.is(response.headers["x-more"], "1");
  assert.is(await readUntil(response, "\n\n"), "data: x\n\n");
  stream.close();
  stop();

  const read = new EventStream();
  read.send("y");
  const [copied, stopCopied] = await requestStream(read, "GET", (given) => new Response(given.body, given));
  assert.is(copied.headers["content-type"], "text/event-stream");
  read.close();
  assert.is(await readUntil(copied), "data: y\n\n");
  stopCopied();

  const touched = new EventStream();
  touched.comment();
  const [other, stopOther] = await requestStream(touched, "GET", (given) => {
    assert.instance(given.body, ReadableStream);
    return given;
  });
  touched.send("z");
  touched.close();
  assert.is(await readUntil(other), ":\n\ndata: z\n\n");
  stopOther();
});

test("a shared interval calls each member, also one that is added later, until it is removed", async () => {
  const interval = new SharedInterval(16);
  const calls = [0, 0];
  const done = Promise.withResolvers<void>();
  const second = {
    onInterval: () => {
      if (++calls[1]! === 2) done.resolve();
    },
  };
  let other: Set<typeof second> | undefined;
  const first = {
    onInterval: () => {
      if (++calls[0]! > 1) return;
      interval.remove(first, slot);
      interval.remove(first, slot);
      other = interval.add(second);
    },
  };
  const slot = interval.add(first);
  await done.promise;
  interval.remove(second, other!);
  assert.equal(calls, [1, 2]);
});

test.run();
