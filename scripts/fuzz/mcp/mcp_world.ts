/**
 * The fuzzed tool servers: two instances of one service, one that refuses strangers, and one whose ids are good nowhere
 * else; with a clock that can jump, and counts of what is open.
 *
 * @module
 */
import type { TrivetEvent } from "../../../src/events.ts";
import { createSseHandlers } from "../../../src/mcp/http/http_sse.ts";
import type { ToolServer } from "../../../src/mcp/service.ts";
import { newServer } from "../../../src/mcp/test_server.ts";
import { watchedStore } from "../../../src/mcp/instances/test_watched_store.ts";
import { memoryStore } from "../../../src/store/drivers/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import { DEFINITIONS } from "./mcp_definitions.ts";
import { Loot } from "./mcp_loot.ts";
import { isMeant } from "./mcp_tools.ts";
import { createMeter, type Meter } from "../meter.ts";

export const ORIGIN = "http://127.0.0.1:8787";
/** Bytes of a message. */
export const BODY_LIMIT: number = 64 * 1024;
const DAY = 24 * 3_600_000;

export interface World {
  readonly loot: Loot;
  /** Two instances of one service. */
  readonly instances: readonly ToolServer[];
  /** Lets nobody in without a token. */
  readonly strict: ToolServer;
  /** Another service. */
  readonly stranger: ToolServer;
  readonly store: Store;
  /** What requests cost. */
  readonly measure: Meter["measure"];
  /** How often each kind of request was answered in each way. */
  readonly answers: Map<string, number>;
  /** Ends streams that are left open. */
  readonly kept: (() => Promise<void>)[];
  /** Faults that no definition is meant to make. */
  readonly faults: string[];
  /** Streams of changes that somebody reads. */
  watches(): number;
  /** Work that goes on behind answers. */
  working(): number;
  /** For requests. */
  readonly context: { waitUntil(work: Promise<unknown>): void };
  /** Lets nine days pass. */
  wait(): void;
}

export function newWorld(): World {
  let skipped = 0;
  const now = (): number => Date.now() + skipped;
  const meter = createMeter(memoryStore({ now }));
  const { store, watches } = watchedStore(meter.store);
  const faults: string[] = [];
  const observe = (event: TrivetEvent): void => {
    if (event.type === "fault" && !isMeant(event.error)) {
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
    loot: new Loot(),
    instances: [open(), open()],
    strict: open({ auth: "required" }),
    stranger: open({ secret: () => Promise.resolve(new Uint8Array(32).fill(9)) }),
    store,
    measure: meter.measure,
    answers: new Map(),
    kept: [],
    faults,
    watches,
    working: () => working,
    context: {
      waitUntil(work) {
        working++;
        work.finally(() => working--);
      },
    },
    wait() {
      skipped += 9 * DAY;
    },
  };
}
