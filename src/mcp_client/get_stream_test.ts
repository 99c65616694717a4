/**
 * The GET stream up to 2025-11-25: opened again, and what was missed meanwhile.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { connect, event, legacyServer, result } from "./test_servers.ts";
import { until } from "../test_until.ts";

const test = suite("mcp client/GET stream");
const CAPABILITIES = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } };

test("the GET stream is opened again after its last event, in the session", async () => {
  const ends: (() => void)[] = [];
  const server = legacyServer((received, server) => {
    if (received.method !== "GET") return result(received, {});
    return server.stream((send, closed) => {
      send(event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }, `e${ends.length}`));
      return Promise.race([closed, new Promise<void>((resolve) => ends.push(resolve))]);
    });
  }, CAPABILITIES);
  const noted: string[] = [];
  const client = connect(server, { onNotification: (method) => noted.push(method) });
  await client.connect();
  await until(() => noted.length === 1);
  ends[0]!();
  await until(() => noted.length === 2);
  const opened = server.received.filter(({ method }) => method === "GET").map(({ headers }) => [
    headers.get("last-event-id"),
    headers.get("mcp-session-id"),
    headers.get("accept"),
  ]);
  assert.equal(opened, [[null, "session-1", "text/event-stream"], ["e0", "session-1", "text/event-stream"]]);
  await client.close();
  await until(() => server.open === 0);
});

test("after a stream without event ids lists and subscribed resources count as changed", async () => {
  let gets = 0;
  const server = legacyServer((received, server) => {
    if (received.method !== "GET") return result(received, {});
    gets++;
    return server.stream((_, closed) => gets === 1 ? undefined : closed);
  }, CAPABILITIES);
  const noted: unknown[] = [];
  const client = connect(server, { onNotification: (method, { uri }) => noted.push([method, uri]) });
  await client.subscribe("test://a");
  await until(() => noted.length >= 3);
  assert.is(gets, 2);
  assert.equal(noted, [
    ["notifications/tools/list_changed", undefined],
    ["notifications/resources/list_changed", undefined],
    ["notifications/resources/updated", "test://a"],
  ]);
  await client.close();
});

test("what changes before a GET stream that fails at first opens counts as changed", async () => {
  let gets = 0;
  const server = legacyServer((received, server) => {
    if (received.method !== "GET") return result(received, {});
    if (++gets === 1) return new Response(null, { status: 503 });
    return server.stream((_, closed) => closed);
  }, CAPABILITIES);
  const noted: string[] = [];
  const client = connect(server, { onNotification: (method) => noted.push(method) });
  await client.connect();
  await until(() => noted.length >= 2);
  assert.is(gets, 2);
  assert.equal(noted, ["notifications/tools/list_changed", "notifications/resources/list_changed"]);
  await client.close();
});

for (
  const [what, status] of [["a proxy that has no server", 502], ["a store that is away", 503], [
    "a limit",
    429,
  ]] as const
) {
  test(`the GET stream is opened again after ${what} (${status}), from where it ended`, async () => {
    let gets = 0;
    const server = legacyServer((received, server) => {
      if (received.method !== "GET") return result(received, {});
      gets++;
      if (gets === 2) return new Response(null, { status, headers: { "retry-after": "0" } });
      return server.stream((send, closed) => {
        send(event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }, `e${gets}`));
        return gets === 1 ? undefined : closed;
      });
    }, CAPABILITIES);
    const noted: string[] = [];
    const client = connect(server, { onNotification: (method) => noted.push(method) });
    await client.connect();
    await until(() => noted.length === 2);
    const opened = server.received.filter(({ method }) => method === "GET");
    assert.equal(opened.map(({ headers }) => headers.get("last-event-id")), [null, "e1", "e1"]);
    await client.close();
  });
}

test("a session that ended while its GET stream was lost is begun anew, also when the server is away at first", async () => {
  let gets = 0;
  let isAway = false;
  const server = legacyServer((received, server) => {
    if (received.method !== "GET") return result(received, {});
    gets++;
    if (received.headers.get("mcp-session-id") === "session-1" && gets > 1) {
      isAway = gets === 2;
      return new Response(null, { status: 404 });
    }
    return server.stream((send, closed) => {
      send(event({ jsonrpc: "2.0", method: "notifications/prompts/list_changed" }));
      return gets === 1 ? undefined : closed;
    });
  }, CAPABILITIES);
  const { fetch } = server;
  Object.assign(server, {
    fetch: (url: string, init: RequestInit) =>
      isAway && String(init.body).includes('"initialize"')
        ? Promise.reject(new TypeError("fetch failed"))
        : fetch(url, init),
  });
  const noted: string[] = [];
  const client = connect(server, { onNotification: (method) => noted.push(method) });
  await client.connect();
  await until(() => noted.length >= 4);
  // What changed in the meantime is not known.
  assert.equal(noted.slice().sort(), [
    "notifications/prompts/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/tools/list_changed",
  ]);
  assert.equal(await client.request("ping"), {});
  const last = server.received.filter(({ method }) => method === "GET").at(-1)!;
  assert.is(last.headers.get("mcp-session-id"), "session-2");
  await client.close();
});

test("the pause that a server asks for before the GET stream is opened again is kept", async () => {
  const at: number[] = [];
  const server = legacyServer((received, server) => {
    if (received.method !== "GET") return result(received, {});
    at.push(performance.now());
    return server.stream((send, closed) => {
      send("id: e1\nretry: 700\ndata:\n\n");
      return at.length === 1 ? undefined : closed;
    });
  }, CAPABILITIES);
  const client = connect(server, { onNotification() {} });
  await client.connect();
  await until(() => at.length === 2);
  assert.ok(at[1]! - at[0]! >= 690, "2025-11-25 transports: the client MUST respect the retry field");
  await client.close();
});

test.run();
