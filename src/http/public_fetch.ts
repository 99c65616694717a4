/**
 * Fetching a document from an address that a stranger gave, without being led into the network that we stand in
 * (server-side request forgery): https only, public hosts only, no redirects, a cap on bytes and on time.
 *
 * A host name is judged by its text here. What it resolves to is judged by whoever opens the connection: on Node, Deno
 * and Bun `runtime/public_connect.ts`, on workerd the flag `global_fetch_strictly_public`.
 *
 * @module
 */
import { isPublicIp, parseIp } from "./ip_address.ts";

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
  /** @default the runtime's `fetch` */
  readonly connect?: Connect;
  /** Bytes. @default 10240 */
  readonly limit?: number;
  /** Milliseconds for everything. @default 5000 */
  readonly timeout?: number;
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
  { connect = (url, init) => fetch(url, init), limit = 10_240, timeout = 5000 }: PublicFetchOptions = {},
): PublicFetch {
  return async (url) => {
    const problem = checkPublicUrl(url);
    if (problem) throw new PublicFetchError(`The address ${problem}`);
    const signal = AbortSignal.timeout(timeout);
    try {
      const response = await connect(url, {
        headers: { accept: "application/json" },
        redirect: "manual",
        signal,
      });
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new PublicFetchError(`The address answered ${response.status}, not 200`);
      }
      return { text: await readWithin(response, limit, signal), headers: response.headers };
    } catch (error) {
      if (error instanceof PublicFetchError) throw error;
      if (signal.aborted) throw new PublicFetchError(`The address did not answer within ${timeout} ms`);
      throw new PublicFetchError("The address could not be reached", { cause: error });
    }
  };
}

async function readWithin(response: Response, limit: number, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  // A sender of one byte a second is no answer either, whatever the runtime makes of the signal.
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  late.catch(() => {});
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader?.read() ?? { done: true, value: undefined }, late]);
      if (done) return text + decoder.decode();
      length += value!.length;
      if (length > limit) throw new PublicFetchError(`The document has more than ${limit} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    reader?.cancel().catch(() => {});
    throw error;
  }
}
