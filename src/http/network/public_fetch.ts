/**
 * Fetches a document from a URL that an unauthenticated caller supplied, without server-side request forgery: https only,
 * public hosts only, no redirects, limits on bytes and time.
 *
 * This file checks the host name in the URL. The address that it resolves to is checked where the connection opens: on
 * Node, Deno and Bun in `runtime/public_connect.ts`, on workerd by its network service, which reaches public addresses
 * only. The runtime's own `fetch` checks no address, so it is never used.
 *
 * @module
 */
import { ByteBuffer } from "../body/byte_buffer.ts";
import { parseIp } from "./ip_address.ts";
import { isPublicIp } from "./ip_range.ts";
import { isLoopbackHost } from "./loopback.ts";
import { timerDelay } from "../../timer.ts";

/** A function like `fetch` that opens connections to public addresses only. */
export type Connect = (url: string, init: RequestInit) => Promise<Response>;

/** A fetched document. */
export interface PublicDocument {
  readonly text: string;
  readonly headers: Headers;
  readonly status: number;
}

/**
 * Fetches a JSON document.
 * @param init another method, with its header fields and body; `statuses` instead of those of the options
 * @throws {PublicFetchError} naming what is wrong with the URL or the response
 */
export type PublicFetch = (
  url: string,
  init?: Pick<RequestInit, "method" | "body"> & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly statuses?: readonly number[];
  },
) => Promise<PublicDocument>;

/** Why a document was not fetched. The message is for the developer of the client that supplied the URL. */
export class PublicFetchError extends Error {
  override readonly name = "PublicFetchError";
  /** Of a response that was not expected. */
  readonly status: number | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly status?: number }) {
    super(message, options);
    this.status = options?.status;
  }
}

export interface PublicFetchOptions {
  /** @default every fetch fails */
  readonly connect?: Connect | undefined;
  /** The maximum size of a document, in bytes. @default 10240 */
  readonly limit?: number;
  /** The maximum time from the request to the end of the body, in milliseconds. @default 5000 */
  readonly timeout?: number;
  /** The status codes of success. @default [200] */
  readonly statuses?: readonly number[];
}

let platformConnect: Connect | undefined;

/** Sets the default `connect` of this runtime. Runtime entries call it when they are imported. */
export function usePublicConnect(connect: Connect): void {
  platformConnect = connect;
}

/** The `connect` given, otherwise that of the runtime entry; `undefined` when there is none. */
export function findConnect(given: Connect | undefined): Connect | undefined {
  return given ?? platformConnect;
}

/** Names reserved for this machine or this network (RFC 6761 and others). */
const PRIVATE_NAME =
  /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|arpa|onion|alt|invalid)\.?$/i;

/** The rule that the URL breaks, as the end of a sentence; `undefined` when it may be fetched. */
export function checkPublicUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || url.protocol !== "https:") return "must be an https URL";
  if (url.username !== "" || url.password !== "") return "must not have a user name or password";
  if (text.includes("#")) return "must not have a fragment";
  const ip = parseIp(url.hostname);
  if (ip ? !isPublicIp(ip) : !url.hostname.includes(".") || PRIVATE_NAME.test(url.hostname)) {
    return "must have a public host";
  }
  return undefined;
}

/** The rule that a URL of the operator's configuration breaks: it may be on a private host, and http on loopback. */
export function checkConfiguredUrl(text: string): string | undefined {
  const url = URL.parse(text);
  const isSecure = url?.protocol === "https:" || url?.protocol === "http:" && isLoopbackHost(url.hostname);
  if (!url || !isSecure) return "must be an https URL (http on loopback)";
  if (url.username !== "" || url.password !== "") return "must not have a user name or password";
  return text.includes("#") ? "must not have a fragment" : undefined;
}

/** Creates a fetch function with these limits, for public URLs. */
export function createPublicFetch(options: PublicFetchOptions = {}): PublicFetch {
  return createCheckedFetch(checkPublicUrl, options);
}

/** Creates a fetch function with these limits, for URLs of the operator's configuration. */
export function createConfiguredFetch(options: PublicFetchOptions): PublicFetch {
  return createCheckedFetch(checkConfiguredUrl, options);
}

function createCheckedFetch(
  check: (url: string) => string | undefined,
  { connect, limit = 10_240, timeout = 5000, statuses = [200] }: PublicFetchOptions,
): PublicFetch {
  return async (url, { statuses: accepted = statuses, ...init } = {}) => {
    const problem = check(url);
    if (problem) throw new PublicFetchError(`The URL ${problem}`);
    if (!connect) {
      throw new PublicFetchError(
        "This server cannot fetch public URLs: its operator has to set oauth.connect",
      );
    }
    const signal = AbortSignal.timeout(timerDelay(timeout));
    // Also ends the wait for a connection that ignores the signal, and for a server that sends a byte per second.
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    late.catch(() => {});
    try {
      const headers = { accept: "application/json", ...init.headers };
      const opened = connect(url, { ...init, headers, redirect: "manual", signal });
      opened.then((response) => signal.aborted && discard(response), () => {});
      const response = await Promise.race([opened, late]);
      const { status } = response;
      if (!accepted.includes(status)) {
        discard(response);
        throw new PublicFetchError(
          `The URL returned status ${status}, expected ${accepted.join(" or ")}`,
          { status },
        );
      }
      return { text: await readWithin(response, limit, late), headers: response.headers, status };
    } catch (error) {
      if (error instanceof PublicFetchError) throw error;
      if (signal.aborted) {
        throw new PublicFetchError(`The URL did not respond within ${timeout} ms`, { cause: error });
      }
      throw new PublicFetchError("The URL could not be fetched", { cause: error });
    }
  };
}

/** Cancels the body without waiting. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

async function readWithin(response: Response, limit: number, late: Promise<never>): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const document = new ByteBuffer();
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader?.read() ?? { done: true, value: undefined }, late]);
      if (done) return decoder.decode(document.view());
      document.append(value!);
      if (document.length > limit) throw new PublicFetchError(`The document must be at most ${limit} bytes`);
    }
  } catch (error) {
    reader?.cancel().catch(() => {});
    throw error;
  }
}
