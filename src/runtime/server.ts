/**
 * What every runtime entry takes and gives.
 *
 * @module
 */
import type { RequestContext } from "../http/service.ts";

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

/** Whether a runtime could make an address of the Host field (RFC 9112 §3.2); Bun and Deno pass on what they get. */
export function hasReadableHost(request: Request): boolean {
  try {
    return URL.canParse(request.url);
  } catch {
    return false;
  }
}

export function malformedHostResponse(): Response {
  return new Response("The Host field is malformed.", { status: 400 });
}

/** Rejects nothing: resolves when the work is done or the time is over. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<"done" | "late"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => timer = setTimeout(() => resolve("late"), milliseconds));
  const outcome = await Promise.race([work.then(() => "done" as const, () => "done" as const), late]);
  clearTimeout(timer);
  return outcome;
}
