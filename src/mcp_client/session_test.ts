/**
 * Sessions and streams of Streamable HTTP up to 2025-11-25.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  connect,
  event,
  failure,
  json,
  legacyServer,
  modernServer,
  type Received,
  result,
  type ScriptedServer,
} from "./test_servers.ts";
import { until } from "../test_until.ts";

const test = suite("mcp client/session");
const TEXT = { content: [{ type: "text", text: "ok" }] };
const call = { name: "t", arguments: {} };

/** What a server received, in short. */
function log({ received }: ScriptedServer): string[] {
  return received.map(({ method, message, headers }) =>
    `${message?.method ?? (message ? "response" : method)} ${headers.get("mcp-session-id") ?? "-"}`
  );
}

test("a session begins with a handshake, and ends by DELETE", async () => {
  const server = legacyServer((received) => result(received, TEXT));
  const client = connect(server);
  await client.request("tools/call", call);
  await client.close();
  assert.equal(log(server), [
    "server/discover -",
    "initialize -",
    "notifications/initialized session-1",
    "tools/call session-1",
    "DELETE session-1",
  ]);
  assert.is(server.received.at(-1)!.headers.get("mcp-protocol-version"), "2025-11-25");
});

test("calls that lose a session begin a new one together, and are sent again", async () => {
  const server = legacyServer((received) => {
    const { message, headers } = received;
    if (headers.get("mcp-session-id") === "session-1" && message.method === "tools/call") {
      return json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }, 404);
    }
    return result(received, TEXT);
  });
  const client = connect(server);
  await client.subscribe("test://a");
  await client.request("logging/setLevel", { level: "error" });
  const results = await Promise.all([1, 2, 3].map(() => client.request("tools/call", call)));
  assert.equal(results, [TEXT, TEXT, TEXT]);
  const after = log(server).slice(log(server).indexOf("tools/call session-1"));
  assert.is(after.filter((each) => each.startsWith("initialize")).length, 1);
  assert.is(after.filter((each) => each === "tools/call session-2").length, 3);
  // What the lost session had.
  assert.ok(after.includes("resources/subscribe session-2"));
  assert.ok(after.includes("logging/setLevel session-2"));
  await client.close();
});

for (
  const [what, fail] of [
    ["no connection", () => Promise.reject(new TypeError("fetch failed"))],
    ["503", () => new Response(null, { status: 503 })],
    [
      "an internal error",
      ({ message }: Received) =>
        json({ jsonrpc: "2.0", id: message.id, error: { code: -32603, message: "" } }),
    ],
  ] as const
) {
  test(`a subscription that meets ${what} in the new session is sent again, and counts as updated then`, async () => {
    const subscribed: string[] = [];
    const level: string[] = [];
    let failures = 0;
    const server = legacyServer((received, server) => {
      const { method, message, headers } = received;
      if (method === "GET") return server.stream((_, closed) => closed);
      if (headers.get("mcp-session-id") === "session-1" && message.method === "tools/call") {
        return new Response(null, { status: 404 });
      }
      if (headers.get("mcp-session-id") !== "session-2") return result(received, {});
      if (message.method === "logging/setLevel") level.push(message.params.level);
      if (message.method === "resources/subscribe") {
        const refusal = ({ "test://gone": -32602, "test://missing": -32002 } as Record<string, number>)[
          message.params.uri
        ];
        if (refusal !== undefined) {
          return json({ jsonrpc: "2.0", id: message.id, error: { code: refusal, message: "no" } });
        }
        if (++failures <= 2) return fail(received);
        subscribed.push(message.params.uri);
      }
      return result(received, TEXT);
    });
    const updated: unknown[] = [];
    const client = connect(server, {
      onNotification: (method, { uri }) => updated.push(method.endsWith("/updated") && uri),
    });
    const uris = ["test://a", "test://gone", "test://missing", "test://b"];
    for (const uri of [...uris, "test://c"]) await client.subscribe(uri);
    await client.request("logging/setLevel", { level: "error" });
    assert.equal(await client.request("tools/call", call), TEXT);
    await client.unsubscribe("test://c");
    await until(() => uris.every((uri) => updated.includes(uri)));
    assert.ok(["test://a", "test://b"].every((uri) => subscribed.includes(uri)));
    assert.equal(level, ["error"]);
    // What is confirmed or refused is not sent again.
    const before = server.received.length;
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.is(server.received.length, before);
    await client.close();
  });
}

test("a handshake whose last message fails is done again, with all that the lost session had", async () => {
  let isAway = true;
  const server = legacyServer((received) => {
    const isLost = received.headers.get("mcp-session-id") === "session-1";
    if (isLost && received.message?.method === "tools/call") return new Response(null, { status: 404 });
    return result(received, TEXT);
  });
  const { fetch } = server;
  Object.assign(server, {
    fetch: async (url: string, init: RequestInit) => {
      const response = await fetch(url, init);
      const isFailing = isAway && server.received.at(-1)!.headers.get("mcp-session-id") === "session-2";
      return isFailing ? new Response(null, { status: 503 }) : response;
    },
  });
  const client = connect(server);
  await client.subscribe("test://a");
  assert.is((await failure(client.request("tools/call", call))).status, 503);
  isAway = false;
  assert.equal(await client.request("tools/call", call), TEXT);
  assert.ok(log(server).includes("resources/subscribe session-3"));
  await client.close();
});

test("a call that learns late that its session was lost uses the new one", async () => {
  let endLate = (): void => {};
  const server = legacyServer(async (received) => {
    if (received.headers.get("mcp-session-id") !== "session-1") return result(received, TEXT);
    if (received.message.params.name === "late") await new Promise<void>((resolve) => endLate = resolve);
    return new Response(null, { status: 404 });
  });
  const client = connect(server);
  await client.connect();
  const late = client.request("tools/call", { name: "late", arguments: {} });
  assert.equal(await client.request("tools/call", call), TEXT);
  endLate();
  assert.equal(await late, TEXT);
  assert.is(log(server).filter((each) => each.startsWith("initialize")).length, 2);
  await client.close();
});

test("a request that waits for the connection, or for a new session, can be cancelled alone", async () => {
  for (const isLost of [false, true]) {
    const legacy = legacyServer((received) =>
      isLost && received.headers.get("mcp-session-id") === "session-1"
        ? new Response(null, { status: 404 })
        : result(received, TEXT)
    );
    let isHeld = false;
    let answer: (() => void) | undefined;
    const client = connect({
      ...legacy,
      async fetch(url, init) {
        if (isHeld && String(init.body).includes('"initialize"')) {
          await new Promise<void>((resolve) => answer = resolve);
        }
        return await legacy.fetch(url, init);
      },
    });
    if (isLost) await client.connect();
    isHeld = true;
    const abort = new AbortController();
    const cancelled = failure(client.request("tools/call", call, { signal: abort.signal }));
    const other = client.request("tools/call", call);
    await until(() => answer !== undefined);
    abort.abort(new Error("enough"));
    assert.is((await cancelled).message, "enough");
    answer!();
    assert.equal(await other, TEXT);
    assert.is(
      (await failure(client.request("tools/call", call, { signal: abort.signal }))).message,
      "enough",
    );
    await client.close();
  }
});

test("a server that forgets every session is reported, not called for ever", async () => {
  const server = legacyServer(() => new Response(null, { status: 404 }));
  const error = await failure(connect(server).request("tools/call", call));
  assert.equal([error.reason, error.mayHaveRun], ["closed", false]);
  assert.is(log(server).filter((each) => each.startsWith("tools/call")).length, 2);
});

test("an unknown method with 404 does not end the session", async () => {
  const server = legacyServer(({ message }) =>
    json({ jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Method not found" } }, 404)
  );
  assert.is((await failure(connect(server).request("x/y"))).code, -32601);
  assert.is(log(server).filter((each) => each.startsWith("initialize")).length, 1);
});

test("a request that may have run is not sent again", async () => {
  for (const status of [500, 502, 503, 504, 400, 410]) {
    for (const newServer of [legacyServer, modernServer]) {
      const server = newServer(() => new Response(null, { status }));
      const error = await failure(connect(server).request("tools/call", call));
      assert.equal([error.reason, error.status, error.mayHaveRun], ["status", status, true]);
      assert.is(log(server).filter((each) => each.startsWith("tools/call")).length, 1);
    }
  }
  const server = modernServer(() => Promise.reject(new TypeError("fetch failed")));
  const error = await failure(connect(server).request("tools/call", call));
  assert.equal([error.reason, error.mayHaveRun], ["unreachable", true]);
  const refused = modernServer(() =>
    Promise.reject(
      new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) }),
    )
  );
  assert.is((await failure(connect(refused).request("tools/call", call))).mayHaveRun, false);
});

/** A server whose stream for a call ends after these events; then these for each resumption. */
function interrupted(first: string, next: (received: Received, resumption: number) => string | undefined) {
  let resumptions = 0;
  let id: unknown;
  return legacyServer((received, server) => {
    if (received.message?.method === "tools/call") {
      id = received.message.id;
      return server.stream((send) => send(first));
    }
    const text = next(received, ++resumptions);
    if (text === undefined) return new Response(null, { status: 405 });
    return server.stream((send) => send(text.replace("ID", JSON.stringify(id))));
  });
}

test("a stream that ends early is resumed after its last whole event, again if need be", async () => {
  const progress = (progress: number) => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: 3, progress },
  });
  const server = interrupted(
    // The connection is lost within the second event.
    `retry: 1\n\n${event(progress(1), "e1")}id: e2\ndata: {`,
    (_, resumption) =>
      resumption === 1
        ? event(progress(2), "e2")
        : 'id: e3\ndata: {"jsonrpc":"2.0","id":ID,"result":{"content":[]}}\n\n',
  );
  const seen: number[] = [];
  const client = connect(server);
  const { content } = await client.request("tools/call", call, { onProgress: (each) => seen.push(each) });
  assert.equal(content, []);
  assert.equal(seen, [1, 2]);
  const resumed = server.received.filter(({ method }) => method === "GET");
  assert.equal(resumed.map(({ headers }) => headers.get("last-event-id")), ["e1", "e2"]);
  assert.equal(resumed.map(({ headers }) => headers.get("mcp-session-id")), ["session-1", "session-1"]);
  await client.close();
  assert.is(server.open, 0);
});

test("a stream is not resumed without an event id, without end, or in 2026-07-28", async () => {
  const never = interrupted("data:\n\n", () => "");
  assert.is((await failure(connect(never).request("tools/call", call))).reason, "closed");
  assert.is(never.received.filter(({ method }) => method === "GET").length, 0);
  const endless = interrupted("retry: 1\nid: e1\ndata:\n\n", () => ": nothing\n\n");
  assert.is((await failure(connect(endless).request("tools/call", call))).reason, "closed");
  assert.ok(endless.received.filter(({ method }) => method === "GET").length < 10);
  const unsupported = interrupted("retry: 1\nid: e1\ndata:\n\n", () => undefined);
  assert.is((await failure(connect(unsupported).request("tools/call", call))).reason, "closed");
  const modern = modernServer((_, server) => server.stream((send) => send("id: e1\nretry: 1\ndata:\n\n")));
  assert.is((await failure(connect(modern).request("tools/call", call))).reason, "closed");
  assert.is(modern.received.filter(({ method }) => method === "GET").length, 0);
});

test("a server that is polled with a new id each time is polled until it answers", async () => {
  const server = interrupted(
    "retry: 1\nid: e0\ndata:\n\n",
    (_, resumption) =>
      resumption < 9
        ? `id: e${resumption}\ndata:\n\n`
        : 'id: e9\ndata: {"jsonrpc":"2.0","id":ID,"result":{"content":[]}}\n\n',
  );
  const client = connect(server);
  assert.equal((await client.request("tools/call", call)).content, []);
  const ids = server.received.flatMap(({ method, headers }) =>
    method === "GET" ? headers.get("last-event-id") : []
  );
  assert.equal(ids, ["e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8"]);
  await client.close();
});

for (
  const [what, first] of [
    ["503", () => new Response(null, { status: 503, headers: { "retry-after": "0" } })],
    ["429", () => new Response(null, { status: 429 })],
    ["no connection", () => Promise.reject(new TypeError("fetch failed"))],
  ] as const
) {
  test(`a stream whose first resumption meets ${what} is resumed`, async () => {
    let gets = 0;
    let id: unknown;
    const server = legacyServer((received, server) => {
      if (received.message?.method === "tools/call") {
        id = received.message.id;
        return server.stream((send) => send("retry: 1\nid: e1\ndata:\n\n"));
      }
      if (++gets === 1) return first();
      return server.stream((send) => send(event({ jsonrpc: "2.0", id, result: { content: [] } }, "e2")));
    });
    const client = connect(server);
    assert.equal((await client.request("tools/call", call)).content, []);
    assert.is(gets, 2);
    await client.close();
  });
}

test("a call that waits to resume its stream can be cancelled", async () => {
  const server = interrupted("retry: 60000\nid: e1\ndata:\n\n", () => undefined);
  const client = connect(server);
  const abort = new AbortController();
  const pending = client.request("tools/call", call, { signal: abort.signal });
  await until(() => server.received.some(({ message }) => message?.method === "tools/call"));
  abort.abort(new Error("enough"));
  assert.is((await failure(pending)).message, "enough");
  await client.close();
});

test.run();
