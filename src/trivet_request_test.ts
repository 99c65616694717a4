import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RequestOutcome } from "./observability/request_outcome.ts";
import { memoryStore } from "./store/drivers/memory.ts";
import { createTrivet } from "./trivet.ts";

const test = suite("trivet/request");
const ISSUER = "http://127.0.0.1:8787";
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

function newTrivet() {
  const outcomes: RequestOutcome[] = [];
  const trivet = createTrivet({
    issuer: ISSUER,
    store: memoryStore(),
    trustedProxies: ["10.0.0.1"],
    onRequest: (outcome) => outcomes.push(outcome),
  });
  const send = (path: string, init?: RequestInit) =>
    trivet.fetch(new Request(ISSUER + path, init), { ip: "10.0.0.1" });
  return { send, outcomes };
}

test("each response of every service has an id, and the observer gets what became of its request", async () => {
  const { send, outcomes } = newTrivet();
  const init = { headers: { "x-forwarded-for": "192.0.2.7" } };
  const paths = [
    ["/", 200],
    ["/login", 200],
    ["/.well-known/oauth-authorization-server", 200],
    ["/oauth/authorize", 400],
    ["/v1/skills", 401],
    ["/mcp", 405],
    ["/nothing", 404],
  ] as const;
  for (const [path, status] of paths) {
    const response = await send(path, init);
    const { milliseconds, ...outcome } = outcomes.at(-1)!;
    const id = response.headers.get("x-request-id")!;
    assert.equal(outcome, { id, method: "GET", path, status, ip: "192.0.2.7" });
    assert.ok(milliseconds >= 0);
  }
  assert.is(new Set(outcomes.map(({ id }) => id)).size, paths.length);
});

test("an outcome has no query, no header field and no body of the request", async () => {
  const { send, outcomes } = newTrivet();
  await send("/oauth/authorize?client_id=x&code=secret-1", { headers: { authorization: "Bearer secret-2" } });
  await send("/oauth/token", { method: "POST", body: new URLSearchParams({ client_secret: "secret-3" }) });
  assert.not.match(JSON.stringify(outcomes), "secret");
});

test("a long path is cut", async () => {
  const { send, outcomes } = newTrivet();
  await send("/" + "a".repeat(5000));
  assert.is(outcomes[0]!.path.length, 200);
});

test("the trace id of a valid traceparent is passed on", async () => {
  const { send, outcomes } = newTrivet();
  const fields: readonly (readonly [string, string | undefined])[] = [
    [`00-${TRACE}-00f067aa0ba902b7-01`, TRACE],
    [`cc-${TRACE}-00f067aa0ba902b7-01-later`, TRACE],
    [`00-${"0".repeat(32)}-00f067aa0ba902b7-01`, undefined],
    [`00-${TRACE}-0000000000000000-01`, undefined],
    [`00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
    ["anything", undefined],
  ];
  for (const [traceparent, trace] of fields) {
    await send("/", { headers: { traceparent } });
    assert.is(outcomes.at(-1)!.trace, trace, traceparent);
  }
});

test("without an observer a response has no id", async () => {
  const trivet = createTrivet({ issuer: ISSUER, store: memoryStore() });
  assert.is((await trivet.fetch(new Request(ISSUER + "/"))).headers.get("x-request-id"), null);
});

test.run();
