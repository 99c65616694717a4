import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CLI, runtimeCommand, startTrivet, temporaryFolder } from "../test_process.ts";

const test = suite("serving/otel");
const folder = temporaryFolder();
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

// Messages of OTLP in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
// deno-lint-ignore no-explicit-any
type Otlp = any;

interface Collector {
  readonly env: Record<string, string>;
  spans(): Otlp[];
  metrics(): Otlp[];
  services(): string[];
  close(): void;
}

/** A collector that keeps what it gets. */
async function startCollector(): Promise<Collector> {
  const received: { path: string; body: Otlp }[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    received.push({ path: request.url!, body: JSON.parse(text) });
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const of = (path: string): Otlp[] => received.filter((each) => each.path === path).map(({ body }) => body);
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_LOGS_EXPORTER: "none",
    },
    spans: () =>
      of("/v1/traces").flatMap(({ resourceSpans }) => resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans),
    metrics: () =>
      of("/v1/metrics").flatMap(({ resourceMetrics }) => resourceMetrics)
        .flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics }) => metrics),
    services: () =>
      of("/v1/traces").flatMap(({ resourceSpans }) => resourceSpans)
        .flatMap(({ resource }) => resource.attributes)
        .filter(({ key }) => key === "service.name").map(({ value }) => value.stringValue),
    close: () => void server.close(),
  };
}

test("serve --otel sends spans and metrics to the collector that the environment names", async () => {
  const collector = await startCollector();
  const server = await startTrivet(["--store", "memory", "--data", folder.path, "--otel"], collector.env);
  const { issuer } = server.facts;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const headers = { "content-type": "application/json", traceparent: TRACEPARENT };
  await (await fetch(`${issuer}/mcp`, { method: "POST", headers, body })).text();
  assert.is(await server.stop(), 0);
  const spans = collector.spans();
  const http = spans.find(({ name }) => name === "POST /mcp");
  const operation = spans.find(({ name }) => name === "tools/list");
  assert.is(http.traceId, TRACE);
  assert.is(operation.parentSpanId, http.spanId);
  assert.equal(new Set(collector.services()), new Set(["trivet"]));
  const names = new Set(collector.metrics().map(({ name }) => name));
  assert.ok(names.has("http.server.request.duration"));
  assert.ok(names.has("mcp.server.operation.duration"));
  collector.close();
});

test("stdio --otel takes the trace context from _meta, and writes nothing but messages", async () => {
  const collector = await startCollector();
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, CLI, "stdio", "--data", join(folder.path, "stdio"), "--otel"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...collector.env },
  });
  let output = "";
  child.stdout.on("data", (chunk) => output += chunk);
  const ended = new Promise((resolve) => child.on("close", resolve));
  const params = { _meta: { traceparent: TRACEPARENT } };
  child.stdin.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params }) + "\n");
  assert.is(await ended, 0);
  const lines = output.trim().split("\n");
  assert.is(lines.length, 1);
  assert.is(JSON.parse(lines[0]!).id, 1);
  const [span] = collector.spans();
  assert.is(span.name, "tools/list");
  assert.is(span.traceId, TRACE);
  assert.is(span.parentSpanId, "00f067aa0ba902b7");
  collector.close();
});

test("without the packages --otel says how to install them, and nothing is made", async () => {
  const root = join(folder.path, "without");
  const modules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
  cpSync(fileURLToPath(new URL("../../", import.meta.url)), join(root, "src"), { recursive: true });
  mkdirSync(join(root, "node_modules"));
  for (const name of readdirSync(modules)) {
    if (name !== "@opentelemetry") symlinkSync(join(modules, name), join(root, "node_modules", name));
  }
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
  const [command, before] = runtimeCommand();
  for (const verb of ["serve", "stdio"]) {
    const data = join(root, "data");
    const args = [...before, join(root, "src/runtime/cli.ts"), verb, "--data", data, "--otel"];
    const { status, stderr } = spawnSync(command, args, { encoding: "utf8", cwd: root, timeout: 30_000 });
    assert.is(status, 1, stderr);
    assert.match(stderr, "npm install @opentelemetry/api @opentelemetry/sdk-node");
    assert.not.ok(existsSync(data));
  }
});

test.after(folder.remove);
test.run();
