/**
 * Fetching a document from an address that a stranger gave, without being led into the network that we stand in
 * (server-side request forgery): https only, public hosts only, no redirects, a cap on bytes and on time.
 *
 * A host name is judged by its text here. What it resolves to is judged by who opens the connection: on Node, Deno and
 * Bun `runtime/public_connect.ts`, on workerd its network service, which reaches public addresses only. The runtime's
 * own `fetch` judges nothing, so without such a connection nothing is fetched.
 *
 * @module
 */
import { ByteBuffer } from "../body/byte_buffer.ts";
import { isPublicIp, parseIp } from "./ip_address.ts";
import { timerDelay } from "../timer.ts";

/** The part of `fetch` that is used. */
export type Connect = (url: string, init: RequestInit) => Promise<Response>;

/** A document that was fetched whole. */
export interface PublicDocument {
  readonly text: string;
  readonly headers: Headers;
}

/** Fetches a JSON document. @throws {PublicFetchError} saying what the address or the answer breaks */
export type PublicFetch = (url: string) => Promise<PublicDocument>;

/** Why a document was not taken. The message is for the developer of whoever gave the address. */
export class PublicFetchError extends Error {
  override readonly name = "PublicFetchError";
}

export interface PublicFetchOptions {
  /** Opens connections to public addresses only. @default nothing is fetched */
  readonly connect?: Connect | undefined;
  /** Bytes. @default 10240 */
  readonly limit?: number;
  /** Milliseconds for everything. @default 5000 */
  readonly timeout?: number;
}

let platformConnect: Connect | undefined;

/** The way to public addresses on this runtime. For runtime entries, once at start. */
export function usePublicConnect(connect: Connect): void {
  platformConnect = connect;
}

/** The given way to public addresses, else the runtime entry's; `undefined` when there is none. */
export function findConnect(given: Connect | undefined): Connect | undefined {
  return given ?? platformConnect;
}

/** RFC 6761 and its kin: names that stand for this machine or this network. */
const PRIVATE_NAME =
  /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|arpa|onion|alt|invalid)\.?$/i;

/** What is wrong with the address; `undefined` when it may be asked. */
export function checkPublicUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || url.protocol !== "https:") return "must be an https URL";
  if (url.username !== "" || url.password !== "") return "must have no user name or password";
  if (text.includes("#")) return "must have no fragment";
  const ip = parseIp(url.hostname);
  if (ip ? !isPublicIp(ip) : !url.hostname.includes(".") || PRIVATE_NAME.test(url.hostname)) {
    return "must be on a public host";
  }
  return undefined;
}

/** A fetch function under these rules. */
export function createPublicFetch(
  { connect, limit = 10_240, timeout = 5000 }: PublicFetchOptions = {},
): PublicFetch {
  return async (url) => {
    const problem = checkPublicUrl(url);
    if (problem) throw new PublicFetchError(`The address ${problem}`);
    if (!connect) {
      throw new PublicFetchError(
        "This server has no way to public addresses: its operator sets oauth.connect",
      );
    }
    const signal = AbortSignal.timeout(timerDelay(timeout));
    // A connection that does not hear the signal, and a sender of one byte a second, are given up all the same.
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    late.catch(() => {});
    try {
      const opened = connect(url, { headers: { accept: "application/json" }, redirect: "manual", signal });
      opened.then((response) => signal.aborted && drop(response), () => {});
      const response = await Promise.race([opened, late]);
      if (response.status !== 200) {
        drop(response);
        throw new PublicFetchError(`The address answered ${response.status}, not 200`);
      }
      return { text: await readWithin(response, limit, late), headers: response.headers };
    } catch (error) {
      if (error instanceof PublicFetchError) throw error;
      if (signal.aborted) throw new PublicFetchError(`The address did not answer within ${timeout} ms`);
      throw new PublicFetchError("The address could not be reached", { cause: error });
    }
  };
}

/** Nobody waits for what nobody reads. */
function drop(response: Response): void {
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
      if (document.length > limit) throw new PublicFetchError(`The document has more than ${limit} bytes`);
    }
  } catch (error) {
    reader?.cancel().catch(() => {});
    throw error;
  }
}
