import { suite } from "uvu";
import * as assert from "uvu/assert";
import { TokenRefusal } from "../../http/bearer.ts";
import type { Principal } from "../../http/principal.ts";
import { tool } from "../definition/define.ts";
import { newServer, READER, request } from "../test_server.ts";
import { createSseHandlers } from "./http_sse.ts";
import { openSse } from "./test_sse.ts";

const test = suite("mcp/http/held_back");
const HELD_MS = 1100;
const CALL = request("tools/call", { name: "change" });
const NOTE = { jsonrpc: "2.0", method: "notifications/initialized" };
const sse = createSseHandlers;

/** A server with a caller whose token is revoked by `revoke`, and the number of calls that its tool got. */
function newGuarded() {
  let isValid = true;
  let expires: number | undefined;
  let calls = 0;
  const identify = (): Promise<Principal | TokenRefusal> =>
    Promise.resolve(
      isValid && (expires === undefined || expires > Date.now())
        ? {
          ...READER,
          ...(expires !== undefined && { expires }),
          isStillValid: () => Promise.resolve(isValid),
        }
        : new TokenRefusal("invalid_token", "The access token is unknown, expired or revoked"),
    );
  const definitions = [tool({ name: "change", description: "Changes", run: () => String(++calls) })];
  const { server } = newServer({ auth: "required", identify, definitions, sse });
  return {
    server,
    calls: () => calls,
    revoke: () => void (isValid = false),
    expire: () => void (expires = Date.now() + HELD_MS / 2),
  };
}

/** A request whose body arrives after `hold`. */
function held(path: string, body: unknown, hold: () => Promise<void>): Request {
  const stream = new ReadableStream({
    async pull(controller) {
      await hold();
      controller.enqueue(new TextEncoder().encode(JSON.stringify(body)));
      controller.close();
    },
  }, { highWaterMark: 0 });
  return new Request(`http://127.0.0.1:8787${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: "Bearer a",
      "mcp-protocol-version": "2025-11-25",
    },
    body: stream,
    duplex: "half",
  } as RequestInit);
}

const wait = () => new Promise<void>((resolve) => setTimeout(resolve, HELD_MS));

for (const [what, body] of Object.entries({ "a call": CALL, "a batch": [CALL], "a notification": NOTE })) {
  test(`a token that is revoked while the body of ${what} is held back is refused`, async () => {
    const { server, calls, revoke } = newGuarded();
    const response = await server.fetch(held("/mcp", body, () => (revoke(), wait())));
    assert.is(response.status, 401);
    assert.match(response.headers.get("www-authenticate")!, 'error="invalid_token"');
    assert.is(calls(), 0);
  });
}

test("so is one that expires meanwhile, and a token that stays valid is not", async () => {
  const { server, calls, expire } = newGuarded();
  assert.is((await server.fetch(held("/mcp", CALL, wait))).status, 200);
  expire();
  assert.is((await server.fetch(held("/mcp", CALL, wait))).status, 401);
  assert.is(calls(), 1);
});

test("so is one of HTTP+SSE, whose message is not accepted", async () => {
  const { server, calls, revoke } = newGuarded();
  const { path, events } = await openSse(server);
  const response = await server.fetch(held(path, CALL, () => (revoke(), wait())));
  assert.is(response.status, 401);
  assert.is(calls(), 0);
  await events.cancel();
});

test.run();
