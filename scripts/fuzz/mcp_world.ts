/**
 * The fuzzed tool servers: two instances of one service, one that refuses strangers, and one whose ids are good nowhere
 * else; with a clock that can jump, and counts of what is open.
 *
 * @module
 */
import type { TrivetEvent } from "../../src/events.ts";
import { createSseHandlers } from "../../src/mcp/http_sse.ts";
import type { ToolServer } from "../../src/mcp/service.ts";
import { newServer } from "../../src/mcp/test_server.ts";
import { memoryStore } from "../../src/store/memory.ts";
import type { Key, Store } from "../../src/store/store.ts";
import { DEFINITIONS } from "./mcp_definitions.ts";
import { Loot } from "./mcp_loot.ts";
import { isMeant } from "./mcp_tools.ts";

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
  const { store, watches } = countWatches(memoryStore({ now }));
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

/** The store, and how many of its watches are open. */
function countWatches(store: Store): { readonly store: Store; readonly watches: () => number } {
  let open = 0;
  const counted: Store = {
    guarantees: store.guarantees,
    get: (key, options) => store.get(key, options),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => store.commit(commit),
    sweep: () => store.sweep(),
    close: () => store.close(),
    watch(prefix) {
      const reader = store.watch(prefix).getReader();
      open++;
      return new ReadableStream<readonly Key[]>({
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel() {
          open--;
          return reader.cancel();
        },
      });
    },
  };
  return { store: counted, watches: () => open };
}
