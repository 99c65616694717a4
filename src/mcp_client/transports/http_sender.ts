/**
 * Sends HTTP requests with the credentials of a caller. Redirects are not followed, as they would take the credentials and
 * the request to another place.
 *
 * @module
 */
import { defaultFetch } from "../../http/network/default_fetch.ts";
import { ConnectionError } from "../error.ts";
import type { HttpTransportOptions } from "../transport.ts";

/** A request, apart from the credentials. */
export interface HttpRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly url?: string;
  readonly body?: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly caller: unknown;
  readonly signal: AbortSignal;
}

/** Errors of `fetch` after which the request was certainly not sent (Node, Deno and Bun). */
const NOT_SENT =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket/;

/** Sends requests to one server. */
export class HttpSender {
  readonly url: string;
  /** The URL without its query, which may contain a secret. */
  readonly name: string;
  readonly #fetch: NonNullable<HttpTransportOptions["fetch"]>;
  readonly #headers: HttpTransportOptions["headers"];
  readonly #onRefused: HttpTransportOptions["onRefused"];

  /** @throws {TypeError} if the URL is not one of HTTP, or contains credentials */
  constructor({ url, fetch, headers, onRefused }: HttpTransportOptions) {
    const { protocol, origin, pathname, username, password, href } = new URL(url);
    if (protocol !== "https:" && protocol !== "http:") {
      throw new TypeError("url must begin with https: or http:");
    }
    if (username !== "" || password !== "") throw new TypeError("url must not contain credentials");
    this.url = href;
    this.name = origin + pathname;
    this.#fetch = fetch ?? defaultFetch;
    this.#headers = headers;
    this.#onRefused = onRefused;
  }

  /**
   * Sends a request; once more, if `onRefused` obtains other credentials.
   * @throws {ConnectionError} unreachable, refused, redirected; what `headers` and `onRefused` throw
   */
  async send(request: HttpRequest): Promise<Response> {
    const { url = this.url, caller, signal } = request;
    for (let isRepeated = false;; isRepeated = true) {
      let used = typeof this.#headers === "function" ? this.#headers(caller, signal) : this.#headers;
      if (used instanceof Promise) used = await used;
      const response = await this.#send(url, request, used);
      const { status } = response;
      if (status !== 401 && status !== 403) {
        if (status >= 300 && status < 400 || response.type === "opaqueredirect") {
          discardBody(response);
          const target = readTarget(response, url);
          throw new ConnectionError(
            "redirected",
            this.name,
            `redirects${target}, which is not followed. Use that URL if you trust it`,
            { status, mayHaveRun: false },
          );
        }
        return response;
      }
      const challenge = response.headers.get("www-authenticate");
      discardBody(response);
      const refusal = { status, challenge, url, used: used ?? {} };
      if (isRepeated || !await this.#onRefused?.(caller, refusal, signal)) {
        const what = status === 401 ? "requires valid credentials" : "does not allow this request";
        const details = { status, challenge, mayHaveRun: false };
        throw new ConnectionError("refused", this.name, `${what} (HTTP ${status})`, details);
      }
    }
  }

  async #send(
    url: string,
    { method, body, fields, signal }: HttpRequest,
    used: Readonly<Record<string, string>> | undefined,
  ): Promise<Response> {
    const headers = used === undefined ? fields : { ...used, ...fields };
    try {
      return await this.#fetch(url, { method, headers, body, signal, redirect: "manual" } as RequestInit);
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      if (cause instanceof ConnectionError) throw cause;
      if (!areFields(headers)) {
        // The error of the runtime contains the value, which may be a credential.
        const what = "the header fields for it are invalid. Check the credentials";
        throw new ConnectionError("unreachable", this.name, what, { mayHaveRun: false });
      }
      throw new ConnectionError("unreachable", this.name, "no connection. Check the URL and the network", {
        cause,
        mayHaveRun: !NOT_SENT.test(codeOf(cause)),
      });
    }
  }
}

function areFields(fields: Readonly<Record<string, string>>): boolean {
  try {
    new Headers(fields);
    return true;
  } catch {
    return false;
  }
}

/** The error codes of an error and its causes. */
function codeOf(error: unknown): string {
  let codes = "";
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    codes += ` ${(at as { code?: unknown }).code ?? ""}`;
    for (const each of at instanceof AggregateError ? at.errors : []) codes += ` ${each?.code ?? ""}`;
  }
  return codes;
}

/** The origin and path of a redirect. */
function readTarget(response: Response, url: string): string {
  const location = response.headers.get("location");
  if (location === null || !URL.canParse(location, url)) return "";
  const { origin, pathname } = new URL(location, url);
  return ` to ${origin}${pathname}`;
}

/** Frees the connection of a response that is not read. */
export function discardBody(response: Response): void {
  response.body?.cancel().catch(() => {});
}
