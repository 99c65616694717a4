/**
 * Trivet as a target over a socket that writes all that a server can write of its work, for `trivet_secrets_node_test.ts`:
 * log lines of every level as `trivet serve` writes them, the audit trail, metrics, spans. Beside the controls of
 * `trivet_served.ts`, `/control/fail` makes every call of the store fail, and `/control/written` shows the audit trail, the
 * metrics and the spans.
 *
 *   node conformance/targets/trivet_observed.ts BASE
 *
 * @module
 */
import process from "node:process";
import { createTestTelemetry } from "../../src/observability/opentelemetry/test_telemetry.ts";
import { readAuditGroups } from "../../src/observability/read_audit.ts";
import { readArguments } from "../../src/runtime/cli/options.ts";
import { createObservers, createServeLog } from "../../src/runtime/cli/serve/observe.ts";
import { OBSERVE_OPTIONS } from "../../src/runtime/cli/serve/observe_options.ts";
import { serve } from "../../src/runtime/node.ts";
import { memoryStore } from "../../src/store/drivers/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { start } from "./trivet.ts";
import { ALLOWED_PAGE_ORIGINS, withControl } from "./trivet_target.ts";

const base = process.argv[2]!;
const given = ["--log-level", "debug", "--log-format", "json", "--log-requests", "--metrics-port", "0"];
const { values } = readArguments(given, OBSERVE_OPTIONS, 0);
const auditStore = memoryStore();
const log = createServeLog(values);
const observers = createObservers(values, log, auditStore, "", undefined);
const { telemetry, takeSpans, readMetric } = createTestTelemetry();

let isFailing = false;
/** A store whose calls fail while it should, as a driver's defect would make them. */
function failing(store: Store): Store {
  const call = <Result>(run: () => Promise<Result>): Promise<Result> =>
    isFailing ? Promise.reject(new Error("the store is broken")) : run();
  return {
    ...store,
    get: (...given) => call(() => store.get(...given)),
    list: (...given) => call(() => store.list(...given)),
    commit: (...given) => call(() => store.commit(...given)),
  };
}

const target = await start({
  base,
  allowedOrigins: ALLOWED_PAGE_ORIGINS,
  openStore: (now) => Promise.resolve(failing(memoryStore({ now }))),
  observers: {
    onEvent: observers.onEvent,
    onRequest: observers.onRequest,
    requestId: observers.requestId,
    telemetry,
  },
});

async function showWritten(): Promise<Response> {
  await observers.close();
  const audit: string[] = [];
  for await (const group of readAuditGroups(auditStore)) audit.push(group);
  const metrics = await (await observers.own.fetch(new Request("http://127.0.0.1/metrics"))).text();
  const spans = takeSpans().map(({ name, attributes, events, links, status }) => ({
    name,
    attributes,
    events,
    links,
    status,
  }));
  const measured = await readMetric("mcp.server.operation.duration");
  return Response.json({ audit: audit.join("\n"), metrics, spans, measured });
}

const controlled = observers.wrap({ fetch: withControl(target) });
const server = await serve({
  fetch(request, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/control/written") return showWritten();
    if (pathname !== "/control/fail") return controlled.fetch(request, context);
    isFailing = true;
    return Promise.resolve(new Response(null, { status: 204 }));
  },
}, {
  port: 0,
  onError: (error) => log.line("error", "fault", { where: "server", error: String(error) }),
});
console.log(server.url);
