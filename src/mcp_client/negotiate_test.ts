/**
 * Which revision is found, over HTTP and stdio, with servers that know only some.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createMcpClient } from "./create_client.ts";
import { negotiate } from "./negotiate.ts";
import {
  failure,
  json,
  legacyServer,
  methodNotFound,
  type Received,
  result,
  type ScriptedProcess,
  scriptedProcess,
  type ScriptedServer,
  scriptedServer,
  URL_OF_TESTS,
} from "./test_servers.ts";
import { httpTransport } from "./transports/http_transport.ts";
import { processTransport } from "./transports/process_transport.ts";
import { completeLimits } from "./limits.ts";
import { Wire } from "./wire.ts";

const test = suite("mcp client/negotiation");

const overHttp = (server: ScriptedServer, revision?: string) =>
  createMcpClient({
    transport: httpTransport({ url: URL_OF_TESTS, fetch: server.fetch }),
    name: "t",
    version: "1",
    revision,
  });
const overStdio = (script: ScriptedProcess, revision?: string) =>
  createMcpClient({ transport: processTransport(script), name: "t", version: "1", revision });

const methods = (received: readonly { method?: unknown; message?: { method: string } }[]) =>
  received.map((each) => each.message?.method ?? each.method);

const handshake = (revision: string) => ({ protocolVersion: revision, capabilities: {}, serverInfo: {} });
const error = (id: unknown, code: number, data?: unknown) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message: "no", data },
});

test("what an older server answers to server/discover over HTTP leads to initialize", async () => {
  const answers: ((received: Received) => Response)[] = [
    ({ message }) => json(methodNotFound(message.id)),
    ({ message }) => json(methodNotFound(message.id), 404),
    () => json(error(null, -32000), 400),
    () => new Response("no session", { status: 400 }),
    () => new Response(null, { status: 404 }),
    () => new Response(null, { status: 406 }),
    () => new Response(null, { status: 202 }),
    () => new Response("fault", { status: 500 }),
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    (received) => result(received, { unexpected: true }),
  ];
  for (const [index, answer] of answers.entries()) {
    const server = scriptedServer((received) => {
      const { method, id } = received.message;
      if (method === "server/discover") return answer(received);
      return id === undefined
        ? new Response(null, { status: 202 })
        : result(received, handshake("2025-06-18"));
    });
    assert.is((await overHttp(server).connect()).revision, "2025-06-18", `answer ${index}`);
    assert.equal(methods(server.received), ["server/discover", "initialize", "notifications/initialized"]);
  }
});

test("what says nothing about the revision does not lead to initialize", async () => {
  for (const status of [401, 403, 429, 502, 503, 504]) {
    const server = scriptedServer(() => new Response(null, { status }));
    assert.is((await failure(overHttp(server).connect())).status, status);
    assert.equal(methods(server.received), ["server/discover"]);
  }
  for (const code of [-32020, -32021]) {
    const server = scriptedServer(({ message }) => json(error(message.id, code), 400));
    assert.is((await failure(overHttp(server).connect())).code, code);
  }
});

test("the revisions that a server lists decide", async () => {
  const listed = (versions: unknown, how: "result" | "error") =>
    scriptedServer((received) => {
      const { method, id, params } = received.message;
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === "initialize") return result(received, handshake(params.protocolVersion));
      return how === "error"
        ? json(error(id, -32022, { supported: versions }), 400)
        : result(received, { resultType: "complete", supportedVersions: versions, capabilities: {} });
    });
  for (const how of ["result", "error"] as const) {
    const server = listed(["2024-11-05", "2025-06-18", "2099-01-01"], how);
    assert.is((await overHttp(server).connect()).revision, "2025-06-18");
    assert.is((await failure(overHttp(listed(["2099-01-01"], how)).connect())).reason, "unsupported");
  }
  assert.is(
    (await overHttp(listed(["2099-01-01", "2026-07-28"], "result")).connect()).revision,
    "2026-07-28",
  );
  // A server that refuses the revision that it lists is of 2026-07-28.
  assert.is((await failure(overHttp(listed(["2026-07-28"], "error")).connect())).code, -32022);
});

test("a revision that the client does not know ends the handshake", async () => {
  for (const protocolVersion of ["1999-12-31", "2026-07-28", 5, undefined]) {
    const server = scriptedServer((received) =>
      received.message.method === "initialize"
        ? result(received, { ...handshake(""), protocolVersion })
        : json(methodNotFound(received.message.id))
    );
    const client = overHttp(server);
    assert.is((await failure(client.connect())).reason, "unsupported");
    assert.is(client.connection, undefined);
  }
});

test("the revision of an earlier connection is tried first", async () => {
  const server = legacyServer((received) => result(received, {}));
  assert.is((await overHttp(server, "2025-03-26").connect()).revision, "2025-03-26");
  assert.equal(methods(server.received).slice(0, 2), ["initialize", "notifications/initialized"]);
});

test("a failed connect can be repeated, and concurrent ones are one", async () => {
  let isUp = false;
  const server = legacyServer((received) => result(received, {}));
  const fetch = (url: string, init: RequestInit) =>
    isUp ? server.fetch(url, init) : Promise.reject(new TypeError("down"));
  const client = createMcpClient({
    transport: httpTransport({ url: URL_OF_TESTS, fetch }),
    name: "t",
    version: "1",
  });
  assert.is((await failure(client.connect())).reason, "unreachable");
  isUp = true;
  const [a, b] = await Promise.all([client.connect(), client.connect(), client.request("ping")]);
  assert.is(a, b);
  assert.is(methods(server.received).filter((method) => method === "initialize").length, 1);
});

/** A process of an older revision, which treats `server/discover` in its own way. */
const olderProcess = (onDiscover: (script: ScriptedProcess, id: unknown) => void) =>
  scriptedProcess(({ method, id }, script) => {
    if (method === "server/discover") onDiscover(script, id);
    else if (method === "initialize") {
      script.send(`${JSON.stringify({ jsonrpc: "2.0", id, result: handshake("2025-11-25") })}\n`);
    }
  });

test("a process of an older revision is used by its handshake", async () => {
  for (const code of [-32601, -32602, -32000]) {
    const script = olderProcess((script, id) => script.send(`${JSON.stringify(error(id, code))}\n`));
    assert.is((await overStdio(script).connect()).revision, "2025-11-25");
    assert.is(script.starts, 1);
  }
});

test("a process that ends at server/discover is started once more, for its handshake", async () => {
  const script = olderProcess((script) => script.exit());
  assert.is((await overStdio(script).connect()).revision, "2025-11-25");
  assert.is(script.starts, 2);
  const always = scriptedProcess((_, script) => script.exit("exited with code 3"));
  const failed = await failure(overStdio(always).connect());
  assert.equal([failed.reason, failed.message], ["closed", "scripted: exited with code 3"]);
  assert.is(always.starts, 2);
});

/** Negotiates with a process, with a short wait for `server/discover`. */
async function probe(script: ScriptedProcess) {
  const transport = processTransport(script);
  const limits = completeLimits({ timeout: 5000 });
  const wire = new Wire({ transport, name: "t", version: "1" }, limits, transport, () => {});
  wire.channel = await transport.open(wire, undefined, new AbortController().signal);
  const negotiated = await negotiate(wire, {}, undefined, {}, 5).finally(() => wire.channel.close());
  wire.end(new Error("over"));
  return negotiated;
}

test("a process that ignores server/discover is used by its handshake", async () => {
  assert.is((await probe(olderProcess(() => {}))).revision, "2025-11-25");
});

test("a slow process of 2026-07-28 is used by its late answer", async () => {
  let discover: unknown;
  const script = scriptedProcess(({ method, id }, script) => {
    if (method === "server/discover") discover = id;
    if (method !== "initialize") return;
    script.send(`${JSON.stringify(error(id, -32022, { supported: ["2026-07-28"] }))}\n`);
    const found = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} };
    script.send(`${JSON.stringify({ jsonrpc: "2.0", id: discover, result: found })}\n`);
  });
  assert.is((await probe(script)).revision, "2026-07-28");
});

test.run();
