/**
 * What the entries of all runtimes share: options, the running server, checks of a request's target.
 *
 * @module
 */
import { checkNames, checkWhole, invalidOption, type Names } from "../options/option_check.ts";
import { SERVER_FAILED } from "../http/response.ts";
import type { RequestContext } from "../http/service.ts";
import { waitAtMost } from "../http/wait_at_most.ts";

/** What is served: Trivet, one of its services, or anything with a `fetch`. */
export interface FetchHandler {
  fetch(request: Request, context?: RequestContext): Promise<Response> | Response;
}

/** A certificate with its chain, and its private key, as PEM texts (RFC 7468). */
export interface TlsCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Options of `serve`. */
export interface ServeOptions {
  /** 0 takes a free port. @default 8787 */
  readonly port?: number;
  /** @default "127.0.0.1" */
  readonly hostname?: string;
  /** How long `close()` waits for requests in flight, in milliseconds. @default 10000 */
  readonly closeTimeout?: number;
  /** Called with what a handler threw. The client gets only status 500. */
  readonly onError?: (error: unknown) => void;
  /** Serves https (TLS 1.2 and 1.3) with this certificate. @default http */
  readonly tls?: TlsCertificate | undefined;
}

const NAMES: Names<ServeOptions> = {
  port: "number",
  hostname: "string",
  closeTimeout: "number",
  onError: "function",
  tls: "object",
};

/** How long a client can take to send its header fields, on Node. */
export const HEADERS_TIMEOUT_MS = 15_000;
/** How long a client can take to send its whole request, on Node. */
export const REQUEST_TIMEOUT_MS = 180_000;

/** A server that listens. */
export interface RunningServer {
  readonly hostname: string;
  readonly port: number;
  /** `http://<hostname>:<port>`, with TLS `https://…` */
  readonly url: string;
  /** Accepts no more connections, lets requests in flight finish, and resolves when all is closed. */
  close(): Promise<void>;
  /**
   * Serves new connections with another certificate; requests that have begun go on. On Deno and Bun the connections that
   * are open end with them, and the port is closed for some milliseconds.
   * @throws {Error} for a certificate that cannot be used, and for a server without TLS; nothing has changed then
   */
  replaceCertificate(tls: TlsCertificate): Promise<void>;
}

/** `ServeOptions` with every default. @throws {TypeError | RangeError} for an unknown option, an empty host and a number out of range */
export function completeServeOptions(options: ServeOptions): Required<ServeOptions> {
  checkNames("serve", options, NAMES);
  const { port = 8787, hostname = "127.0.0.1", closeTimeout = 10_000, onError = () => {}, tls } = options;
  checkWhole("serve.port", port, 0);
  checkWhole("serve.closeTimeout", closeTimeout, 0);
  // Runtimes take an empty text, as of an unset variable, for all addresses.
  if (hostname === "") {
    throw invalidOption("serve.hostname", "an address or a host", hostname);
  }
  return { port, hostname, closeTimeout, onError, tls };
}

/** What a server without TLS throws instead of replacing its certificate. */
export function withoutTls(): Error {
  return new TypeError("This server has no certificate to replace: it serves http");
}

/** The URL at which a server listens. An IPv6 address is put in brackets. */
export function urlOf(hostname: string, port: number, tls?: TlsCertificate): string {
  return `http${tls ? "s" : ""}://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/** The response when a handler threw. It does not contain the error. */
export function faultResponse(): Response {
  return Response.json(
    { error: "server_error", error_description: SERVER_FAILED },
    {
      status: 500,
    },
  );
}

/** Tells the client to send its next request on another connection: on this one it could be lost (RFC 9112 section 9.6). */
export function closeAfter(response: Response): Response {
  try {
    response.headers.set("connection", "close");
  } catch {
    // The header fields of a response of `fetch` cannot be changed.
  }
  return response;
}

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Whether a Host field is one host with an optional port (RFC 9112 section 3.2); two fields arrive joined by a comma. */
export function isHost(host: string): boolean {
  return HOST.test(host) && URL.canParse(`http://${host}`);
}

/**
 * Whether the request has a valid target (RFC 9112 sections 3.2 and 3.3). Runtimes accept different targets: a Host with a
 * path in it changes the path on Deno, and leaves the request without a URL on Bun.
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

const MALFORMED_TARGET = "Invalid Host header or request target.";

/** 400: the request target cannot be a URL (RFC 9112 section 3.2). */
export function malformedTargetResponse(): Response {
  return new Response(MALFORMED_TARGET, { status: 400 });
}

/** How long a port that the same process closed can take to be free. */
const RELISTEN_TIMEOUT_MS = 5000;

/** Listens on a port that is just being closed. Rejects as `listen` throws, when the port stays in use. */
export async function listenAgain<Server>(listen: () => Server): Promise<Server> {
  const end = performance.now() + RELISTEN_TIMEOUT_MS;
  for (;;) {
    try {
      return listen();
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

/** Servers of a runtime that accept no more connections, until their requests have ended. */
export class EndingServers<Server> {
  readonly #ending = new Map<Server, Promise<void>>();

  /** @param ended settles when its last request has ended */
  add(server: Server, ended: Promise<unknown>): void {
    const remove = (): void => void this.#ending.delete(server);
    this.#ending.set(server, ended.then(remove, remove));
  }

  has(server: Server): boolean {
    return this.#ending.has(server);
  }

  /** Waits for all of them. Returns those that have not ended when the time is over. */
  async wait(milliseconds: number): Promise<readonly Server[]> {
    await waitAtMost(milliseconds, Promise.all(this.#ending.values()));
    const late = [...this.#ending.keys()];
    this.#ending.clear();
    return late;
  }
}
