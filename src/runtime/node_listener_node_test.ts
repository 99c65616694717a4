import { createServer, type IncomingMessage, request as send, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toNodeListener } from "./node_listener.ts";

const test = suite("toNodeListener");

/** Answers with what arrived. */
const echo = {
  async fetch(request: Request, context?: { ip?: string | undefined }): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/fault") throw new Error("secret");
    const headers = new Headers({ "content-type": "application/json" });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    const [type, length] = ["content-type", "content-length"].map((name) => request.headers.get(name));
    const body = await request.text();
    const answer = { method: request.method, path: pathname + search, type, length, body, ip: context?.ip };
    return new Response(JSON.stringify(answer), { status: 201, headers });
  },
};

async function withServer(listener: RequestListener, use: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function readWhole(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += piece;
  return text;
}

test("on http.createServer it passes on method, path, fields, body and address", () =>
  withServer(toNodeListener(echo), async (origin) => {
    const posted = await fetch(`${origin}/a?b=c`, {
      method: "POST",
      body: "text",
      headers: { "content-type": "text/plain" },
    });
    assert.is(posted.status, 201);
    assert.equal(posted.headers.getSetCookie(), ["a=1", "b=2"]);
    const ip = "127.0.0.1";
    assert.equal(await posted.json(), {
      method: "POST",
      path: "/a?b=c",
      type: "text/plain",
      length: "4",
      body: "text",
      ip,
    });
    const got = await (await fetch(`${origin}/`)).json();
    assert.equal([got.method, got.path, got.body], ["GET", "/", ""]);
    const head = await fetch(origin, { method: "HEAD" });
    assert.equal([head.status, await head.text()], [201, ""]);
    const large = "x".repeat(1_000_000);
    assert.is((await (await fetch(origin, { method: "POST", body: large })).json()).body, large);
  }));

test("a body that a parser read before arrives again", async () => {
  const listener = toNodeListener(echo);
  /** As `express.json()` and `express.urlencoded()` do. */
  const behindParsers: RequestListener = async (request, response) => {
    const text = await readWhole(request);
    const type = request.headers["content-type"] ?? "";
    const form: Record<string, unknown> = {};
    for (const name of new URLSearchParams(text).keys()) {
      const all = new URLSearchParams(text).getAll(name);
      form[name] = all.length > 1 ? all : all[0];
    }
    await listener(
      Object.assign(request, { body: type.includes("json") ? JSON.parse(text) : form }),
      response,
    );
  };
  await withServer(behindParsers, async (origin) => {
    const post = async (type: string, body: string) =>
      await (await fetch(origin, { method: "POST", body, headers: { "content-type": type } })).json();
    const json = await post("application/json", '{ "jsonrpc": "2.0", "id": 1 }');
    assert.equal([json.body, json.length], ['{"jsonrpc":"2.0","id":1}', null]);
    assert.is((await post("application/x-www-form-urlencoded", "a=1&b=x+y%26&a=2")).body, "a=1&a=2&b=x+y%26");
    const lost = await fetch(origin, {
      method: "POST",
      body: "x",
      headers: { "content-type": "multipart/form-data" },
    });
    assert.is(lost.status, 500);
  });
});

test("a parser that left the stream alone changes nothing", () => {
  const listener = toNodeListener(echo);
  return withServer(
    (request, response) => void listener(Object.assign(request, { body: {} }), response),
    async (origin) =>
      assert.is((await (await fetch(origin, { method: "POST", body: "text" })).json()).body, "text"),
  );
});

test("below a prefix of Express the path is the whole one", () => {
  const listener = toNodeListener(echo);
  return withServer(
    (request, response) => {
      const originalUrl = request.url!;
      request.url = originalUrl.slice("/auth".length);
      void listener(Object.assign(request, { originalUrl }), response);
    },
    async (origin) =>
      assert.is((await (await fetch(`${origin}/auth/login?x=1`)).json()).path, "/auth/login?x=1"),
  );
});

test("it takes the request and reply of Fastify, with or without a parsed body", () => {
  const listener = toNodeListener(echo);
  return withServer(async (raw, response) => {
    const body = raw.url === "/parsed" ? JSON.parse(await readWhole(raw)) : undefined;
    let isHijacked = false;
    await listener({ raw, body }, { raw: response, hijack: () => isHijacked = true });
    assert.ok(isHijacked);
  }, async (origin) => {
    const init = { method: "POST", body: "[1]", headers: { "content-type": "application/json" } };
    for (const path of ["/parsed", "/raw"]) {
      assert.is((await (await fetch(origin + path, init)).json()).body, "[1]", path);
    }
  });
});

test("a fault is a 500 that says nothing of it, and a malformed Host is a 400", async () => {
  const errors: unknown[] = [];
  await withServer(toNodeListener(echo, (error) => errors.push(error)), async (origin) => {
    const response = await fetch(`${origin}/fault`);
    assert.is(response.status, 500);
    assert.not.match(await response.text(), "secret");
    assert.is((errors[0] as Error).message, "secret");
    const status = await new Promise((resolve) =>
      send(origin, { headers: { host: "a b/c" } }, (answer) => resolve(answer.resume().statusCode)).end()
    );
    assert.is(status, 400);
  });
});

test("a stream arrives as it is written, and ends when the client leaves", async () => {
  let cancelled!: () => void;
  const left = new Promise<void>((resolve) => cancelled = resolve);
  let signal: AbortSignal | undefined;
  const streaming = {
    fetch(request: Request) {
      signal = request.signal;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
        cancel: cancelled,
      });
      return new Response(body);
    },
  };
  await withServer(toNodeListener(streaming), async (origin) => {
    const client = new AbortController();
    const response = await fetch(origin, { signal: client.signal });
    const { value } = await response.body!.getReader().read();
    assert.is(new TextDecoder().decode(value), "first");
    client.abort();
    await left;
    assert.ok(signal!.aborted);
  });
});

test.run();
