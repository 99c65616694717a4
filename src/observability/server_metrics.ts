/**
 * What the server counts: requests, throttles, tokens, refusals, tool calls, open streams, skills, events, store calls.
 *
 * @module
 */
import type { TrivetEvent } from "../events.ts";
import type { Store } from "../store/store.ts";
import { createRegistry, type Registry } from "./metrics.ts";
import type { RequestOutcome } from "./request_outcome.ts";
import { METHODS, routeOf } from "./route.ts";

/** The metrics of a server, and the observers that fill them. */
export interface ServerMetrics {
  readonly registry: Registry;
  onRequest(outcome: RequestOutcome): void;
  onEvent(event: TrivetEvent): void;
  /** The store, with its calls timed. */
  measureStore(store: Store): Store;
  /** Shows the open streams of `trivet.mcp`. */
  measureStreams(server: { openStreams(): number }): void;
}

/**
 * Makes the metrics of a server.
 * @param base the path of the issuer without a slash at its end
 */
export function createServerMetrics(base: string = ""): ServerMetrics {
  const registry = createRegistry();
  const requests = registry.counter("trivet_requests_total", "Requests by route and status.", [
    "method",
    "route",
    "status",
  ]);
  const durations = registry.histogram(
    "trivet_request_seconds",
    "Time until a response begins, by route.",
    ["route"],
  );
  const events = registry.counter("trivet_events_total", "Events by type.", ["type"]);
  const tokens = registry.counter("trivet_tokens_issued_total", "Access tokens by grant.", ["grant_type"]);
  const refused = registry.counter(
    "trivet_tokens_refused_total",
    "Requests that the token endpoint refused, by grant and error. Clients that did not authenticate, at any endpoint: unknown.",
    ["grant_type", "error"],
  );
  const throttled = registry.counter("trivet_throttled_total", "Requests that got a 429, by route.", [
    "route",
  ]);
  const limited = registry.counter(
    "trivet_rate_limited_total",
    "Requests over a rate limit, by limit and by whose it was.",
    ["limit", "scope"],
  );
  const tools = registry.counter("trivet_tool_calls_total", "Calls of tools by name.", ["tool", "failed"]);
  const outcomes = registry.counter(
    "trivet_policy_outcomes_total",
    "Calls of tools that a policy decided, by MCP server and outcome.",
    ["upstream", "outcome"],
  );
  const skills = registry.counter(
    "trivet_skill_disclosures_total",
    "Parts of skills that were sent to models, by level.",
    ["level", "via"],
  );
  const connections = registry.counter(
    "trivet_upstream_connections_total",
    "Connections of users to upstreams: added, removed, or why they failed.",
    ["upstream", "outcome"],
  );
  const storeCalls = registry.histogram("trivet_store_seconds", "Time of calls of the store.", ["operation"]);
  const storeErrors = registry.counter("trivet_store_errors_total", "Calls of the store that failed.", [
    "operation",
  ]);

  async function time<Result>(operation: string, call: () => Promise<Result>): Promise<Result> {
    const began = performance.now();
    try {
      return await call();
    } catch (error) {
      storeErrors.add([operation]);
      throw error;
    } finally {
      storeCalls.observe((performance.now() - began) / 1000, [operation]);
    }
  }

  return {
    registry,
    onRequest({ method, path, status, milliseconds }) {
      const route = routeOf(path, base);
      requests.add([METHODS.has(method) ? method : "other", route, String(status)]);
      durations.observe(milliseconds / 1000, [route]);
      if (status === 429) throttled.add([route]);
    },
    onEvent(event) {
      events.add([event.type]);
      if (event.type === "token_issued") tokens.add([event.grant_type]);
      if (event.type === "token_refused") refused.add([event.grant_type, event.error]);
      if (event.type === "client_refused") refused.add(["unknown", "invalid_client"]);
      if (event.type === "rate_limited") limited.add([event.limit, event.scope], event.count);
      if (event.type === "tool_called") {
        if (event.outcome !== "input_required") tools.add([event.name, String(event.failed)]);
        if (event.outcome) outcomes.add([event.upstream ?? "", event.outcome]);
      }
      if (event.type === "connection_added") connections.add([event.upstream, "added"]);
      if (event.type === "connection_removed") connections.add([event.upstream, "removed"]);
      if (event.type === "connection_failed") connections.add([event.upstream, event.reason]);
      if (event.type === "skill_disclosed") skills.add([String(event.level), event.via]);
    },
    measureStreams: (server) =>
      registry.gauge(
        "trivet_mcp_open_streams",
        "Event streams of MCP clients that are open.",
        () => server.openStreams(),
      ),
    measureStore: (store) => ({
      guarantees: store.guarantees,
      ...(store.now && { now: () => store.now!() }),
      get: (key, options) => time("get", () => store.get(key, options)),
      list: (prefix, options) => time("list", () => store.list(prefix, options)),
      commit: (commit) => time("commit", () => store.commit(commit)),
      watch: (prefix) => store.watch(prefix),
      sweep: () => time("sweep", () => store.sweep()),
      close: () => store.close(),
    }),
  };
}
