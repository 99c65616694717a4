import { Agent, createServer, type IncomingMessage, request as send, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toNodeListener } from "./node_listener.ts";

const test = suite("toNodeListener");

/** Answers with the request that it received. */
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

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += piece;
  return text;
}

test("http.createServer passes method, path, header fields, body and address to the handler", () =>
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

test("a JSON or form body that a parser consumed reaches the handler; another consumed body is a 500", async () => {
  const listener = toNodeListener(echo);
  /** Consumes the body and sets `body`, as `express.json()` and `express.urlencoded()` do. */
  const behindParsers: RequestListener = async (request, response) => {
    const text = await readText(request);
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
    const unsupported = await fetch(origin, {
      method: "POST",
      body: "x",
      headers: { "content-type": "multipart/form-data" },
    });
    assert.is(unsupported.status, 500);
  });
});

test("a body that the parser did not consume is read from the stream", () => {
  const listener = toNodeListener(echo);
  return withServer(
    (request, response) => void listener(Object.assign(request, { body: {} }), response),
    async (origin) =>
      assert.is((await (await fetch(origin, { method: "POST", body: "text" })).json()).body, "text"),
  );
});

test("an absolute target names the host, and must be one of http", async () => {
  const seen = { fetch: ({ url, headers }: Request) => new Response(`${url} ${headers.get("host")}`) };
  await withServer(toNodeListener(seen), async (origin) => {
    const get = (path: string, host = "a"): Promise<string> =>
      new Promise((resolve, reject) => {
        send(origin, { path, headers: { host } }, async (answer) => {
          resolve(`${answer.statusCode} ${await readText(answer)}`);
        }).on("error", reject).end();
      });
    assert.is(await get("http://user@b.example:81/c?d"), "200 http://b.example:81/c?d b.example:81");
    assert.is(await get("http://b.example"), "200 http://b.example/ b.example");
    for (const [target, host] of [["ftp://b/c"], ["http://b/c", "a b"], ["http:///"], ["c"]]) {
      assert.match(await get(target!, host), /^400/);
    }
  });
});

test("a request over http has an http URL", () =>
  withServer(
    toNodeListener({ fetch: ({ url }: Request) => new Response(url) }),
    async (origin) => assert.is(await (await fetch(`${origin}/a`)).text(), `${origin}/a`),
  ));

test("a body that the handler does not read does not hold up the next request of its connection", async () => {
  const refusing = { fetch: () => new Response("refused", { status: 401 }) };
  await withServer(toNodeListener(refusing), async (origin) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statusOf = (method: string, body: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const request = send(origin, { agent, method, timeout: 5000 }, (answer) => {
          answer.resume().on("end", () => resolve(answer.statusCode));
        });
        request.on("timeout", () => request.destroy(new Error("no answer"))).on("error", reject).end(body);
      });
    assert.is(await statusOf("POST", "x".repeat(1_000_000)), 401);
    assert.is(await statusOf("GET", ""), 401);
    agent.destroy();
  });
});

test("when the handler throws, the client gets 500 without the error; a malformed Host gets 400", async () => {
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

test("a response stream arrives part by part and is cancelled when the client disconnects", async () => {
  const cancelled = Promise.withResolvers<void>();
  let signal: AbortSignal | undefined;
  const streaming = {
    fetch(request: Request) {
      signal = request.signal;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
        cancel: () => cancelled.resolve(),
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
    await cancelled.promise;
    assert.ok(signal!.aborted);
  });
});

test.run();
