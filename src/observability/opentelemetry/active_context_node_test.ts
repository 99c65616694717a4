import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "../../mcp/definition/define.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";
import { createTestTelemetry } from "./test_telemetry.ts";

const test = suite("opentelemetry/active context");
test.before(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
test.after(() => context.disable());

const own = new BasicTracerProvider().getTracer("app");

test("spans of a tool are children of its call, also after it waited and where calls run at once", async () => {
  const { telemetry, takeSpans } = createTestTelemetry();
  const parents = new Map<unknown, string | undefined>();
  const trivet = createTrivet({
    issuer: "http://127.0.0.1:8787",
    store: memoryStore(),
    telemetry,
    mcp: {
      auth: "off",
      tools: [tool({
        name: "work",
        description: "",
        input: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
        async run({ key }, call) {
          await call.progress(1);
          await new Promise((resolve) => setTimeout(resolve, 5));
          const span = own.startSpan("inner");
          parents.set(
            key,
            (span as unknown as { parentSpanContext?: { spanId: string } }).parentSpanContext?.spanId,
          );
          assert.is(trace.getActiveSpan()?.spanContext().spanId, call.trace!.traceparent.split("-")[2]);
          span.end();
        },
      })],
    },
  });
  const ids = await Promise.all(["one", "two", "three"].map(async (key, id) => {
    const response = await trivet.fetch(
      new Request("http://127.0.0.1:8787/mcp", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2025-11-25",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id,
          method: "tools/call",
          params: { name: "work", arguments: { key }, _meta: { progressToken: key } },
        }),
      }),
    );
    assert.not.match(await response.text(), "isError");
    return [key, id] as const;
  }));
  const spans = takeSpans();
  for (const [key, id] of ids) {
    const operation = spans.find(({ attributes }) => attributes["jsonrpc.request.id"] === String(id))!;
    assert.is(parents.get(key), operation.spanContext().spanId);
  }
  assert.is(new Set(parents.values()).size, 3);
});

test.run();
