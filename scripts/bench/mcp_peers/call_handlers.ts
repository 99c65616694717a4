/**
 * Calls the handlers of a server in its own process, without a network. Requests have `content-length`, like those of a
 * server, and the bodies of responses are read, because some servers start to work only then.
 *
 * @module
 */
import process from "node:process";
import type { Handler, Handlers, Server } from "./subject.ts";
import { createFloorMessage } from "./floor.ts";
import { OPERATIONS, prepare, type Prepared, type Send, Unsupported } from "./wire.ts";

/** A command to call a handler for some time. */
export interface Slice {
  /** The index in `OPERATIONS`. */
  readonly operation: number;
  readonly tools: number;
  readonly accept: string | undefined;
  readonly latest: string | undefined;
  readonly isFloor: boolean;
  readonly milliseconds: number;
}
/** The result of a slice, or why the server does not support the operation. */
export type SliceResult = {
  readonly perSecond: number;
  /** Microseconds of processor time of one call. */
  readonly cpu: number;
  /** Duration of each call, in milliseconds. */
  readonly times: readonly number[];
} | { readonly unsupported: string };

const ORIGIN = "http://127.0.0.1:8787";
/** Durations of a slice that are returned. */
const MAX_SAMPLES = 1000;

/** Returns a function that runs slices of calls. Handlers are created when they are first used. */
export function createHandlerCalls(server: Server): (slice: Slice) => Promise<SliceResult> {
  const handlers = new Map<number, Promise<Handlers>>();
  const prepared = new Map<string, Promise<Prepared>>();

  async function prepareCall({ operation: index, tools, accept, latest, isFloor }: Slice): Promise<Prepared> {
    const operation = OPERATIONS[index]!;
    if (!handlers.has(tools)) {
      handlers.set(tools, Promise.resolve(server.handlers(tools, ORIGIN)));
    }
    const handler = (await handlers.get(tools)!)[operation.variant];
    if (handler === undefined) throw new Unsupported("the server does not support it");
    const send = sendTo(handler);
    if (!isFloor) {
      return await prepare(send, operation, tools, { accept, latest });
    }
    const message = createFloorMessage(operation, tools);
    return {
      async call() {
        const { status } = await send(message);
        if (status !== 200) throw new Unsupported(`The floor responded with ${status}`);
      },
      endSessions: async () => {},
    };
  }

  return async (slice) => {
    const key = `${slice.operation} ${slice.tools}`;
    if (!prepared.has(key)) prepared.set(key, prepareCall(slice));
    try {
      const { call, endSessions } = await prepared.get(key)!;
      const times: number[] = [];
      const used = process.cpuUsage();
      const started = performance.now();
      const end = started + slice.milliseconds;
      let before = started;
      do {
        await call();
        const after = performance.now();
        times.push(after - before);
        before = after;
      } while (before < end);
      const perSecond = times.length / (before - started) * 1000;
      const { user, system } = process.cpuUsage(used);
      const cpu = (user + system) / times.length;
      await endSessions();
      // Garbage of ending sessions is not collected in a later slice.
      if (OPERATIONS[slice.operation]!.method === "initialize") (globalThis as { gc?(): void }).gc?.();
      const step = Math.ceil(times.length / MAX_SAMPLES);
      return { perSecond, cpu, times: times.filter((_, i) => i % step === 0) };
    } catch (error) {
      return { unsupported: error instanceof Unsupported ? error.message : String(error) };
    }
  };
}

function sendTo(handle: Handler): Send {
  return async ({ method, headers, body }) => {
    const request = body === undefined
      ? new Request(`${ORIGIN}/mcp`, { method, headers })
      : new Request(`${ORIGIN}/mcp`, {
        method,
        headers: { ...headers, "content-length": String(body.length) },
        body,
      });
    const response = await handle(request);
    return {
      status: response.status,
      session: response.headers.get("mcp-session-id"),
      text: await response.text(),
    };
  };
}
