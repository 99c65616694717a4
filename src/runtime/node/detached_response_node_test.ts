import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { FastResponse } from "srvx/node";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EventStream, useEventChannel } from "../../http/event_stream.ts";
import { type ResponseConstructor, useResponse } from "../../http/response.ts";
import { until } from "../../test_until.ts";
import { createNodeHandler } from "../node_answer.ts";
import { EventPipe } from "./event_pipe.ts";
import { prepareClose } from "./node_close.ts";

const test = suite("runtime/detached_response");

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
useResponse(FastResponse as unknown as ResponseConstructor);
useEventChannel((...given) => new EventPipe(...given));

const GET = "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n";
const POST = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n";
/** A certificate is not needed with a key that both sides know. */
const KEY = Buffer.from("1234");
const CIPHERS = { ciphers: "PSK" };

interface Connection {
  readonly stream: EventStream;
  readonly client: Socket;
  readonly server: Server;
  /** The body that the client received so far, chunked as it is. */
  body(): string;
  /** The fields of the response, in small letters. */
  head(): string;
  /** How often `onDisconnect` was called. */
  disconnects(): number;
  /** How many requests reached the handler. */
  requests(): number;
  /** Whether Node's request and response of the stream still exist. */
  isKept(): Promise<boolean>;
  /** Closes the server as `serve` does. */
  readonly close: () => Promise<void>;
}

interface Options {
  readonly isSecure?: boolean;
  readonly closeTimeout?: number;
  readonly onUpgrade?: () => void;
  readonly onRequest?: (req: IncomingMessage, res: ServerResponse) => void;
  /** What a handler around the service does with the request. */
  readonly onFetch?: (request: Request) => void;
  /** Whether the stream begins with a comment, with which Node sends the head. */
  readonly comment?: boolean;
}

/** Sends a request that is answered with a stream, and waits for the head of the response. */
async function open(request: string, options: Options = {}): Promise<Connection> {
  let [received, disconnects, requests] = ["", 0, 0];
  const stream = new EventStream({ onDisconnect: () => disconnects++ });
  if (options.comment) stream.comment();
  const fetch = (request: Request): Response => {
    options.onFetch?.(request);
    return ++requests === 1 ? stream.response() : new Response("other");
  };
  const answer = createNodeHandler({ fetch }, (error) => {
    throw error;
  });
  const server = options.isSecure
    ? createTlsServer({ ...CIPHERS, pskCallback: () => KEY }, answer)
    : createServer(answer);
  let objects: readonly WeakRef<object>[] = [];
  server.once("request", (req: IncomingMessage, res: ServerResponse) => {
    objects = [new WeakRef(req), new WeakRef(res)];
    options.onRequest?.(req, res);
  });
  if (options.onUpgrade) server.on("upgrade", options.onUpgrade);
  const close = prepareClose(server, options.closeTimeout ?? 60_000);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = options.isSecure
    ? connectTls({
      ...CIPHERS,
      pskCallback: () => ({ psk: KEY, identity: "x" }),
      checkServerIdentity: () => undefined,
      port,
      host: "127.0.0.1",
    })
    : connect(port, "127.0.0.1");
  client.on("data", (bytes: Buffer) => received += bytes).on("error", () => {});
  client.write(request);
  await until(() => received.includes("\r\n\r\n"));
  return {
    stream,
    client,
    server,
    body: () => received.slice(received.indexOf("\r\n\r\n") + 4),
    head: () => received.slice(0, received.indexOf("\r\n\r\n")).toLowerCase(),
    disconnects: () => disconnects,
    requests: () => requests,
    async isKept() {
      // Beyond the turn in which the head was sent.
      await setTimeout(20);
      collectGarbage();
      return objects.some((object) => object.deref() !== undefined);
    },
    close,
  };
}

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

for (
  const [what, request, options] of [
    ["a GET request", GET],
    ["a GET request over TLS", GET, { isSecure: true }],
    ["subscriptions/listen", `${POST}MCP-Method: subscriptions/listen\r\n\r\n{}`],
  ] as [string, string, Options?][]
) {
  test(`the stream of ${what} goes on without its request and response, to its end`, async () => {
    const { stream, client, body, head, disconnects, isKept, close } = await open(request, options);
    await until(async () => !await isKept());
    assert.match(head(), /^http\/1\.1 200 [^]*\r\nconnection: close\r\n/);
    stream.send("ü", { id: "1" });
    stream.send("z".repeat(20));
    stream.close();
    await once(client, "end");
    assert.is(
      body(),
      chunk("id: 1\ndata: ü\n\n") + chunk(`data: ${"z".repeat(20)}\n\n`) + chunk(""),
    );
    assert.is(disconnects(), 0);
    client.destroy();
    await close();
  });
}

test("a client of HTTP/1.0 gets the events without chunks", async () => {
  const { stream, client, body, isKept, close } = await open("GET /mcp HTTP/1.0\r\nHost: x\r\n\r\n");
  await until(async () => !await isKept());
  stream.send("one");
  stream.close();
  await once(client, "end");
  assert.is(body(), "data: one\n\n");
  client.destroy();
  await close();
});

test("the stream of a tool call stays with Node, and its connection takes the next request", async () => {
  const { stream, client, body, head, requests, isKept, close } = await open(`${POST}\r\n{}`, {
    comment: true,
  });
  stream.send("result");
  assert.ok(await isKept());
  stream.close();
  await until(() => body().endsWith(chunk("")));
  assert.match(head(), /connection: keep-alive/);
  client.write(GET);
  await until(() => body().includes("other"));
  assert.is(requests(), 2);
  client.destroy();
  await close();
});

for (
  const [what, leave] of [
    ["closes the connection", (client: Socket) => client.destroy()],
    ["ends its half of the connection", (client: Socket) => client.end()],
    ["resets the connection", (client: Socket) => client.resetAndDestroy()],
  ] as const
) {
  test(`a client that ${what} is a disconnect, once`, async () => {
    const { stream, client, disconnects, isKept, close } = await open(GET);
    await until(async () => !await isKept());
    leave(client);
    await until(() => !stream.isOpen);
    stream.send("late");
    stream.close();
    client.destroy();
    await close();
    assert.is(disconnects(), 1);
  });
}

test("what a client sends after the request of a detached stream is discarded", async () => {
  const { stream, client, body, requests, isKept, close } = await open(GET);
  await until(async () => !await isKept());
  client.write(GET + "x".repeat(100_000) + "\r\n\r\n");
  await setTimeout(20);
  stream.send("one");
  await until(() => body() === chunk("data: one\n\n"));
  assert.is(requests(), 1);
  client.destroy();
  await until(() => !stream.isOpen);
  await close();
});

test("a connection whose next request has arrived stays with Node, which answers no other after the stream", async () => {
  const { stream, client, body, isKept, close } = await open(GET + GET, { comment: true });
  assert.ok(await isKept());
  stream.send("one");
  stream.close();
  await once(client, "end");
  assert.is(body(), chunk(":\n\n") + chunk("data: one\n\n") + chunk(""));
  client.destroy();
  await close();
});

test("a connection whose request has not arrived to its end stays with Node", async () => {
  const request = "GET /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab";
  const { stream, client, body, isKept, close } = await open(request, { comment: true });
  assert.ok(await isKept());
  client.write("cd");
  stream.send("one");
  stream.close();
  await once(client, "end");
  assert.is(body(), chunk(":\n\n") + chunk("data: one\n\n") + chunk(""));
  client.destroy();
  await close();
});

test("a stream behind another response of its connection stays with Node, and follows it", async () => {
  const { stream, client, server, requests, isKept, close } = await open(`${POST}\r\n{}`, { comment: true });
  let received = "";
  client.on("data", (bytes) => received += bytes);
  const second = new EventStream();
  server.removeAllListeners("request");
  server.on("request", createNodeHandler({ fetch: () => second.response() }, () => {}));
  client.write(GET);
  second.send("two");
  assert.ok(await isKept());
  stream.send("one");
  stream.close();
  await until(() => received.includes(chunk("data: two\n\n")));
  assert.ok(received.indexOf(chunk("data: one\n\n") + chunk("")) === 0);
  assert.is(requests(), 1);
  second.close();
  await once(client, "end");
  client.destroy();
  await close();
});

test("a connection that Node has paused, as for a client that sends many requests, stays with Node", async () => {
  let paused: Socket | undefined;
  const { stream, client, body, isKept, close } = await open(GET, {
    comment: true,
    // After the end of the request, with which Node resumes the connection.
    onRequest: ({ socket }) => queueMicrotask(() => paused = socket.pause()),
  });
  assert.ok(await isKept());
  stream.send("one");
  await until(() => body() === chunk(":\n\n") + chunk("data: one\n\n"));
  paused!.resume();
  client.destroy();
  await until(() => !stream.isOpen);
  await close();
});

test("a server with its own listener for upgrades keeps its connections", async () => {
  let upgrades = 0;
  const { stream, client, body, isKept, close } = await open(GET, {
    comment: true,
    onUpgrade: () => upgrades++,
  });
  assert.ok(await isKept());
  stream.send("one");
  await until(() => body() === chunk(":\n\n") + chunk("data: one\n\n"));
  assert.is(upgrades, 0);
  client.destroy();
  await until(() => !stream.isOpen);
  await close();
});

test("a response whose end is watched, by the signal of its request or a program that traces, stays with Node", async () => {
  const ended: string[] = [];
  for (
    const watch of [
      { onFetch: ({ signal }) => signal.addEventListener("abort", () => ended.push("signal")) },
      { onRequest: (_, res) => void res.on("close", () => ended.push("close")) },
      { onRequest: (_, res) => void res.on("finish", () => ended.push("finish")) },
    ] as Options[]
  ) {
    const { stream, client, isKept, close } = await open(GET, { comment: true, ...watch });
    assert.ok(await isKept());
    if (ended.length === 2) stream.close();
    else client.destroy();
    await until(() => !stream.isOpen);
    await close();
  }
  assert.equal(ended, ["signal", "close", "finish"]);
});

test("closing a server waits for a detached stream until its timeout, and then cuts it", async () => {
  const ending = await open(GET);
  await until(async () => !await ending.isKept());
  const closed = ending.close();
  ending.stream.send("last");
  ending.stream.close();
  await closed;
  await until(() => ending.body() === chunk("data: last\n\n") + chunk(""));

  for (const isSecure of [false, true]) {
    const endless = await open(GET, { closeTimeout: 50, isSecure });
    await until(async () => !await endless.isKept());
    await endless.close();
    await until(() => endless.disconnects() === 1);
  }
});

// The last test, since Node is not asked again.
test("a version of Node that throws keeps its connections, and its streams work", async () => {
  let throws = 0;
  const refuse = ({ socket }: IncomingMessage): void => {
    const emit = socket.emit.bind(socket) as (name: string, ...values: unknown[]) => boolean;
    socket.emit = (name: string, ...values: unknown[]) => {
      if (name !== "data" || (values[0] as Buffer).length > 0) return emit(name, ...values);
      throws++;
      throw new Error("The chunk must not be empty");
    };
  };
  for (const connection of ["close", "keep-alive"]) {
    const { stream, client, body, head, isKept, close } = await open(GET, {
      comment: true,
      onRequest: refuse,
    });
    assert.ok(await isKept());
    assert.match(head(), `connection: ${connection}`);
    stream.send("one");
    stream.close();
    await until(() => body() === chunk(":\n\n") + chunk("data: one\n\n") + chunk(""));
    client.destroy();
    await close();
  }
  assert.is(throws, 1);
});

test.run();
