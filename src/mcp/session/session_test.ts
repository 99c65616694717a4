import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decodeBase64url } from "../../crypto/base64url.ts";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { signText } from "../../crypto/signed_text.ts";
import { tool } from "../definition/define.ts";
import { client, session } from "../test_exchange.ts";
import { DEFINITIONS, newServer, pair } from "../test_server.ts";

const test = suite("mcp/session");

test("initialize returns a session id that every instance accepts until DELETE", async () => {
  const [a, b] = pair();
  const { id, request, other } = await session(a, {}, b);
  assert.match(id, /^[\x21-\x7e]+$/);
  assert.is((await request("tools/list")).status, 200);
  const ended = await other("DELETE");
  assert.is(ended.status, 204);
  for (const server of [a, b]) {
    const { status, answer } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, {
      "mcp-session-id": id,
      accept: "application/json, text/event-stream",
    });
    assert.is(status, 404);
    assert.is(answer.error.code, -32001);
  }
  assert.is((await other("DELETE")).status, 404);
  assert.is((await other("GET")).status, 404);
});

test("an instance that did not start the session knows what the client said of itself", async () => {
  const who = tool({
    name: "who",
    description: "Who",
    run: (_, { clientInfo }) => JSON.stringify(clientInfo),
  });
  const [a, b] = pair([who]);
  const both = { accept: "application/json, text/event-stream" };
  for (
    const clientInfo of [
      { name: "c", version: "1" },
      { name: "claude-code", version: "2.0.14" },
      { name: "a.b", version: "..1" },
      { name: "", version: "..1" },
      { name: "Visual Studio Code", version: "1.0" },
      { name: "ü \ud800 \u{1d11e}", version: "" },
      { name: "" },
      { version: "1" },
      {},
    ]
  ) {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const { headers } = await client(a).send({ jsonrpc: "2.0", id: 1, method: "initialize", params }, both);
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "who" } };
    const { answer } = await client(b).send(call, { "mcp-session-id": headers.get("mcp-session-id")! });
    assert.equal(JSON.parse(answer.result.content[0].text), clientInfo);
  }
});

test("a session continues with a clock that has fractions of milliseconds", async () => {
  const [a, b] = pair(DEFINITIONS, { now: () => 1_780_000_000_000.25 });
  const { request, other } = await session(a, {}, b);
  assert.is((await request("tools/list")).status, 200);
  assert.is((await other("DELETE")).status, 204);
});

test("GET and DELETE with an unsupported revision get 400, and the session continues", async () => {
  const { request, other } = await session(newServer({}).server);
  for (const version of ["1999-01-01", "2025-11-25, 2025-11-25", "newest"]) {
    for (const method of ["GET", "DELETE"] as const) {
      assert.is(
        (await other(method, { "mcp-protocol-version": version })).status,
        400,
        `${method} ${version}`,
      );
    }
  }
  assert.is((await request("tools/list")).status, 200);
});

test("a changed, invented or expired session id gets 404", async () => {
  let now = Date.now();
  const { server } = newServer({ now: () => now });
  const { id } = await session(server);
  const ask = async (id: string) =>
    (await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-session-id": id })).status;
  assert.is(await ask(id), 200);
  for (
    const changed of [
      "x",
      "",
      id.slice(1),
      id + "A",
      id.replace(/.$/, (last) => last === "A" ? "B" : "A"),
      "A".repeat(9000),
    ]
  ) {
    assert.is(await ask(changed), 404, changed.slice(0, 20));
  }
  now += 3_600_001;
  assert.is(await ask(id), 404);
});

test("a session ends when the secret that signed its id is no longer accepted, also where it was seen before", async () => {
  const [old, next] = [1, 2].map((byte) => soleSecret(new Uint8Array(32).fill(byte)));
  let secrets = old!;
  const { server } = newServer({ secret: () => secrets });
  const own = await session(server);
  assert.is((await own.request("ping")).status, 200);
  secrets = { ...next!, accepted: [...next!.accepted, ...old!.accepted] };
  assert.is((await own.request("ping")).status, 200);
  secrets = next!;
  assert.is((await own.request("ping")).status, 404);
  const later = await session(server);
  assert.is((await later.request("ping")).status, 200);
});

test("an id of an earlier format gets 404 without a fault, although its signature is valid", async () => {
  const secrets = soleSecret(new Uint8Array(32).fill(3));
  const { server, events } = newServer({ secret: () => secrets });
  const both = { accept: "application/json, text/event-stream" };
  const expires = Date.now() + 3_600_000;
  const session = {
    id: "i",
    revision: "2025-11-25",
    capabilities: {},
    clientInfo: {},
    principal: "",
    expires,
  };
  const ids = [
    signText(secrets, "session", JSON.stringify(session)),
    signText(secrets, "session_2", JSON.stringify(["i", expires, "", "2025-11-25", {}, "c", "1"])),
  ];
  for (const id of ids) {
    const { status, answer } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, {
      ...both,
      "mcp-session-id": id,
    });
    assert.is(status, 404);
    assert.is(answer.error.code, -32001);
  }
  assert.equal(events.filter(({ type }) => type === "fault"), []);
});

test("another instance reads the same capabilities from the id", async () => {
  const FEATURES = [
    "elicitation",
    "elicitation.url",
    "sampling",
    "sampling.tools",
    "sampling.context",
    "roots",
  ] as const;
  const features = tool({
    name: "features",
    description: "Features",
    run: (_, { can }) => JSON.stringify(FEATURES.filter((feature) => can(feature))),
  });
  const [a, b] = pair([features]);
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "features" } };
  for (
    const capabilities of [
      {},
      { roots: {} },
      { elicitation: {} },
      { elicitation: { url: {} }, sampling: {} },
      {
        elicitation: { form: {}, url: {} },
        sampling: { tools: {}, context: {} },
        roots: { listChanged: true },
      },
      { elicitation: 1, sampling: null, other: {} },
    ]
  ) {
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "c", version: "1" } };
    const both = { accept: "application/json, text/event-stream" };
    const { headers } = await client(a).send({ jsonrpc: "2.0", id: 1, method: "initialize", params }, both);
    const answers = [];
    for (const server of [a, b]) {
      const { answer } = await client(server).send(call, {
        "mcp-session-id": headers.get("mcp-session-id")!,
      });
      answers.push(answer.result.content[0].text);
    }
    assert.is(answers[0], answers[1], JSON.stringify(capabilities));
  }
});

test("a session is bound to its caller, and an anonymous one may continue with a token", async () => {
  const { server } = newServer();
  const reader = { authorization: "Bearer reader" };
  const own = await session(server, { headers: reader });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  assert.is((await own.send(ping)).status, 200);
  assert.is((await own.send(ping, { authorization: "Bearer writer" })).status, 404);
  assert.is((await client(server).send(ping, { "mcp-session-id": own.id })).status, 404);
  const anonymous = await session(server);
  assert.is((await anonymous.send(ping, reader)).status, 200);
  assert.not.match(own.id, /reader/);
  for (const part of own.id.split(".")) {
    const bytes = decodeBase64url(part);
    if (bytes) assert.not.match(new TextDecoder().decode(bytes), /reader/);
  }
});

test("a session keeps its negotiated revision, and plain callers get no session", async () => {
  const { server } = newServer();
  for (const revision of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
    const { result, id } = await session(server, { revision });
    assert.is(result.protocolVersion, revision);
    const { headers } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, {
      "mcp-session-id": id,
    });
    assert.is(headers.get("mcp-protocol-version"), revision);
  }
  const { id } = await session(server);
  const { headers: fields } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" }, {
    "mcp-session-id": id,
    "mcp-protocol-version": "2025-03-26",
  });
  assert.is(fields.get("mcp-protocol-version"), "2025-11-25", "the negotiated revision applies");
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const { headers } = await client(server).send({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  assert.is(headers.get("mcp-session-id"), null);
});

test.run();
