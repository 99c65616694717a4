import { connect } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RequestContext } from "../../http/service.ts";
import { respond } from "../../http/response.ts";
import type { FetchHandler, RunningServer } from "../../runtime/server.ts";
import { entries, sendRaw, waitingHandler } from "../test_entries.ts";

const errors: unknown[] = [];
const arrived = Promise.withResolvers<void>();
const aborted = Promise.withResolvers<void>();
let cancelled = 0;

const handler: FetchHandler = {
  async fetch(request: Request, context?: RequestContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    switch (pathname) {
      case "/echo":
        return respond(200, await request.arrayBuffer(), [[
          "content-type",
          request.headers.get("content-type") ?? "unknown",
        ]]);
      case "/ip":
        return respond(200, context?.ip ?? "unknown");
      case "/cancelled-body": {
        const reader = request.body!.getReader();
        await reader.read();
        await reader.cancel();
        return request.headers.get("accept") === "text/event-stream"
          ? new Response(streamOf(["data: one\n\n"]), { headers: { "content-type": "text/event-stream" } })
          : respond(413, "too large");
      }
      case "/pipe":
        return respond(200, request.body);
      case "/endless":
        return respond(200, endless());
      case "/until-abort":
        request.signal.addEventListener("abort", () => aborted.resolve());
        arrived.resolve();
        await aborted.promise;
        return respond(200, "not sent");
      case "/empty":
        return respond(204, null, [["x-kind", "empty"]]);
      case "/unchanged":
        return respond(304, null, [["etag", '"a"']]);
      case "/cookies":
        return respond(200, "two", [["set-cookie", "a=1"], ["set-cookie", "b=2"]]);
      case "/changed": {
        const response = respond(200, "text", [["x-first", "1"]]);
        response.headers.set("x-second", "2");
        return response;
      }
      case "/stream":
        return respond(200, streamOf(["one ", "two ", "three"]));
      case "/broken-stream":
        return respond(200, streamOf(["one ", new Error("broken")]));
      case "/throws":
        throw new Error("the database password is hunter2");
      default:
        return respond(404, `${request.method} ${pathname}`);
    }
  },
};

function streamOf(parts: readonly (string | Error)[]): ReadableStream<Uint8Array> {
  const left = [...parts];
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      const part = left.shift();
      if (part === undefined) controller.close();
      else if (part instanceof Error) controller.error(part);
      else controller.enqueue(new TextEncoder().encode(part));
    },
  });
}

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      controller.enqueue(new TextEncoder().encode("endless "));
    },
    cancel() {
      cancelled++;
    },
  });
}

for (const [name, serve] of Object.entries(entries)) {
  const test = suite(`serve of ${name}`);
  let server: RunningServer;
  test.before(async () => {
    server = await serve(handler, { port: 0, onError: (error) => errors.push(error) });
  });
  test.after(() => server.close());

  test("port 0 listens on a free port of the loopback address", () => {
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.is(new URL(server.url).port, String(server.port));
  });

  test("the handler gets method and path; the client gets status and body", async () => {
    for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS"]) {
      const response = await fetch(`${server.url}/a%20b?c=d`, { method });
      assert.is(response.status, 404);
      assert.is(await response.text(), `${method} /a%20b`);
    }
  });

  test("HEAD, 204 and 304 have no content and no Content-Length: 0", async () => {
    const send = (method: string, path: string): Promise<string> =>
      sendRaw(server.port, `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    for (
      const [method, path, status, field] of [
        ["HEAD", "/changed", 200, "x-second: 2"],
        ["GET", "/empty", 204, "x-kind: empty"],
        ["GET", "/unchanged", 304, 'etag: "a"'],
      ] as const
    ) {
      const [head, body] = (await send(method, path)).split("\r\n\r\n");
      assert.match(head!, new RegExp(`^HTTP/1.1 ${status} `));
      assert.match(head!.toLowerCase(), field);
      assert.not.match(head!, /content-length: 0|transfer-encoding/i);
      assert.is(body, "");
    }
  });

  test("field names are case-insensitive", async () => {
    const answer = await sendRaw(
      server.port,
      "POST /echo HTTP/1.1\r\nhOST: a\r\ncOnTeNt-TyPe: x/Y\r\nCONTENT-LENGTH: 2\r\nconnection: close\r\n\r\nhi",
    );
    assert.match(answer.toLowerCase(), "content-type: x/y\r\n");
    assert.match(answer, "hi");
  });

  test("one connection carries pipelined requests", async () => {
    const get = "GET /changed HTTP/1.1\r\nHost: a\r\n";
    const answer = await sendRaw(server.port, `${get}\r\n${get}\r\n${get}Connection: close\r\n\r\n`);
    assert.is(answer.match(/HTTP\/1\.1 200/g)?.length, 3);
  });

  test("a body that the handler does not read does not hold up the next request of its connection", async () => {
    const post = `POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n${"x".repeat(300_000)}`;
    const answer = await sendRaw(
      server.port,
      `${post}GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    assert.match(answer, "POST /unread");
    // Deno closes the connection instead.
    assert.ok(answer.includes("GET /next") || /^connection: close/im.test(answer), answer);
  });

  test("8 MB are received and sent, with Content-Length and in chunks", async () => {
    const bytes = new Uint8Array(8 * 1024 * 1024).map((_, i) => i * 7);
    const whole = await fetch(`${server.url}/echo`, { method: "POST", body: bytes });
    assert.ok(equalBytes(new Uint8Array(await whole.arrayBuffer()), bytes));
    const chunks = new Blob([bytes]).stream();
    const init = {
      method: "POST",
      body: chunks,
      duplex: "half",
      headers: { "content-type": "x/y" },
    } as RequestInit;
    const chunked = await fetch(`${server.url}/echo`, init);
    assert.is(chunked.headers.get("content-type"), "x/y");
    assert.ok(equalBytes(new Uint8Array(await chunked.arrayBuffer()), bytes));
  });

  test("several cookies stay separate fields, and fields that are set later are sent", async () => {
    const cookies = await fetch(`${server.url}/cookies`);
    assert.equal(cookies.headers.getSetCookie(), ["a=1", "b=2"]);
    const changed = await fetch(`${server.url}/changed`);
    assert.equal([changed.headers.get("x-first"), changed.headers.get("x-second")], ["1", "2"]);
  });

  test("the handler gets the client address", async () => {
    assert.match(await (await fetch(`${server.url}/ip`)).text(), /127\.0\.0\.1$/);
  });

  test("a response stream arrives part by part", async () => {
    const response = await fetch(`${server.url}/stream`);
    const parts: string[] = [];
    for await (const part of response.body!) parts.push(new TextDecoder().decode(part));
    assert.is(parts.join(""), "one two three");
    assert.ok(parts.length > 1);
  });

  test("a response can begin before the request body ends", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write("POST /pipe HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    socket.write("4\r\none \r\n");
    let received = "";
    await new Promise<void>((resolve) => {
      socket.on("data", (data) => (received += data).includes("one ") && resolve());
      socket.on("close", () => resolve());
      socket.setTimeout(5000, () => socket.destroy());
    });
    assert.match(received, "one ");
    assert.not.match(received, "three");
    socket.write("4\r\ntwo \r\n5\r\nthree\r\n0\r\n\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
    assert.match(received, /one [^]*two [^]*three/);
  });

  test("a response stream that fails breaks the connection instead of ending the response", async () => {
    const outcome = await fetch(`${server.url}/broken-stream`).then((response) => response.text()).then(
      (text) => `complete: ${text}`,
      () => "broken",
    );
    assert.is(outcome, "broken");
    assert.is((await fetch(`${server.url}/changed`)).status, 200);
  });

  test("when the handler throws, the client gets 500 without the error, and onError gets the error", async () => {
    errors.length = 0;
    const response = await fetch(`${server.url}/throws`);
    assert.is(response.status, 500);
    assert.match(response.headers.get("content-type")!, "application/json");
    const { error, error_description, ...rest } = await response.json();
    assert.equal([error, rest], ["server_error", {}]);
    assert.not.match(error_description, "hunter2");
    assert.match(String(errors[0]), "hunter2");
  });

  test("100 concurrent requests get their own responses", async () => {
    const answers = await Promise.all(
      Array.from(
        { length: 100 },
        async (_, i) => await (await fetch(`${server.url}/echo`, { method: "POST", body: `${i}` })).text(),
      ),
    );
    assert.equal(answers, Array.from({ length: 100 }, (_, i) => `${i}`));
  });

  test("a client that disconnects during a request does not disturb others", async () => {
    const handler = waitingHandler();
    const own = await serve(handler, { port: 0 });
    const client = new AbortController();
    const request = fetch(`${own.url}/slow`, { signal: client.signal }).catch(() => "aborted");
    await handler.arrived;
    client.abort();
    assert.is(await request, "aborted");
    handler.release();
    assert.is((await fetch(own.url)).status, 200);
    await own.close();
  });

  test("request.signal aborts when the client disconnects", async () => {
    const client = new AbortController();
    const request = fetch(`${server.url}/until-abort`, { signal: client.signal }).catch(() => "aborted");
    await arrived.promise;
    client.abort();
    await aborted.promise;
    assert.is(await request, "aborted");
  });

  test("a request whose body was cancelled gets its response, also an event stream", async () => {
    for (const size of [1, 30_000, 300_000]) {
      for (const accept of ["*/*", "text/event-stream"]) {
        const response = await fetch(`${server.url}/cancelled-body`, {
          method: "POST",
          headers: { accept },
          body: new Uint8Array(size),
        });
        const isStream = accept !== "*/*";
        assert.is(response.status, isStream ? 200 : 413, `${size} bytes, ${accept}`);
        assert.is(await response.text(), isStream ? "data: one\n\n" : "too large");
      }
    }
  });

  test("a response stream is cancelled when its client disconnects", async () => {
    cancelled = 0;
    const client = new AbortController();
    const response = await fetch(`${server.url}/endless`, { signal: client.signal });
    await response.body!.getReader().read();
    client.abort();
    for (let i = 0; i < 2000 && cancelled === 0; i++) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.is(cancelled, 1);
  });

  test("serve rejects for a port that another server of the same entry uses", async () => {
    const second = await serve(handler, { port: server.port }).catch((error) => error);
    assert.instance(second, Error);
    assert.match(`${second.code} ${second.name} ${second.message}`, /EADDRINUSE|AddrInUse/);
  });

  test.run();
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
