/**
 * `toNodeListener` and `toNodeGuard` on `node:http2` and in Fastify with `http2: true`.
 *
 * @module
 */
import newFastify from "fastify";
import {
  connect,
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toNodeGuard, toNodeListener } from "./node_listener.ts";

const test = suite("toNodeListener on HTTP/2");

/** Answers with the request that it received, and with fields that HTTP/2 does not have. */
const echo = {
  async fetch(request: Request, context?: { ip?: string | undefined }): Promise<Response> {
    const { pathname, search, host } = new URL(request.url);
    if (pathname === "/fault") throw new Error("secret");
    const fields = Object.fromEntries(request.headers);
    const answer = {
      method: request.method,
      path: pathname + search,
      host,
      fields,
      body: await request.text(),
      ip: context?.ip?.replace("::ffff:", ""),
    };
    const headers = new Headers({ connection: "close", "keep-alive": "timeout=5", "x-own": "1" });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    return new Response(JSON.stringify(answer), { status: 201, statusText: "Made", headers });
  },
};

type Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

async function withServer(listener: Listener, use: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

interface Answer {
  readonly fields: Record<string, unknown>;
  readonly text: string;
}

/** Sends one request over a connection of its own. */
async function send(origin: string, fields: OutgoingHttpHeaders, body?: string): Promise<Answer> {
  const client = connect(origin);
  try {
    const stream = client.request(fields, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return await new Promise((resolve, reject) => {
      let head: Record<string, unknown> = {};
      let text = "";
      stream.setEncoding("utf8");
      stream.on("response", (given) => head = { ...given });
      stream.on("data", (chunk) => text += chunk);
      stream.on("end", () => resolve({ fields: head, text }));
      stream.on("error", reject);
    });
  } finally {
    client.close();
  }
}

test("passes host, target, header fields, cookies, body and address, and no pseudo-header field", () =>
  withServer(toNodeListener(echo), async (origin) => {
    const { host } = new URL(origin);
    const post = {
      ":method": "POST",
      ":path": "/a?b=c",
      "content-type": "text/plain",
      cookie: ["a=1", "b=2"],
    };
    const { fields, text } = await send(origin, post, "text");
    assert.equal([fields[":status"], fields["x-own"], fields["set-cookie"]], [201, "1", ["a=1", "b=2"]]);
    assert.equal([fields.connection, fields["keep-alive"]], [undefined, undefined]);
    assert.equal(JSON.parse(text), {
      method: "POST",
      path: "/a?b=c",
      host,
      fields: { "content-type": "text/plain", cookie: "a=1; b=2", host },
      body: "text",
      ip: "127.0.0.1",
    });
    assert.is(JSON.parse((await send(origin, { ":path": "/" })).text).method, "GET");
    const large = "x".repeat(1_000_000);
    const uploaded = await send(origin, { ":method": "PUT", ":path": "/" }, large);
    assert.is(JSON.parse(uploaded.text).body, large);
    const head = await send(origin, { ":method": "HEAD", ":path": "/" });
    assert.equal([head.fields[":status"], head.text], [201, ""]);
    const empty = await send(origin, { ":method": "DELETE", ":path": "/" });
    assert.equal([empty.fields[":status"], JSON.parse(empty.text).body], [201, ""]);
  }));

test("a malformed or contradicting host gets 400, a fault 500", async () => {
  const errors: unknown[] = [];
  await withServer(toNodeListener(echo, (error) => errors.push(error)), async (origin) => {
    assert.is((await send(origin, { ":path": "/", ":authority": "a.example:x" })).fields[":status"], 400);
    const two = await send(origin, { ":path": "/", ":authority": "a.example", host: "b.example" });
    assert.is(two.fields[":status"], 400);
    const same = await send(origin, { ":path": "/", ":authority": "a.example", host: "a.example" });
    assert.is(JSON.parse(same.text).host, "a.example");
    const fault = await send(origin, { ":path": "/fault" });
    assert.is(fault.fields[":status"], 500);
    assert.not.match(fault.text, "secret");
    assert.equal(errors.map((error) => (error as Error).message), ["secret"]);
  });
});

test("a response stream arrives part by part and is cancelled when the client resets it", async () => {
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
    const client = connect(origin);
    const stream = client.request({ ":path": "/" });
    const first = await new Promise((resolve) => stream.once("data", resolve));
    assert.is(String(first), "first");
    assert.is(signal!.aborted, false);
    stream.close();
    await cancelled.promise;
    assert.ok(signal!.aborted);
    client.close();
  });
});

test("a response whose body fails is reset, and leaves the connection open", async () => {
  const failing = {
    fetch(request: Request) {
      if (request.url.endsWith("/whole")) return new Response("whole");
      let pulls = 0;
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (pulls++ === 0) return controller.enqueue(new TextEncoder().encode("first"));
          await new Promise((resolve) => setTimeout(resolve, 10));
          throw new Error("broken");
        },
      });
      return new Response(body);
    },
  };
  await withServer(toNodeListener(failing), async (origin) => {
    const client = connect(origin);
    const stream = client.request({ ":path": "/" });
    stream.on("error", () => {}).resume();
    await new Promise((resolve) => stream.on("close", resolve));
    assert.is(stream.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
    const whole = client.request({ ":path": "/whole" });
    assert.is(String(await new Promise((resolve) => whole.once("data", resolve))), "whole");
    client.close();
  });
});

test("an upload that the client resets fails for the handler; one that is complete does not abort", async () => {
  const outcome = Promise.withResolvers<string>();
  let signal: AbortSignal | undefined;
  const reading = {
    async fetch(request: Request): Promise<Response> {
      signal = request.signal;
      const text = request.text();
      text.then((text) => outcome.resolve(text), () => outcome.resolve("failed"));
      return new Response(await text);
    },
  };
  await withServer(toNodeListener(reading), async (origin) => {
    assert.is((await send(origin, { ":method": "POST", ":path": "/" }, "all")).text, "all");
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.is(signal!.aborted, false);
  });
  assert.is(await outcome.promise, "all");
  const reset = Promise.withResolvers<string>();
  const cut = {
    async fetch(request: Request): Promise<Response> {
      await request.text().then(reset.resolve, () => reset.resolve("failed"));
      return new Response();
    },
  };
  await withServer(toNodeListener(cut), async (origin) => {
    const client = connect(origin);
    const stream = client.request({ ":method": "POST", ":path": "/" });
    stream.on("error", () => {});
    stream.write("a part");
    await new Promise((resolve) => setTimeout(resolve, 50));
    // `close()` would end the body first.
    stream.destroy(new Error("reset"));
    assert.is(await reset.promise, "failed");
    client.close();
  });
});

test("toNodeGuard lets a caller through, and sends a refusal", async () => {
  const protection = {
    protect: (request: Request) =>
      Promise.resolve(
        request.headers.get("authorization") === "Bearer good"
          ? { client: "app", workspace: "default", scopes: new Set<string>() }
          : new Response("refused", { status: 401, headers: { connection: "close" } }),
      ),
  };
  const guard = toNodeGuard(protection);
  const listener: Listener = async (request, response) => {
    const caller = await guard(request, response);
    if (caller) response.end(caller.client!);
  };
  await withServer(listener, async (origin) => {
    const refused = await send(origin, { ":path": "/" });
    assert.equal([refused.fields[":status"], refused.text], [401, "refused"]);
    assert.is((await send(origin, { ":path": "/", authorization: "Bearer good" })).text, "app");
  });
});

test("Fastify with HTTP/2 passes requests on", async () => {
  const fastify = newFastify({ http2: true });
  fastify.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", async () => {});
    scope.all("/*", toNodeListener(echo));
  });
  const origin = await fastify.listen({ port: 0, host: "127.0.0.1" });
  try {
    const post = { ":method": "POST", ":path": "/a", "content-type": "application/json" };
    const { fields, text } = await send(origin, post, "{}");
    assert.equal([fields[":status"], JSON.parse(text).body], [201, "{}"]);
  } finally {
    await fastify.close();
  }
});

test.run();
