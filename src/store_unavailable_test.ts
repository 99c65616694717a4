import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "./events.ts";
import { secretDigest } from "./crypto/secret.ts";
import { memoryStore } from "./store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "./store/store.ts";
import { createTrivet } from "./trivet.ts";

const test = suite("store unavailable");

const ISSUER = "http://127.0.0.1:8787";
const down = () => Promise.reject(new StoreUnavailableError("secret engine address", { retryAfter: 7 }));

/** Trivet on a store that is unavailable until `recover()`. */
async function setUp() {
  const inner = memoryStore();
  let isDown = true;
  const store: Store = {
    guarantees: inner.guarantees,
    // The API key stays readable, so that requests with it fail at a later read.
    get: (key) => isDown && key[1] !== KEY_DIGEST ? down() : inner.get(key),
    list: (prefix, options) => isDown ? down() : inner.list(prefix, options),
    commit: (commit) => isDown ? down() : inner.commit(commit),
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  const key = { id: "k", name: "k", workspace: "default", scopes: ["skills:write"], created: 0 };
  await inner.commit({ set: [{ key: ["api_key", KEY_DIGEST], value: key }] });
  const events: TrivetEvent[] = [];
  const trivet = createTrivet({ issuer: ISSUER, store, onEvent: (event) => events.push(event) });
  const send = (path: string, init?: RequestInit) => trivet.fetch(new Request(ISSUER + path, init));
  return { send, events, recover: () => void (isDown = false) };
}

const form = (fields: Record<string, string>): RequestInit => ({
  method: "POST",
  body: new URLSearchParams(fields),
});
const rpc = (method: string, params: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
});
const KEY_DIGEST = secretDigest("trivet_key_good");
const good = { "x-api-key": "trivet_key_good" };
const token = { authorization: "Bearer trivet_at_x" };

const REQUESTS: readonly [string, string, RequestInit?][] = [
  ["the token endpoint", "/oauth/token", form({ grant_type: "client_credentials", client_id: "a" })],
  ["user info", "/api/user", { headers: token }],
  ["login", "/login", form({ username: "a", password: "b" })],
  ["an authorization request", "/oauth/authorize?response_type=code&client_id=a"],
  ["the key set", "/.well-known/jwks.json"],
  ["the Skills service", "/v1/skills", { headers: { "x-api-key": "trivet_key_x" } }],
  ["a tool call that authenticates", "/mcp", rpc("tools/list", {}, token)],
  [
    "a tool that reads the store",
    "/mcp",
    rpc("tools/call", { name: "load_skill", arguments: { name: "x" } }, good),
  ],
  ["a resource of the store", "/mcp", rpc("resources/read", { uri: "skill://skill_01/x/SKILL.md" }, good)],
  ["the Skills service with a good key", "/v1/skills", { headers: good }],
];

for (const [name, path, init] of REQUESTS) {
  test(`${name} gets 503 with Retry-After while the store is unavailable`, async () => {
    const { send, events, recover } = await setUp();
    const response = await send(path, init);
    assert.is(response.status, 503);
    assert.is(response.headers.get("retry-after"), "7");
    const text = await response.text();
    assert.not.match(text, "secret engine");
    const reported = events.map(({ type }) => type).filter((type) => type !== "tool_called");
    assert.equal(reported, ["store_unavailable"]);
    recover();
    const after = await send(path, init);
    assert.is.not(after.status, 503);
    await after.body?.cancel();
  });
}

test("the error has the format of each protocol", async () => {
  const { send } = await setUp();
  const oauth = await send("/oauth/token", form({ grant_type: "client_credentials", client_id: "a" }));
  const { error_description, ...rest } = await oauth.json();
  assert.equal(rest, { error: "temporarily_unavailable" });
  assert.ok(error_description);
  const skills = await send("/v1/skills", { headers: { "x-api-key": "trivet_key_x" } });
  const { request_id, error: { message, ...error }, ...envelope } = await skills.json();
  assert.equal([envelope, error], [{ type: "error" }, { type: "overloaded_error" }]);
  assert.ok(message);
  assert.match(request_id, /^req_/);
  const mcp = await send("/mcp", rpc("tools/list", {}, token));
  const answer = await mcp.json();
  assert.ok(answer.error.message);
  delete answer.error.message;
  assert.equal(answer, { jsonrpc: "2.0", id: null, error: { code: -32000, data: { retryAfter: 7 } } });
});

test.run();
