/**
 * What `trivet serve` tells its operator: log lines, the audit trail, metrics, health.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import process from "node:process";
import { equalInConstantTime, secretDigest } from "../../../crypto/secret.ts";
import type { TrivetEvent } from "../../../events.ts";
import { readBearer } from "../../../http/bearer.ts";
import { NO_STORE, respondText } from "../../../http/response.ts";
import { pathOf } from "../../../http/router.ts";
import type { RequestContext } from "../../../http/service.ts";
import { type Audit, createAudit } from "../../../observability/audit.ts";
import { createHealth, type Health } from "../../../observability/health.ts";
import { createLog, type Log } from "../../../observability/log.ts";
import { METRICS_MEDIA_TYPE } from "../../../observability/metrics.ts";
import { createRequestIds, type RequestOutcome } from "../../../observability/request_outcome.ts";
import { createServerMetrics, type ServerMetrics } from "../../../observability/server_metrics.ts";
import { type Store, timeOf } from "../../../store/store.ts";
import type { FetchHandler } from "../../server.ts";
import type { Environment, ValuesOf } from "../options.ts";
import { printError, UsageError } from "../output.ts";
import type { OBSERVE_OPTIONS } from "./observe_options.ts";

/** A store that is down fails every request: it is reported once in this time. */
const STORE_REPORT_INTERVAL_MS = 10_000;
const MIN_METRICS_TOKEN_CHARACTERS = 16;
/** A line is written at most this much later. */
const FLUSH_MS = 20;
/** Events and outcomes that wait at most. */
const MAX_WAITING = 1000;

type ObserveValues = ValuesOf<typeof OBSERVE_OPTIONS>;

interface SeenEvent {
  readonly event: TrivetEvent;
  readonly request: string | undefined;
  /** By the clock of this machine, for the log. */
  readonly time: number;
  /** By the clock of the store, for the audit trail. */
  readonly stored: number;
}

/** The observers of one server. */
export interface Observers {
  readonly log: Log;
  readonly onEvent: (event: TrivetEvent) => void;
  readonly onRequest: (outcome: RequestOutcome) => void;
  readonly requestId: () => string;
  /** The store to give to the server: timed where there are metrics. */
  readonly store: Store;
  readonly health: Health;
  /** Shows the open streams of the server. */
  readonly measureStreams: (server: { openStreams(): number }) => void;
  /** Answers health and metrics, and runs the rest with the id of its request. */
  wrap(handler: FetchHandler): FetchHandler;
  /** Health and metrics alone, for a port of their own. */
  readonly own: FetchHandler;
  /** Writes what is left of the audit trail. */
  close(): Promise<void>;
}

/** Of health and metrics. */
const OWN_PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** The log of the process. Lines go to standard error, a little later. */
export interface ServeLog extends Log {
  /**
   * Has work done before lines are written, and before any other line, so that lines keep their order.
   * @returns asks for lines to be written
   */
  beforeLines(work: () => void): () => void;
}

/** The log of the process, which is there before the store is. */
export function createServeLog(values: ObserveValues): ServeLog {
  const format = values["log-format"] === "auto"
    ? process.stderr.isTTY ? "text" : "json"
    : values["log-format"];
  const level = values["log-level"];
  // Lines are written in groups: a call of the system costs more than a line.
  let lines: string[] = [];
  let isScheduled = false;
  let work = (): void => {};
  const flush = (): void => {
    isScheduled = false;
    work();
    if (lines.length === 0) return;
    const text = lines.join("\n");
    lines = [];
    printError(text);
  };
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(flush, FLUSH_MS);
  };
  process.on("exit", flush);
  const log = createLog({
    level,
    format,
    requestLevel: values["log-requests"] ? "info" : "debug",
    write(line) {
      lines.push(line);
      schedule();
    },
  });
  return {
    ...log,
    line(...args) {
      work();
      log.line(...args);
    },
    beforeLines(first) {
      work = first;
      return schedule;
    },
  };
}

/** The token for `/metrics` on the port of the server. @throws {UsageError} for a short one */
export function readMetricsToken({ TRIVET_METRICS_TOKEN: token }: Environment): string | undefined {
  if (token && token.length < MIN_METRICS_TOKEN_CHARACTERS) {
    throw new UsageError(
      `TRIVET_METRICS_TOKEN must have at least ${MIN_METRICS_TOKEN_CHARACTERS} characters`,
    );
  }
  return token || undefined;
}

export function createObservers(
  values: ObserveValues,
  log: ServeLog,
  plain: Store,
  base: string,
  metricsToken: string | undefined,
): Observers {
  const measures = values["metrics-port"] !== undefined || metricsToken !== undefined;
  const metrics = measures ? createServerMetrics(base) : undefined;
  metrics && addProcessMetrics(metrics);
  const store = metrics ? metrics.measureStore(plain) : plain;
  const report = limitReports(log);
  const audit: Audit | undefined = values.audit === "on"
    ? createAudit({
      store: plain,
      retentionDays: values["audit-days"],
      onError: (error) => report({ type: "store_unavailable", where: "audit", error }),
    })
    : undefined;
  const health = createHealth(plain, {
    onError: (error) => report({ type: "store_unavailable", where: "health", error }),
  });
  // Processed together: one by one, between the work of requests, they take twice as long.
  let seen: (SeenEvent | RequestOutcome)[] = [];
  function processSeen(): void {
    if (seen.length === 0) return;
    const waiting = seen;
    seen = [];
    for (const each of waiting) {
      if ("event" in each) {
        const { event, request, time, stored } = each;
        if (event.type === "store_unavailable") health.doubtWrites();
        metrics?.onEvent(event);
        audit?.add(event, request, stored);
        report(event, request, time);
      } else {
        metrics?.onRequest(each);
        log.request(each);
      }
    }
  }
  const schedule = log.beforeLines(processSeen);
  function add(each: SeenEvent | RequestOutcome): void {
    const count = seen.push(each);
    if (count === 1) schedule();
    else if (count >= MAX_WAITING) processSeen();
  }

  const requests = new AsyncLocalStorage<string>();
  const nextId = createRequestIds();
  const digest = metricsToken && secretDigest(metricsToken);

  async function answerOwn(request: Request, withToken: boolean): Promise<Response | undefined> {
    const path = pathOf(request.url);
    if (path === "/metrics" && metrics && (!withToken || digest)) {
      const token = readBearer(request);
      const isAllowed = !withToken ||
        token !== undefined && equalInConstantTime(secretDigest(token), digest!);
      if (!isAllowed) return respondText(401, "Invalid token.", [["www-authenticate", "Bearer"], NO_STORE]);
      processSeen();
      return new Response(metrics.registry.text(), {
        headers: { "content-type": METRICS_MEDIA_TYPE, "cache-control": "no-store" },
      });
    }
    return await health.answer(path);
  }

  return {
    log,
    health,
    store,
    measureStreams: (server) => metrics?.measureStreams(server),
    requestId: () => requests.getStore() ?? nextId(),
    onEvent: (event) => add({ event, request: requests.getStore(), time: Date.now(), stored: timeOf(plain) }),
    onRequest: add,
    wrap: (handler) => ({
      fetch(request: Request, context?: RequestContext) {
        const run = () => requests.run(nextId(), () => handler.fetch(request, context));
        return OWN_PATHS.has(pathOf(request.url))
          ? answerOwn(request, true).then((own) => own ?? run())
          : run();
      },
    }),
    own: {
      fetch: async (request) => await answerOwn(request, false) ?? respondText(404, "Not found."),
    },
    async close() {
      processSeen();
      await audit?.close().catch((cause) => {
        throw new Error(`The last records of the audit trail were not written: ${cause.message}`, { cause });
      });
    },
  };
}

/** Logs events; those about an unavailable store once in a while. */
function limitReports(log: Log): (event: TrivetEvent, request?: string, time?: number) => void {
  let last = -Infinity;
  return (event, request, time) => {
    if (event.type === "store_unavailable") {
      if (performance.now() - last < STORE_REPORT_INTERVAL_MS) return;
      last = performance.now();
    }
    log.event(event, request, time);
  };
}

function addProcessMetrics({ registry }: ServerMetrics): void {
  registry.gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage().rss);
  registry.gauge(
    "process_heap_bytes",
    "Memory of the JavaScript heap in use.",
    () => process.memoryUsage().heapUsed,
  );
  const began = Date.now() / 1000;
  registry.gauge("process_start_time_seconds", "Start of the process, since the epoch.", () => began);
}
