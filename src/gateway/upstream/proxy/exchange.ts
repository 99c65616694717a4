/**
 * What a request to an upstream takes over from the call that it serves: cancellation, progress, log messages, capabilities
 * of the client, trace context.
 *
 * @module
 */
import type { Json } from "../../../store/store.ts";
import type { CallContext, LogLevel } from "../../../mcp/context.ts";
import { MODERN } from "../../../mcp/era.ts";
import type {
  AnswerServerRequest,
  ClientCapabilities,
  ClientExchange,
  JsonObject,
} from "../../../mcp_client/client.ts";
import { TASKS_EXTENSION } from "../../../mcp_client/client.ts";

const RESERVED = "io.modelcontextprotocol/";
const LEVEL_KEY = "io.modelcontextprotocol/logLevel";
/** Log messages that wait for a slow client; further ones are dropped. */
const MAX_WAITING_LOGS = 100;

/** Progress that waits; the newest replaces the one before it when there is more. */
const MAX_WAITING_PROGRESS = 100;

type Progress = [progress: number, total: number | undefined, message: string | undefined];

/** The messages that an upstream sends during a call, on their way to the client. */
export interface Relay {
  readonly exchange: ClientExchange;
  /** Resolves when the client has what was sent so far. */
  settled(): Promise<void> | undefined;
}

/** Creates the exchange of a call. `context` may be replaced while the call runs: see `held_calls.ts`. */
export function createRelay(
  current: () => CallContext,
  timeout: number,
  onServerRequest?: AnswerServerRequest,
  signal?: AbortSignal,
): Relay {
  const context = current();
  let sending: Promise<void> | undefined;
  let waitingLogs = 0;
  const enqueue = (send: () => Promise<void>): Promise<void> => {
    const sent: Promise<void> = (sending ?? Promise.resolve()).then(send).catch(() => {});
    return sending = sent;
  };
  /** What waits for a slow client. */
  const waitingProgress: Progress[] = [];
  const hasProgress = context.meta.progressToken !== undefined || context.can("tasks");
  const logLevel = context.revision >= MODERN ? context.meta[LEVEL_KEY] : "debug";
  const exchange: ClientExchange = {
    signal: signal ?? context.signal,
    timeout,
    caller: context.principal,
    capabilities: capabilitiesOf(context),
    meta: metaOf(context),
    ...(onServerRequest && { onServerRequest }),
    onPolling: (retry) => void enqueue(() => current().disconnect(retry)),
    ...(hasProgress && {
      onProgress(...progress: Progress) {
        if (waitingProgress.length === MAX_WAITING_PROGRESS) {
          return void waitingProgress.splice(-1, 1, progress);
        }
        waitingProgress.push(progress);
        enqueue(() => current().progress(...waitingProgress.shift()!));
      },
    }),
    ...(typeof logLevel === "string" && {
      logLevel,
      onLog(level: string, data: unknown, logger: string | undefined) {
        if (waitingLogs >= MAX_WAITING_LOGS) return;
        waitingLogs++;
        enqueue(() => current().log(level as LogLevel, data as Json, logger).finally(() => waitingLogs--));
      },
    }),
  };
  return { exchange, settled: () => sending };
}

/** Members of `_meta` of the call, without those that belong to one connection, and the trace context. */
export function metaOf({ meta, trace }: Pick<CallContext, "meta" | "trace">): JsonObject | undefined {
  let passed: JsonObject | undefined;
  for (const name in meta) {
    if (name === "progressToken" || name.startsWith(RESERVED)) continue;
    (passed ??= {})[name] = meta[name];
  }
  return trace ? { ...passed, ...trace } : passed;
}

const FEATURES = [
  "elicitation",
  "elicitation.url",
  "sampling",
  "sampling.tools",
  "sampling.context",
  "roots",
  "tasks",
] as const;
const declared = new Map<number, ClientCapabilities>();

/** The capabilities of the call's client, as the gateway declares them to an upstream of 2026-07-28. */
function capabilitiesOf({ can }: Pick<CallContext, "can">): ClientCapabilities {
  let bits = 0;
  FEATURES.forEach((feature, i) => bits |= can(feature) ? 1 << i : 0);
  let capabilities = declared.get(bits);
  if (!capabilities) declared.set(bits, capabilities = write(can));
  return capabilities;
}

/** Whether the client can be asked for anything. */
export function canAnswer({ can }: Pick<CallContext, "can">): boolean {
  return can("elicitation") || can("elicitation.url") || can("sampling") || can("roots");
}

function write(can: CallContext["can"]): ClientCapabilities {
  const form = can("elicitation"), url = can("elicitation.url");
  return {
    ...((form || url) && { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } }),
    ...(can("sampling") && {
      sampling: {
        ...(can("sampling.tools") && { tools: {} }),
        ...(can("sampling.context") && { context: {} }),
      },
    }),
    ...(can("roots") && { roots: {} }),
    ...(can("tasks") && { extensions: { [TASKS_EXTENSION]: {} } }),
  };
}

/** What the session of an upstream with a handshake declares, as it serves clients of every kind. */
export const ALL_CAPABILITIES: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};
