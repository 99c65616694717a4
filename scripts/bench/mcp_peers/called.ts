/**
 * The handlers of a server called in its own process, without a network. Requests carry `content-length`, as real ones
 * do, and bodies of answers are read: some servers begin to work only then.
 *
 * @module
 */
import process from "node:process";
import type { Slice, Sliced } from "./slice.ts";
import type { Handler, Handlers, Server } from "./subject.ts";
import { NotOffered, OPERATIONS, prepare, type Prepared, type Send } from "./wire.ts";

const ORIGIN = "http://127.0.0.1:8787";
/** Times of a slice that are kept. */
const SAMPLES = 1000;

/** Runs slices of calls to the server's handlers, which are made as they are asked for. */
export function callingHandlers(server: Server): (slice: Slice) => Promise<Sliced> {
  const handlers = new Map<number, Promise<Handlers>>();
  const prepared = new Map<string, Promise<Prepared>>();

  async function prepareCall({ operation: index, tools, accept, newest, isFloor }: Slice): Promise<Prepared> {
    const operation = OPERATIONS[index]!;
    if (!handlers.has(tools)) {
      handlers.set(tools, Promise.resolve(server.handlers(tools, ORIGIN)));
    }
    const handler = (await handlers.get(tools)!)[operation.variant];
    if (handler === undefined) throw new NotOffered("it has none");
    const send = sendTo(handler);
    if (!isFloor) {
      return await prepare(send, operation, tools, { accept, newest });
    }
    const body = `{"jsonrpc":"2.0","id":0,"method":"${operation.method}","params":{}}`;
    return {
      async call() {
        await send({ method: "POST", headers: { "content-type": "application/json" }, body });
      },
      tidy: async () => {},
    };
  }

  return async (slice) => {
    const key = `${slice.operation} ${slice.tools}`;
    if (!prepared.has(key)) prepared.set(key, prepareCall(slice));
    try {
      const { call, tidy } = await prepared.get(key)!;
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
      await tidy();
      const step = Math.ceil(times.length / SAMPLES);
      return { perSecond, cpu, times: times.filter((_, i) => i % step === 0) };
    } catch (error) {
      return { refused: error instanceof NotOffered ? error.message : String(error) };
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
