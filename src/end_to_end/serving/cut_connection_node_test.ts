/**
 * Token requests whose connection is cut at every step, over a socket. A retried refresh gets the same response. A redeemed
 * code is refused the second time and its tokens are revoked (RFC 6749 section 4.1.2).
 *
 * @module
 */
import { connect, createServer, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { APP_URI, newServer, type TestServer } from "../../oauth/test_server.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";

const test = suite("token requests over cut connections");
const [, serve] = Object.entries(entries)[0]!;
const APP = { client_id: "app", client_secret: "app secret:&%+" };

/** Where a connection is cut. The numbers are fractions of the request or of the response. */
const CUTS: Readonly<Record<string, { readonly request?: number; readonly response?: number }>> = {
  "before the request": { request: 0 },
  "within the header fields": { request: 0.1 },
  "within the body": { request: 0.9 },
  "after the request, before the response": { response: 0 },
  "within the header fields of the response": { response: 0.1 },
  "within the body of the response": { response: 0.9 },
};

interface Cut {
  readonly port: number;
  /** The response of the server, whether it arrived or not. */
  response(): Promise<string>;
  stop(): Promise<unknown>;
}

/** A proxy that forwards a part of one request or of its response, and resets the connection. */
async function startCut(
  port: number,
  size: number,
  { request, response }: { request?: number; response?: number },
): Promise<Cut> {
  const sockets = new Set<Socket>();
  let received = "";
  const done = Promise.withResolvers<void>();
  const proxy = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    for (const socket of [client, server]) sockets.add(socket.on("error", () => {}));
    const cut = () => {
      client.resetAndDestroy();
      server.resetAndDestroy();
      done.resolve();
    };
    let passed = 0;
    const limit = request === undefined ? Infinity : Math.floor(size * request);
    client.on("data", (data) => {
      const part = data.subarray(0, Math.max(0, limit - passed));
      passed += part.length;
      server.write(part, () => passed >= limit && setTimeout(cut, 20));
    });
    server.on("data", (data) => {
      received += data.toString();
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? NaN) +
        received.indexOf("\r\n\r\n") + 4;
      if (!(received.length >= length)) return;
      const part = received.slice(0, Math.floor(received.length * response!));
      client.write(part, () => setTimeout(cut, 20));
    });
    if (limit === 0) setTimeout(cut, 20);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as { port: number }).port,
    async response() {
      await done.promise;
      return received.slice(received.indexOf("\r\n\r\n") + 4);
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** The request as text, whose length is known. */
function toText(form: Record<string, string>): string {
  const body = new URLSearchParams({ ...APP, ...form }).toString();
  return "POST /oauth/token HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-www-form-urlencoded\r\n" +
    `connection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** Everything that the client receives until the connection closes. */
function send(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (data) => received += data.toString());
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}

const bodyOf = (response: string): string => response.slice(response.indexOf("\r\n\r\n") + 4);
const isActive = async (server: TestServer, token: string): Promise<boolean> =>
  (await (await server.send("/oauth/introspect", { form: { token, ...APP } })).json()).active;

/** Sends a request over a connection that is cut, and retries it over another. */
async function cutAndRetry(
  running: RunningServer,
  form: Record<string, string>,
  where: { request?: number; response?: number },
): Promise<{ lost: string; retried: string }> {
  const text = toText(form);
  const cut = await startCut(running.port, text.length, where);
  try {
    const received = await send(cut.port, text);
    const lost = await cut.response();
    assert.not.ok(lost !== "" && received.includes(lost), "the client did not receive the whole response");
    return { lost, retried: bodyOf(await send(running.port, text)) };
  } finally {
    await cut.stop();
  }
}

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`${accessTokenFormat}: a refresh that is cut anywhere and retried gets the same response`, async () => {
    const server = await newServer({ accessTokenFormat });
    const running = await serve(server.service, { port: 0 });
    try {
      for (const [name, where] of Object.entries(CUTS)) {
        const { refresh_token } = await server.tokens();
        const form = { grant_type: "refresh_token", refresh_token: refresh_token! };
        const { lost, retried } = await cutAndRetry(running, form, where);
        assert.is(lost === "", where.request !== undefined, `${name}: ${lost}`);
        if (lost !== "") assert.is(retried, lost, name);
        const tokens = JSON.parse(retried);
        assert.ok(await isActive(server, tokens.access_token), name);
        const next = await server.token({ grant_type: "refresh_token", refresh_token: tokens.refresh_token });
        assert.is(next.status, 200, name);
      }
      assert.equal(server.events.filter(({ type }) => type === "refresh_replayed"), []);
    } finally {
      await running.close();
    }
  });

  test(`${accessTokenFormat}: a code works when its request did not arrive; when the response was lost, its tokens are revoked`, async () => {
    const server = await newServer({ accessTokenFormat });
    const running = await serve(server.service, { port: 0 });
    try {
      for (const [name, where] of Object.entries(CUTS)) {
        const code = (await server.authorize()).get("code")!;
        const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
        const { lost, retried } = await cutAndRetry(running, form, where);
        const response = JSON.parse(retried);
        if (where.request !== undefined) {
          assert.ok(await isActive(server, response.access_token), name);
          continue;
        }
        const { access_token, refresh_token } = JSON.parse(lost);
        assert.equal([response.error, "access_token" in response], ["invalid_grant", false], name);
        assert.not.ok(await isActive(server, access_token), name);
        assert.not.ok(await isActive(server, refresh_token), name);
        // A new authorization works.
        assert.ok(await isActive(server, (await server.tokens()).access_token!), name);
      }
    } finally {
      await running.close();
    }
  });
}

test.run();
