/**
 * What every runtime entry takes and gives.
 *
 * @module
 */
import type { RequestContext } from "../http/service.ts";
import { timerDelay } from "../http/timer.ts";

/** What is served: Trivet, one of its services, or anything with a `fetch`. */
export interface FetchHandler {
  fetch(request: Request, context?: RequestContext): Promise<Response> | Response;
}

export interface ServeOptions {
  /** 0 takes a free one. @default 8787 */
  readonly port?: number;
  /** @default "127.0.0.1" */
  readonly hostname?: string;
  /** How long `close()` waits for requests in flight, in milliseconds. @default 10000 */
  readonly closeTimeout?: number;
  /** Hears what a handler threw; the caller hears only that it failed. */
  readonly onError?: (error: unknown) => void;
}

/** On Node, a client has this long to send its header fields, and its whole request, in milliseconds. */
export const HEADERS_TIMEOUT = 15_000;
export const REQUEST_TIMEOUT = 180_000;

export interface RunningServer {
  readonly hostname: string;
  readonly port: number;
  /** `http://<hostname>:<port>` */
  readonly url: string;
  /** Takes no more connections, lets requests in flight finish, and resolves when all is closed. */
  close(): Promise<void>;
}

/** `ServeOptions` with every default. */
export function completeServeOptions(options: ServeOptions): Required<ServeOptions> {
  const { port = 8787, hostname = "127.0.0.1", closeTimeout = 10_000, onError = () => {} } = options;
  return { port, hostname, closeTimeout, onError };
}

export function urlOf(hostname: string, port: number): string {
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/** What a caller is told when a handler threw: nothing of why. */
export function faultResponse(): Response {
  return Response.json({ error: "server_error", error_description: "The server failed: try again later" }, {
    status: 500,
  });
}

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Whether a Host field is one host with an optional port (RFC 9112 §3.2); two fields arrive joined by a comma. */
export function isHost(host: string): boolean {
  return HOST.test(host) && URL.canParse(`http://${host}`);
}

/**
 * Whether the request says whom it is for (RFC 9112 §3.2, §3.3). Runtimes differ in what they pass on: a Host with a
 * path in it moves the path on Deno, and leaves Bun without an address.
 */
export function hasReadableTarget(request: Request): boolean {
  const host = request.headers.get("host");
  if (host !== null && !isHost(host)) return false;
  try {
    return request.url.startsWith("http") && URL.canParse(request.url);
  } catch {
    return false;
  }
}

const MALFORMED_TARGET = "The Host field or the request target is malformed.";

export function malformedTargetResponse(): Response {
  return new Response(MALFORMED_TARGET, { status: 400 });
}

/** Rejects nothing: resolves when the work is done or the time is over. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<"done" | "late"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) =>
    timer = setTimeout(() => resolve("late"), timerDelay(milliseconds))
  );
  const outcome = await Promise.race([work.then(() => "done" as const, () => "done" as const), late]);
  clearTimeout(timer);
  return outcome;
}
