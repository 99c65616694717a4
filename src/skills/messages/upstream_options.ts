/**
 * The options of the model endpoint: its URL and limits, checked when the server starts.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";

/** The model endpoint, as the operator configures it. */
export interface Upstream {
  /** Its base URL, such as `https://models.example.com`; `/v1/messages` is added if missing. */
  readonly url: string;
  /** Sent as `x-api-key`. Never shown to callers. */
  readonly key?: string | undefined;
  /** Further header fields, such as `authorization`; they replace Trivet's own of the same name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds until a streamed response begins. @default 60000 */
  readonly connectLimit?: number | undefined;
  /**
   * Milliseconds until a response that is not streamed begins, which is when the model is done. Node's own `fetch` waits
   * no longer than the default.
   * @default 300000
   */
  readonly answerLimit?: number | undefined;
  /** Milliseconds without data within a response. @default 120000 */
  readonly idleLimit?: number | undefined;
  /** Bytes of one response. @default 67108864 */
  readonly sizeLimit?: number | undefined;
  /** @default the runtime's `fetch` */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

const NAMES: Names<Upstream> = {
  url: "string",
  key: "string",
  headers: "object",
  connectLimit: "number",
  answerLimit: "number",
  idleLimit: "number",
  sizeLimit: "number",
  fetch: "function",
};
/** Default of `sizeLimit`: a response is assembled in memory. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** The maximum of `setTimeout()`. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

type Completed = {
  readonly [Name in "url" | "connectLimit" | "answerLimit" | "idleLimit" | "sizeLimit"]: NonNullable<
    Upstream[Name]
  >;
};

/**
 * The URL for messages, and the limits with their defaults.
 * @throws {TypeError | RangeError} for a URL that is not http or https, and for a limit outside its range
 */
export function completeUpstream(upstream: Upstream): Completed {
  checkNames("upstream", upstream, NAMES);
  const { connectLimit = 60_000, answerLimit = 300_000, idleLimit = 120_000, sizeLimit = MAX_ANSWER_BYTES } =
    upstream;
  for (const [name, limit] of Object.entries({ connectLimit, answerLimit, idleLimit })) {
    if (Number.isSafeInteger(limit) && limit > 0 && limit <= MAX_TIMEOUT_MS) continue;
    throw new RangeError(
      `Invalid options: "${name}" of the model endpoint must be an integer from 1 to ${MAX_TIMEOUT_MS} milliseconds, but is ${limit}`,
    );
  }
  if (!Number.isSafeInteger(sizeLimit) || sizeLimit < 1) {
    throw new RangeError(
      `Invalid options: "sizeLimit" of the model endpoint must be an integer of at least 1 byte, but is ${sizeLimit}`,
    );
  }
  return { url: messagesUrl(upstream.url), connectLimit, answerLimit, idleLimit, sizeLimit };
}

/** The URL for messages of an endpoint. @throws {TypeError} when the URL is invalid */
export function messagesUrl(base: string): string {
  const url = URL.parse(base);
  if (
    !url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "" || url.hash !== ""
  ) {
    throw new TypeError(
      "Invalid options: the URL of the model endpoint must be http or https, without credentials and fragment",
    );
  }
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/v1/messages")
    ? path
    : path.endsWith("/v1")
    ? `${path}/messages`
    : `${path}/v1/messages`;
  return url.href;
}
