/**
 * The fuzzed tool servers: two instances of one service, one that requires a token, and another service, with a clock that
 * can be advanced and counts of open resources.
 *
 * @module
 */
import { soleSecret } from "../../../src/crypto/server_secrets.ts";
import type { TrivetEvent } from "../../../src/events.ts";
import { createSseHandlers } from "../../../src/mcp/http/http_sse.ts";
import type { ToolServer } from "../../../src/mcp/service.ts";
import { newServer } from "../../../src/mcp/test_server.ts";
import { watchedStore } from "../../../src/mcp/instances/test_watched_store.ts";
import { memoryStore } from "../../../src/store/drivers/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import { DEFINITIONS } from "./mcp_definitions.ts";
import { Corpus } from "./mcp_corpus.ts";
import { isExpectedFault } from "./mcp_tools.ts";
import { createMeter, type Meter } from "../meter.ts";

export const ORIGIN = "http://127.0.0.1:8787";
/** Maximum size of a message. */
export const BODY_LIMIT: number = 64 * 1024;
const DAY_MS = 24 * 3_600_000;

export interface FuzzSetup {
  readonly corpus: Corpus;
  /** Two instances of one service. */
  readonly instances: readonly ToolServer[];
  /** Requires a token. */
  readonly strict: ToolServer;
  /** Another service. */
  readonly otherService: ToolServer;
  readonly store: Store;
  /** Measures the cost of a request. */
  readonly measure: Meter["measure"];
  /** The number of responses, by kind of request and status. */
  readonly answers: Map<string, number>;
  /** Functions that close open streams. */
  readonly openStreams: (() => Promise<void>)[];
  /** Faults that no definition causes on purpose. */
  readonly faults: string[];
  /** The number of open watches of the store. */
  watches(): number;
  /** The number of calls that are running after their response. */
  working(): number;
  /** The context of requests. */
  readonly context: { waitUntil(work: Promise<unknown>): void };
  /** Advances the clock by nine days. */
  advanceClock(): void;
}

export function createSetup(): FuzzSetup {
  let offset = 0;
  const now = (): number => Date.now() + offset;
  const meter = createMeter(memoryStore({ now }));
  const { store, watches } = watchedStore(meter.store);
  const faults: string[] = [];
  const observe = (event: TrivetEvent): void => {
    if (event.type === "fault" && !isExpectedFault(event.error)) {
      faults.push(`${event.where}: ${(event.error as Error)?.stack ?? String(event.error)}`);
    }
  };
  const open = (options: Parameters<typeof newServer>[0] = {}): ToolServer =>
    newServer({
      definitions: DEFINITIONS,
      store,
      now,
      pageSize: 5,
      bodyLimit: BODY_LIMIT,
      sse: createSseHandlers,
      observe,
      ...options,
    }).server;
  let working = 0;
  return {
    corpus: new Corpus(),
    instances: [open(), open()],
    strict: open({ auth: "required" }),
    otherService: open({ secret: () => soleSecret(new Uint8Array(32).fill(9)) }),
    store,
    measure: meter.measure,
    answers: new Map(),
    openStreams: [],
    faults,
    watches,
    working: () => working,
    context: {
      waitUntil(work) {
        working++;
        work.finally(() => working--);
      },
    },
    advanceClock() {
      offset += 9 * DAY_MS;
    },
  };
}
