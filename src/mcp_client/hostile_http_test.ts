/**
 * Servers over HTTP that break the protocol, lie, or never end. After each test no body is left open.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { McpClientOptions } from "./client.ts";
import {
  connect,
  event,
  failure,
  json,
  legacyServer,
  modernServer,
  type Received,
  type ScriptedServer,
  scriptedServer,
  URL_OF_TESTS,
} from "./test_servers.ts";
import { httpTransport } from "./transports/http_transport.ts";

const test = suite("mcp client/hostile http");
const MIB = 1024 * 1024;
const TEXT = { content: [{ type: "text", text: "ok" }] };

const call = { name: "t", arguments: {} };

/** A response to a call, in the words of 2026-07-28 and of older revisions. */
const reply = (received: Received) => ({ jsonrpc: "2.0", id: received.message.id, result: TEXT });

type Answer = (received: Received, server: ScriptedServer) => Response | Promise<Response>;

/** How a call ends when it is answered so, in both eras. */
async function fails(answer: Answer, reason: string, options: Partial<McpClientOptions> = {}): Promise<void> {
  for (const newServer of [modernServer, legacyServer]) {
    const server = newServer((received, server) =>
      received.message?.method === "tools/call"
        ? answer(received, server)
        : new Response(null, { status: 405 })
    );
    const client = connect(server, options);
    const error = await failure(client.request("tools/call", call));
    assert.is(error.name, "ConnectionError", String(error));
    assert.is(error.reason, reason, String(error));
    assert.match(error.message, /^http:\/\/127\.0\.0\.1:8787\/mcp: /);
    await client.close();
    assert.is(server.open, 0);
  }
}

test("a response to another request is not used", async () => {
  await fails(({ message }) => json({ jsonrpc: "2.0", id: message.id + 1, result: TEXT }), "malformed");
  await fails(({ message }) => json({ jsonrpc: "2.0", id: String(message.id), result: TEXT }), "malformed");
  await fails(({ message }) => json({ id: message.id, result: TEXT }), "malformed");
  await fails(
    (_, server) => server.stream((send) => send(event({ jsonrpc: "2.0", id: 999, result: TEXT }))),
    "closed",
  );
});

test("a result that is none is refused", async () => {
  for (
    const members of [{ result: "text" }, { result: [] }, {}, { error: "no" }, {
      result: TEXT,
      error: { code: 1 },
    }]
  ) {
    await fails(({ message }) => json({ jsonrpc: "2.0", id: message.id, ...members }), "malformed");
  }
});

test("bodies of other types, statuses without a response, and invalid JSON are refused", async () => {
  await fails((received) => new Response(JSON.stringify(reply(received))), "malformed");
  await fails(() => new Response(null, { status: 202 }), "malformed");
  await fails(() => new Response("{", { headers: { "content-type": "application/json" } }), "malformed");
  await fails((received) => json(reply(received), 500), "status");
  await fails((_, server) => server.stream((send) => send("data: {\n\n")), "malformed");
});

test("JSON that is too deep, or has too many values, is refused before it is parsed", async () => {
  const body = (text: string) => () =>
    new Response(text, { headers: { "content-type": "application/json" } });
  await fails(body("[".repeat(100_000)), "malformed");
  await fails(body(`[${"{},".repeat(300_000)}1]`), "malformed");
});

test("a message beyond the limit is refused, as JSON and as an event", async () => {
  const limits = { messageBytes: 1000 };
  await fails(
    ({ message }) => json({ jsonrpc: "2.0", id: message.id, result: { text: "x".repeat(1000) } }),
    "too_large",
    { limits },
  );
  await fails((_, server) => server.stream((send) => send(`data: ${"x".repeat(1001)}`)), "too_large", {
    limits,
  });
  await fails((_, server) => server.stream((send) => send(`: ${"x".repeat(1001)}`)), "too_large", { limits });
});

test("by default a message may have 4 MiB", async () => {
  const server = modernServer(({ message }) =>
    json({ jsonrpc: "2.0", id: message.id, result: { text: "x".repeat(message.params.arguments.size) } })
  );
  const client = connect(server);
  const ask = (size: number) => client.request("tools/call", { name: "t", arguments: { size } });
  assert.is(((await ask(4 * MIB - 1000)).text as string).length, 4 * MIB - 1000);
  assert.is((await failure(ask(4 * MIB))).reason, "too_large");
  await client.close();
});

test("a body without an end, and comments without an end, end by the timeout", async () => {
  const limits = { timeout: 30 };
  const drip = (text: string) => async (send: (text: string) => void, closed: Promise<void>) => {
    let isClosed = false;
    closed.then(() => isClosed = true);
    while (!isClosed) {
      send(text);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  await fails((_, server) => server.stream(drip(":\n\n")), "timeout", { limits });
  await fails(
    (_, server) => {
      const { body } = server.stream(drip(" "));
      return new Response(body, { headers: { "content-type": "application/json" } });
    },
    "timeout",
    { limits },
  );
  await fails(() => new Promise(() => {}), "timeout", { limits });
});

test("messages do not extend a call beyond its duration", async () => {
  await fails(
    (received, server) =>
      server.stream(async (send, closed) => {
        let isClosed = false;
        closed.then(() => isClosed = true);
        while (!isClosed) {
          send(event({ jsonrpc: "2.0", method: "notifications/x" }));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        assert.ok(received.signal.aborted);
      }),
    "timeout",
    { limits: { duration: 60 } },
  );
});

test("a redirect is not followed, and does not show its query", async () => {
  const location = "http://127.0.0.1:9/else?token=secret";
  const received: string[] = [];
  for (const status of [301, 302, 303, 307, 308]) {
    const server = scriptedServer(({ url }) => {
      received.push(url);
      return new Response(null, { status, headers: { location } });
    });
    const error = await failure(connect(server).connect());
    assert.is(error.reason, "redirected");
    assert.not.match(error.message, /secret/);
  }
  assert.equal([...new Set(received)], [URL_OF_TESTS]);
});

test("answers to nothing, notifications of any shape and progress of others are ignored", async () => {
  const server = modernServer((received, server) =>
    server.stream((send) => {
      send(event({ jsonrpc: "2.0", id: 12345, result: {} }));
      send(
        event({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: 999, progress: 1 },
        }),
      );
      send(event({ jsonrpc: "2.0", method: "notifications/progress", params: 5 }));
      send(event({ jsonrpc: "2.0", method: "notifications/message", params: [] }));
      send(event({ jsonrpc: "2.0", method: 7 }));
      send(event([1, null, "x"]));
      send("event: other\ndata: {\n\n");
      send(event({ jsonrpc: "2.0", id: "s", method: "sampling/createMessage", params: {} }));
      send(event(reply(received)));
      send(event({ ...reply(received), result: { second: true } }));
    })
  );
  const progress: unknown[] = [];
  const client = connect(server, {
    onNotification() {
      throw new Error("of the application");
    },
  });
  assert.equal(await client.request("tools/call", call, { onProgress: (each) => progress.push(each) }), TEXT);
  assert.equal(progress, []);
  // Servers of 2026-07-28 get no responses.
  assert.equal(server.received.filter(({ message }) => message && message.method === undefined), []);
  await client.close();
  assert.is(server.open, 0);
});

test("progress on the stream of one call does not reach another", async () => {
  const waiting: (() => void)[] = [];
  const server = modernServer((received, server) =>
    server.stream(async (send) => {
      const progress = { progress: 1, message: `of ${received.message.params.name}` };
      await new Promise<void>((resolve) => waiting.push(resolve));
      for (const { message } of server.received.filter(({ message }) => message.method === "tools/call")) {
        const params = { ...progress, progressToken: message.id };
        send(event({ jsonrpc: "2.0", method: "notifications/progress", params }));
      }
      send(event(reply(received)));
    })
  );
  const client = connect(server);
  const seen: string[] = [];
  const calls = ["a", "b"].map((name) =>
    client.request("tools/call", { name, arguments: {} }, {
      onProgress: (_progress, _total, message) => seen.push(`${name} ${message}`),
    })
  );
  while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  for (const resume of waiting) resume();
  await Promise.all(calls);
  assert.equal(seen.sort(), ["a of a", "b of b"]);
  await client.close();
});

test("an error object of the server arrives as it is, whatever the status", async () => {
  for (const status of [200, 400, 500]) {
    const error = { code: -32042, message: "Sign in first", data: { elicitations: [] } };
    const client = connect(
      modernServer(({ message }) => json({ jsonrpc: "2.0", id: message.id, error }, status)),
    );
    const thrown = await failure(client.request("tools/call", call));
    assert.equal([thrown.name, thrown.code, thrown.message, (thrown as unknown as { data: unknown }).data], [
      "McpError",
      -32042,
      "Sign in first",
      { elicitations: [] },
    ]);
  }
});

test("a session id that is no visible ASCII is refused", async () => {
  const server = scriptedServer((received) =>
    received.message.method === "initialize"
      ? json(
        {
          jsonrpc: "2.0",
          id: received.message.id,
          result: { protocolVersion: "2025-11-25", capabilities: {} },
        },
        200,
        { "mcp-session-id": "a b" },
      )
      : json({ jsonrpc: "2.0", id: received.message.id, error: { code: -32601, message: "" } }, 400)
  );
  assert.is((await failure(connect(server).connect())).reason, "malformed");
});

test("a URL with credentials, or of another scheme, is refused", () => {
  for (const url of ["ftp://x/", "file:///etc/passwd", "https://user:secret@x/"]) {
    assert.throws(
      () => httpTransport({ url }),
      (error: Error) => error instanceof TypeError && !/secret/.test(error.message),
    );
  }
  assert.is(httpTransport({ url: "https://x.example/mcp?key=secret" }).name, "https://x.example/mcp");
});

test("a flood of requests gets no more responses than a server reads", async () => {
  let responses = 0;
  const server = legacyServer(({ message, method }, server) => {
    if (method === "GET") return new Response(null, { status: 405 });
    // A response of the client, which the server does not answer.
    if (message.method === undefined) return responses++, new Promise(() => {});
    return server.stream((send) => {
      for (let id = 0; id < 1000; id++) {
        send(event({ jsonrpc: "2.0", id, method: "elicitation/create", params: {} }));
      }
      send(event({ jsonrpc: "2.0", id: message.id, result: { content: [] } }));
    });
  });
  const client = connect(server);
  await client.request("tools/call", { name: "t", arguments: {} });
  assert.is(responses, 200);
  await client.close();
});

test("a server that ends each stream at once is asked again after a pause", async () => {
  let gets = 0;
  const server = legacyServer(({ method }, server) =>
    server.stream((send) => {
      if (method === "GET") gets++;
      send("retry: 0\n" + event({ jsonrpc: "2.0", method: "notifications/message", params: {} }, `e${gets}`));
    })
  );
  const client = connect(server, { limits: { duration: 400 } });
  assert.is((await failure(client.request("tools/call", { name: "t", arguments: {} }))).reason, "timeout");
  // One each 20 ms, and that of the stream which belongs to no request.
  assert.ok(gets > 1 && gets <= 25, String(gets));
  await client.close();
});

test.run();
