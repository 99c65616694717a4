/**
 * The HTTP sender against a server with many faults: each is distinguished, and none hangs or crashes the
 * runner.
 *
 * @module
 */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toText, utf8 } from "./bytes.ts";
import { BrokenExchange, exchange, type HttpRequest, type HttpResponse } from "./exchange.ts";
import { httpSender } from "./send_http.ts";
import { type HostileServer, startHostileServer } from "../test_hostile_server.ts";

const test = suite("send_http");
let server: HostileServer;
const sender = httpSender();

test.before(async () => {
  server = await startHostileServer();
});
test.after(async () => {
  await sender.close();
  await server.close();
});

const LIMITS = { seconds: 0.5, bytes: 200_000 };

function get(path: string, more: Partial<HttpRequest> = {}): Promise<HttpResponse> {
  const usual = { method: "GET", fields: [], without: [], body: undefined, raw: false, wire: undefined };
  return exchange(sender, { ...usual, url: server.url + path, ...more }, LIMITS);
}

async function wordFor(path: string): Promise<string> {
  try {
    const { status } = await get(path);
    return `answered ${status}`;
  } catch (error) {
    assert.instance(error, BrokenExchange);
    return (error as BrokenExchange).kind;
  }
}

const WORDS = {
  "/hangs": "hung",
  "/hangs-in-fields": "hung",
  "/hangs-in-body": "hung",
  "/drips": "hung",
  "/closes": "closed",
  "/resets": "closed",
  "/closes-in-fields": "closed",
  "/says-too-much": "closed",
  "/cuts-chunks": "closed",
  "/says-too-little": "garbled",
  "/says-two-lengths": "garbled",
  "/says-no-number": "garbled",
  "/writes-no-chunks": "garbled",
  "/overruns-chunks": "garbled",
  "/is-no-http": "garbled",
  "/has-no-names": "garbled",
  "/floods": "flooded",
  "/floods-fields": "flooded",
  "/floods-a-line": "flooded",
  "/floods-interim": "flooded",
};

for (const [path, word] of Object.entries(WORDS)) {
  test(`a server that ${path.slice(1)}: ${word}`, async () => assert.is(await wordFor(path), word));
}

for (const path of ["/is-right", "/is-right-after-interim", "/is-right-until-close"]) {
  test(`a server that ${path.slice(1)} is accepted`, async () => {
    const { status, body } = await get(path);
    assert.equal([status, toText(body)], [200, "right"]);
  });
}

test("the part received before a failure is kept", async () => {
  const error = await get("/says-too-much").then(() => undefined, (error: BrokenExchange) => error);
  assert.is(error?.response.status, 200);
  assert.is(toText(error?.response.body ?? new Uint8Array()), "short");
  assert.match(error?.message ?? "", /95 bytes.*100/);
});

test("a response to an unread body is received", async () => {
  const { status } = await get("/answers-early", { method: "POST", body: new Uint8Array(1000) });
  assert.is(status, 413);
});

test("a request is sent again, whole, when the server resets before it has read it", async () => {
  const lengths: number[] = [];
  const resetting = createServer((socket) => {
    socket.on("error", () => {});
    const at = lengths.push(0) - 1;
    socket.on("data", (chunk: Uint8Array) => {
      lengths[at]! += chunk.length;
      if (at < 2) return void socket.resetAndDestroy();
      if (chunk.at(-1) === "z".charCodeAt(0)) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
  });
  resetting.listen(0, "127.0.0.1");
  await once(resetting, "listening");
  const { port } = resetting.address() as AddressInfo;
  const body = utf8("a".repeat(2 << 20) + "z");
  const url = `http://127.0.0.1:${port}/`;
  const outgoing = { method: "POST", fields: [], without: [], body, raw: false, wire: undefined, url };
  const { status } = await exchange(sender, outgoing, { ...LIMITS, seconds: 30 });
  assert.is(status, 200);
  assert.is(lengths.length, 3);
  assert.ok(lengths[2]! > body.length);
  resetting.close();
});

test("a busy server that refuses a long body, and takes long to, is understood at the end", async () => {
  let connections = 0;
  const busy = createServer((socket) => {
    let received = 0;
    connections++;
    socket.on("error", () => {});
    socket.on("data", (chunk: Uint8Array) => {
      if (received === 0) {
        const refuse = () => socket.end("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
        setTimeout(refuse, 100);
      }
      received += chunk.length;
      // What the client sends after the first part comes before it can read the response.
      if (received > 64 * 1024) socket.resetAndDestroy();
    });
  });
  busy.listen(0, "127.0.0.1");
  await once(busy, "listening");
  const { port } = busy.address() as AddressInfo;
  const body = new Uint8Array(1 << 20);
  const url = `http://127.0.0.1:${port}/`;
  const outgoing = { method: "POST", fields: [], without: [], body, raw: false, wire: undefined, url };
  const { status } = await exchange(sender, outgoing, { ...LIMITS, seconds: 30 });
  assert.is(status, 413);
  assert.ok(connections > 1);
  busy.close();
});

test("a closed port is refused", async () => {
  const gone = await startHostileServer();
  await gone.close();
  const outgoing = { method: "GET", fields: [], without: [], body: undefined, raw: false, wire: undefined };
  const error = await exchange(sender, { ...outgoing, url: gone.url }, LIMITS).catch((error) => error);
  assert.is(error.kind, "refused");
});

test("no connection stays open after a failure", async () => {
  await wordFor("/drips");
  await wordFor("/floods-interim");
  const end = performance.now() + 5000;
  while (server.open() > 0 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.is(server.open(), 0);
});

test("wire replaces the whole request", async () => {
  const { status } = await get("/", { wire: utf8("FROB /is-right HTTP/1.1\r\n\r\n"), raw: true });
  assert.is(status, 200);
});

test.run();
