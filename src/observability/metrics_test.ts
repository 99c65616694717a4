import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../store/drivers/memory.ts";
import { createRegistry, MAX_LABEL_VALUES } from "./metrics.ts";
import { routeOf } from "./route.ts";
import { createServerMetrics } from "./server_metrics.ts";

const test = suite("observability/metrics");

test("a counter has help, type and one line for each combination of labels", () => {
  const registry = createRegistry();
  const counter = registry.counter("a_total", "What.", ["x", "y"]);
  counter.add(["1", "2"]);
  counter.add(["1", "2"], 2);
  counter.add(['q"\\\n', "2"]);
  assert.is(
    registry.text(),
    '# HELP a_total What.\n# TYPE a_total counter\na_total{x="1",y="2"} 3\na_total{x="q\\"\\\\\\n",y="2"} 1\n',
  );
});

test("the buckets of a histogram are cumulative and end with +Inf", () => {
  const registry = createRegistry();
  const histogram = registry.histogram("a_seconds", "Time.", ["x"]);
  for (const seconds of [0.001, 0.002, 0.3, 60]) histogram.observe(seconds, ["1"]);
  const values = new Map(registry.text().split("\n").map((line) => line.split(" ") as [string, string]));
  assert.is(values.get('a_seconds_bucket{x="1",le="0.001"}'), "1");
  assert.is(values.get('a_seconds_bucket{x="1",le="0.0025"}'), "2");
  assert.is(values.get('a_seconds_bucket{x="1",le="0.25"}'), "2");
  assert.is(values.get('a_seconds_bucket{x="1",le="10"}'), "3");
  assert.is(values.get('a_seconds_bucket{x="1",le="+Inf"}'), "4");
  assert.is(values.get('a_seconds_count{x="1"}'), "4");
  assert.is(Number(values.get('a_seconds_sum{x="1"}')), 60.303);
});

test("values that strangers choose do not become series without end", () => {
  const registry = createRegistry();
  const counter = registry.counter("a_total", "What.", ["x"]);
  for (let i = 0; i < 10 * MAX_LABEL_VALUES; i++) counter.add([`value ${i}`]);
  const lines = registry.text().trim().split("\n").slice(2);
  assert.is(lines.length, MAX_LABEL_VALUES + 1);
  assert.is(lines.at(-1), `a_total{x="other"} ${9 * MAX_LABEL_VALUES}`);
});

test("a gauge is read for each scrape", () => {
  const registry = createRegistry();
  let value = 1;
  registry.gauge("a_bytes", "Size.", () => value);
  value = 7;
  assert.match(registry.text(), /^a_bytes 7$/m);
});

test("routes are those of the server, and the rest is one", () => {
  assert.is(routeOf("/oauth/token", ""), "/oauth/token");
  assert.is(routeOf("/a/oauth/token", "/a"), "/oauth/token");
  assert.is(routeOf("/v1/skills/skill_1/versions", ""), "/v1/skills/*");
  assert.is(routeOf("/oauth/register/client_1", ""), "/oauth/register/:client");
  assert.is(routeOf("/.well-known/oauth-authorization-server", ""), "/.well-known/*");
  for (const path of ["/admin", "/oauth/form_post.js"]) assert.is(routeOf(path, ""), path);
  assert.is(routeOf("/wp-login.php", ""), "other");
});

test("tokens are counted by grant, and refusals by grant and error", () => {
  const metrics = createServerMetrics();
  metrics.onEvent({ type: "token_issued", grant_type: "authorization_code", client: "a" });
  for (const client of ["a", "b"]) {
    metrics.onEvent({ type: "token_refused", grant_type: "refresh_token", client, error: "invalid_grant" });
  }
  metrics.onEvent({ type: "client_refused", client: "a", reason: "Client authentication failed" });
  const text = metrics.registry.text();
  assert.match(text, /^trivet_tokens_issued_total\{grant_type="authorization_code"\} 1$/m);
  assert.match(text, /^trivet_tokens_refused_total\{grant_type="refresh_token",error="invalid_grant"\} 2$/m);
  assert.match(text, /^trivet_tokens_refused_total\{grant_type="unknown",error="invalid_client"\} 1$/m);
});

test("throttles are counted by route, and rate limits by limit, each request of an event", () => {
  const metrics = createServerMetrics("/base");
  const outcome = { id: "1", method: "POST", milliseconds: 1 };
  metrics.onRequest({ ...outcome, path: "/base/login", status: 429 });
  metrics.onRequest({ ...outcome, path: "/base/login", status: 200 });
  for (let i = 0; i < 500; i++) metrics.onRequest({ ...outcome, path: `/made/up/${i}`, status: 429 });
  metrics.onEvent({ type: "rate_limited", scope: "client", limit: "client", client: "a", count: 40 });
  metrics.onEvent({ type: "rate_limited", scope: "client", limit: "client", client: "b", count: 2 });
  const lines = metrics.registry.text().split("\n").filter((line) => /^trivet_(throttled|rate)/.test(line));
  assert.equal(lines, [
    'trivet_throttled_total{route="/login"} 1',
    'trivet_throttled_total{route="other"} 500',
    'trivet_rate_limited_total{limit="client",scope="client"} 42',
  ]);
});

test("methods that strangers make up are counted as one", () => {
  const metrics = createServerMetrics();
  const outcome = { id: "1", path: "/", status: 405, milliseconds: 1 };
  for (let i = 0; i < 500; i++) metrics.onRequest({ ...outcome, method: `MADE-UP-${i}` });
  metrics.onRequest({ ...outcome, method: "PATCH" });
  const lines = metrics.registry.text().split("\n").filter((line) => /^trivet_requests/.test(line));
  assert.equal(lines, [
    'trivet_requests_total{method="other",route="/",status="405"} 500',
    'trivet_requests_total{method="PATCH",route="/",status="405"} 1',
  ]);
});

test("MCP calls are counted by tool, parts of skills by level", () => {
  const metrics = createServerMetrics();
  const call = { type: "tool_called", name: "add", principal: "u", failed: false } as const;
  metrics.onEvent(call);
  // Counted when it ends.
  metrics.onEvent({ ...call, outcome: "input_required" });
  const skill = { workspace: undefined, id: "s", name: "n", version: "1", tokens: 9, via: "mcp" } as const;
  metrics.onEvent({ type: "skill_disclosed", level: 2, ...skill });
  const text = metrics.registry.text();
  assert.match(text, /^trivet_tool_calls_total\{tool="add",failed="false"\} 1$/m);
  assert.match(text, /^trivet_skill_disclosures_total\{level="2",via="mcp"\} 1$/m);
});

test("connections to upstreams are counted by their outcome", () => {
  const metrics = createServerMetrics();
  metrics.onEvent({ type: "connection_added", user: "u", upstream: "github" });
  metrics.onEvent({ type: "connection_failed", user: "u", upstream: "github", reason: "access_denied" });
  metrics.onEvent({ type: "connection_removed", user: "u", upstream: "github" });
  const text = metrics.registry.text();
  for (const outcome of ["added", "removed", "access_denied"]) {
    assert.ok(text.includes(`trivet_upstream_connections_total{upstream="github",outcome="${outcome}"} 1`));
  }
});

test("calls of the store are timed, and their failures counted", async () => {
  const metrics = createServerMetrics();
  const memory = memoryStore();
  memory.list = () => Promise.reject(new Error("down"));
  const store = metrics.measureStore(memory);
  await store.commit({ set: [{ key: ["a"], value: 1 }] });
  assert.is((await store.get(["a"]))?.value, 1);
  await store.list(["a"]).then(() => assert.unreachable(), () => {});
  const text = metrics.registry.text();
  assert.match(text, /^trivet_store_seconds_count\{operation="get"\} 1$/m);
  assert.match(text, /^trivet_store_seconds_count\{operation="commit"\} 1$/m);
  assert.match(text, /^trivet_store_errors_total\{operation="list"\} 1$/m);
  await memory.close();
});

test.run();
