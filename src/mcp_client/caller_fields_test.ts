/**
 * Header fields of callers: their credentials, and what follows a refusal.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { connect, failure, modernServer, result, scriptedServer } from "./test_servers.ts";

const test = suite("mcp client/caller_fields");
const TEXT = { content: [{ type: "text", text: "ok" }] };
const call = { name: "t", arguments: {} };

test("each caller's header fields go with its requests, and are renewed once after a refusal", async () => {
  const server = modernServer((received) => {
    if (received.headers.get("authorization") === "Bearer old-b") {
      return new Response(null, {
        status: 401,
        headers: { "www-authenticate": 'Bearer error="invalid_token"' },
      });
    }
    return result(received, TEXT);
  });
  const tokens: Record<string, string> = { a: "new-a", b: "old-b" };
  const refusals: unknown[] = [];
  const client = connect(server, {}, {
    headers: (caller) => Promise.resolve({ authorization: `Bearer ${tokens[String(caller)]}` }),
    onRefused: (caller, { status, challenge, used }) => {
      refusals.push([caller, status, challenge, used.authorization]);
      tokens.b = "new-b";
      return Promise.resolve(true);
    },
  });
  await client.connect({ caller: "a" });
  assert.equal(
    await Promise.all(["a", "b"].map((caller) => client.request("tools/call", call, { caller }))),
    [TEXT, TEXT],
  );
  assert.equal(refusals, [["b", 401, 'Bearer error="invalid_token"', "Bearer old-b"]]);
  const sent = server.received.filter(({ message }) => message.method === "tools/call").map(({ headers }) =>
    headers.get("authorization")
  );
  assert.equal(sent.sort(), ["Bearer new-a", "Bearer new-b", "Bearer old-b"]);
});

test("a credential that no header field can have is not in the error, nor in its cause", async () => {
  const server = scriptedServer(() => new Response(null, { status: 404 }));
  const fetch = async (url: string, init: RequestInit) =>
    await server.fetch(url, { ...init, headers: new Headers(init.headers) });
  const client = connect(server, {}, { fetch, headers: { authorization: "Bearer secret\n-token" } });
  const error = await failure(client.connect());
  assert.equal([error.reason, error.mayHaveRun, error.cause], ["unreachable", false, undefined]);
  assert.not.match(error.message, "secret");
});

test("a refusal that stays is reported with its challenge, and fields cannot replace those of the protocol", async () => {
  const server = scriptedServer(() =>
    new Response(null, { status: 403, headers: { "www-authenticate": "Bearer scope=x" } })
  );
  const client = connect(server, {}, {
    headers: { authorization: "Bearer a", accept: "text/plain" },
    onRefused: () => Promise.resolve(true),
  });
  const error = await failure(client.connect());
  assert.equal([error.reason, error.status, error.challenge, error.mayHaveRun], [
    "refused",
    403,
    "Bearer scope=x",
    false,
  ]);
  assert.equal(
    server.received.map(({ headers }) => headers.get("accept")),
    Array(2).fill("application/json, text/event-stream"),
  );
  assert.not.match(String(error), /Bearer a/);
});

test("what the source of header fields throws reaches the request unchanged", async () => {
  const reason = new Error("connect first");
  const client = connect(modernServer((received) => result(received, TEXT)), {}, {
    headers: (caller) => {
      if (caller === "b") throw reason;
      return {};
    },
  });
  await client.connect();
  assert.is(await failure(client.request("tools/call", call, { caller: "b" })), reason);
  assert.equal(await client.request("tools/call", call, { caller: "a" }), TEXT);
});

test.run();
