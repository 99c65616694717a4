import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "./mcp/definition/define.ts";
import { modernHeaders, modernParams } from "./mcp/test_exchange.ts";
import { createTestTelemetry } from "./observability/opentelemetry/test_telemetry.ts";
import type { RequestOutcome } from "./observability/request_outcome.ts";
import { oidc } from "./sign_in.ts";
import { memoryStore } from "./store/drivers/memory.ts";
import type { TraceContext } from "./http/telemetry.ts";
import { createTrivet } from "./trivet.ts";

const test = suite("trivet/telemetry");
const ISSUER = "https://agents.example:8443/base";
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;
const META_TRACE = "0af7651916cd43dd8448eb211c80319c";
const META_PARENT = "b7ad6b7169203331";

function newServer() {
  const kit = createTestTelemetry();
  const outcomes: RequestOutcome[] = [];
  const seen: (TraceContext | undefined)[] = [];
  const trivet = createTrivet({
    issuer: ISSUER,
    store: memoryStore(),
    telemetry: kit.telemetry,
    onRequest: (outcome) => outcomes.push(outcome),
    mcp: {
      auth: "off",
      sse: true,
      tools: [
        tool({
          name: "add",
          description: "",
          input: { type: "object" },
          run: (_, { trace }) => void seen.push(trace),
        }),
        tool({
          name: "fail",
          description: "",
          run() {
            throw new Error("the password is hunter2");
          },
        }),
        tool({
          name: "ask",
          description: "",
          run: async (_, call) =>
            (await call.elicit({ message: "Which?", schema: { type: "object", properties: {} } })).action,
        }),
      ],
    },
  });
  const send = (path: string, init?: RequestInit) =>
    trivet.fetch(new Request(ISSUER + path, init), { ip: "192.0.2.1" });
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    send("/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  return { ...kit, trivet, send, post, outcomes, seen };
}

const request = (method: string, params?: unknown, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;

test("a request has a server span with the attributes of the conventions, and a duration", async () => {
  const { send, takeSpans, readMetric } = newServer();
  await send("/oauth/token?code=secret", {
    method: "POST",
    headers: { "user-agent": "test/1", authorization: "Basic c2VjcmV0" },
  });
  const [span] = takeSpans();
  assert.is(span!.name, "POST /base/oauth/token");
  assert.is(span!.kind, SpanKind.SERVER);
  assert.equal(span!.attributes, {
    "http.request.method": "POST",
    "url.scheme": "https",
    "http.route": "/base/oauth/token",
    "server.address": "agents.example",
    "server.port": 8443,
    "url.path": "/base/oauth/token",
    "client.address": "192.0.2.1",
    "user_agent.original": "test/1",
    "http.response.status_code": 400,
  });
  assert.is(span!.status.code, SpanStatusCode.UNSET);
  const [point] = await readMetric("http.server.request.duration");
  assert.equal(point!.attributes, {
    "http.request.method": "POST",
    "url.scheme": "https",
    "http.route": "/base/oauth/token",
    "http.response.status_code": 400,
  });
  assert.equal(point!.boundaries, [
    0.005,
    0.01,
    0.025,
    0.05,
    0.075,
    0.1,
    0.25,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
  ]);
});

test("paths and methods that strangers make up are neither names of spans nor series", async () => {
  const { trivet, takeSpans, readMetric } = newServer();
  for (let i = 0; i < 5; i++) {
    const request = new Request(`${ISSUER}/made/up/${i}`);
    // Not every runtime makes such a request itself.
    Object.defineProperty(request, "method", { value: `MADE${i}` });
    await trivet.fetch(request);
  }
  assert.equal(new Set(takeSpans().map(({ name }) => name)), new Set(["HTTP"]));
  assert.is((await readMetric("http.server.request.duration")).length, 1);
});

test("traceparent and tracestate of the request are the parent of its span; an invalid one is not", async () => {
  const { send, takeSpans, outcomes } = newServer();
  await send("/", { headers: { traceparent: TRACEPARENT, tracestate: "vendor=1" } });
  const [span] = takeSpans();
  assert.is(span!.spanContext().traceId, TRACE);
  assert.is(parentOf(span!), PARENT);
  assert.is(span!.spanContext().traceState?.serialize(), "vendor=1");
  assert.is(outcomes.at(-1)!.trace, TRACE);
  for (
    const traceparent of [
      "anything",
      `00-${TRACE}-${PARENT}-01-more`,
      `ff-${TRACE}-${PARENT}-01`,
      `00-${"0".repeat(32)}-${PARENT}-01`,
      `00-${TRACE}-${"0".repeat(16)}-01`,
    ]
  ) {
    await send("/", { headers: { traceparent } });
    const [own] = takeSpans();
    assert.is(own!.parentSpanContext, undefined, traceparent);
    // The log names the trace of the span, also where the client named none.
    assert.is(outcomes.at(-1)!.trace, own!.spanContext().traceId);
  }
});

test("an MCP request has a span below that of its HTTP request, and the tool gets its trace context", async () => {
  const { post, takeSpans, readMetric, seen } = newServer();
  await post(request("tools/call", { name: "add", arguments: { password: "secret" } }, "r-7"), {
    traceparent: TRACEPARENT,
  });
  const [operation, http] = takeSpans();
  assert.is(operation!.name, "tools/call add");
  assert.is(operation!.kind, SpanKind.SERVER);
  assert.is(parentOf(operation!), http!.spanContext().spanId);
  assert.is(operation!.spanContext().traceId, TRACE);
  assert.equal(operation!.attributes, {
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "add",
    "gen_ai.operation.name": "execute_tool",
    "network.transport": "tcp",
    "network.protocol.name": "http",
    "mcp.protocol.version": "2025-11-25",
    "jsonrpc.request.id": "r-7",
    "client.address": "192.0.2.1",
  });
  assert.equal(seen, [{ traceparent: `00-${TRACE}-${operation!.spanContext().spanId}-01` }]);
  const [point] = await readMetric("mcp.server.operation.duration");
  assert.equal(point!.attributes, {
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "add",
    "gen_ai.operation.name": "execute_tool",
    "network.transport": "tcp",
    "network.protocol.name": "http",
    "mcp.protocol.version": "2025-11-25",
  });
  assert.equal(point!.boundaries, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]);
});

test("the trace context in _meta is the parent in every revision, and the HTTP request is linked", async () => {
  const { post, takeSpans } = newServer();
  const trace = { traceparent: `00-${META_TRACE}-${META_PARENT}-01`, tracestate: "vendor=2" };
  const params = { name: "add", arguments: {} };
  const modern = modernParams(params, {}, trace);
  const sent = [
    [{ ...params, _meta: trace }, {}],
    [modern, modernHeaders("tools/call", params)],
    [{ ...params, _meta: trace }, { accept: "text/event-stream", "mcp-protocol-version": "2025-06-18" }],
  ] as const;
  for (const [params, headers] of sent) {
    await post(request("tools/call", params), headers);
    const [operation, http] = takeSpans();
    assert.is(operation!.spanContext().traceId, META_TRACE);
    assert.is(parentOf(operation!), META_PARENT);
    assert.is(operation!.spanContext().traceState?.serialize(), "vendor=2");
    assert.equal(operation!.links.map(({ context }) => context.spanId), [http!.spanContext().spanId]);
  }
});

test("a failure has its code, or tool_error, and never its message", async () => {
  const { post, takeSpans, readMetric } = newServer();
  const cases = [
    [request("tools/call", { name: "fail" }), "tools/call fail", "tool_error", undefined],
    [request("tools/call", { name: "made up" }), "tools/call", "-32602", "-32602"],
    [request("made/up"), "_OTHER", "-32601", "-32601"],
  ] as const;
  for (const [body, name, type, code] of cases) {
    await post(body);
    const [operation] = takeSpans();
    assert.is(operation!.name, name);
    assert.is(operation!.attributes["error.type"], type);
    assert.is(operation!.attributes["rpc.response.status_code"], code);
    assert.equal(operation!.status, { code: SpanStatusCode.ERROR });
    assert.equal(operation!.events, []);
  }
  const points = await readMetric("mcp.server.operation.duration");
  assert.equal(points.map(({ attributes }) => attributes["error.type"]).sort(), [
    "-32601",
    "-32602",
    "tool_error",
  ]);
});

test("each message of a batch has a span, notifications too", async () => {
  const { post, takeSpans } = newServer();
  await post([
    request("tools/call", { name: "add", arguments: {} }, 1),
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", method: "made/up" },
  ]);
  const names = takeSpans().map(({ name }) => name).sort();
  assert.equal(names, ["POST /base/mcp", "_OTHER", "notifications/initialized", "tools/call add"]);
});

test("a request to the client carries the trace context in _meta", async () => {
  const { post, takeSpans } = newServer();
  const params = { name: "ask", arguments: {} };
  const response = await post(
    request("tools/call", modernParams(params, { elicitation: { form: {} } })),
    modernHeaders("tools/call", params),
  );
  const { result } = await response.json();
  const [operation] = takeSpans();
  const { traceId, spanId } = operation!.spanContext();
  assert.equal(result.inputRequests.elicitation_1.params._meta, {
    traceparent: `00-${traceId}-${spanId}-01`,
  });
});

test("a session has an id in its spans that does not continue it, a client span, and a duration", async () => {
  const { post, send, takeSpans, readMetric } = newServer();
  const headers = { accept: "application/json, text/event-stream" };
  const started = await post(
    request("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: { elicitation: {} },
      clientInfo: { name: "test", version: "1" },
    }),
    headers,
  );
  const id = started.headers.get("mcp-session-id")!;
  assert.is(takeSpans()[0]!.attributes["mcp.protocol.version"], "2025-06-18");
  const own = { ...headers, "mcp-session-id": id, "mcp-protocol-version": "2025-06-18" };
  const called = await post(request("tools/call", { name: "ask", arguments: {} }), own);
  const reader = called.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("elicitation/create")) text += (await reader.read()).value;
  const asked = JSON.parse(/data: (\{.*"elicitation\/create".*\})/.exec(text)![1]!);
  await post({ jsonrpc: "2.0", id: asked.id, result: { action: "decline" } }, own);
  while (!(await reader.read()).done);
  const spans = takeSpans();
  const asking = spans.find(({ kind }) => kind === SpanKind.CLIENT)!;
  const calling = spans.find(({ name }) => name === "tools/call ask")!;
  assert.is(asking.name, "elicitation/create");
  assert.is(parentOf(asking), calling.spanContext().spanId);
  const { traceId, spanId } = asking.spanContext();
  assert.equal(asked.params._meta, { traceparent: `00-${traceId}-${spanId}-01` });
  const session = calling.attributes["mcp.session.id"] as string;
  assert.ok(session.length > 10);
  assert.not.ok(id === session);
  await send("/mcp", { method: "DELETE", headers: own });
  const [point] = await readMetric("mcp.server.session.duration");
  assert.equal(point!.attributes, {
    "mcp.protocol.version": "2025-06-18",
    "network.transport": "tcp",
    "network.protocol.name": "http",
  });
  assert.is(point!.value.count, 1);
  assert.ok(point!.value.sum! < 60);
  assert.is((await readMetric("mcp.client.operation.duration")).length, 1);
});

test("requests to others carry the trace context of their span, and record no query", async () => {
  const { telemetry, takeSpans } = newServer();
  let sent: Headers | undefined;
  const fetch = telemetry.traceFetch((_, init) => {
    sent = new Headers(init.headers);
    return Promise.resolve(new Response(null, { status: 404 }));
  });
  await fetch("https://idp.example/token?secret=1", { method: "POST", headers: { accept: "x/y" } });
  const [span] = takeSpans();
  const { traceId, spanId } = span!.spanContext();
  assert.is(sent!.get("traceparent"), `00-${traceId}-${spanId}-01`);
  assert.is(sent!.get("accept"), "x/y");
  assert.is(span!.kind, SpanKind.CLIENT);
  assert.equal(span!.attributes, {
    "http.request.method": "POST",
    "server.address": "idp.example",
    "server.port": 443,
    "url.scheme": "https",
    "url.full": "https://idp.example/token",
    "http.response.status_code": 404,
    "error.type": "404",
  });
});

test("requests to the provider of a sign-in carry the trace context of the request", async () => {
  const { telemetry, takeSpans } = createTestTelemetry();
  const sent: Headers[] = [];
  const trivet = createTrivet({
    issuer: ISSUER,
    store: memoryStore(),
    telemetry,
    oauth: {
      signIn: [
        oidc({
          id: "idp",
          issuer: "https://idp.example",
          clientId: "trivet",
          clientSecret: "secret",
        }),
      ],
      signInFetch(_, init) {
        sent.push(new Headers(init.headers));
        return Promise.resolve(new Response(null, { status: 404 }));
      },
    },
  });
  await trivet.fetch(new Request(`${ISSUER}/login/idp`));
  const [asking] = takeSpans();
  assert.is(asking!.attributes["server.address"], "idp.example");
  const { traceId, spanId } = asking!.spanContext();
  assert.is(sent[0]!.get("traceparent"), `00-${traceId}-${spanId}-01`);
});

test("stdio: the operation is the root, or below _meta, and the connection is the session", async () => {
  const { trivet, takeSpans, readMetric } = newServer();
  const trace = { traceparent: `00-${META_TRACE}-${META_PARENT}-01` };
  const lines = [
    request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    }),
    request("tools/call", { name: "add", arguments: {}, _meta: trace }, 2),
  ];
  await trivet.mcp!.serveStdio(
    new Response(lines.map((line) => JSON.stringify(line) + "\n").join("")).body!,
    new WritableStream(),
  );
  const [initialize, call] = takeSpans();
  assert.is(initialize!.name, "initialize");
  assert.is(initialize!.attributes["network.transport"], "pipe");
  assert.is(parentOf(call!), META_PARENT);
  assert.equal(call!.links, []);
  const [point] = await readMetric("mcp.server.session.duration");
  assert.equal(point!.attributes, { "mcp.protocol.version": "2025-11-25", "network.transport": "pipe" });
});

test.run();
