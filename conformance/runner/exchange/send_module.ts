/**
 * Sends requests to a `fetch` handler in this process, without a socket.
 *
 * @module
 */
import {
  BrokenExchange,
  type HeaderField,
  type HttpRequest,
  type Limits,
  type OpenResponse,
  type Sender,
} from "./exchange.ts";
import { formatValue } from "../report/describe.ts";

export type FetchHandler = (request: Request) => Response | Promise<Response>;

export function moduleSender(fetch: FetchHandler): Sender {
  return {
    async open(
      { method, url, fields, body }: HttpRequest,
      _: Limits,
      signal: AbortSignal,
    ): Promise<OpenResponse> {
      const leave = new AbortController();
      signal.addEventListener("abort", () => leave.abort(), { once: true });
      const request = new Request(url, {
        method,
        headers: toHeaders(fields),
        ...(body && { body: new Uint8Array(body) }),
        signal: leave.signal,
      });
      let response: Response;
      try {
        response = await fetch(request);
      } catch (error) {
        throw new BrokenExchange(
          "closed",
          `The handler threw: ${error instanceof Error ? error.message : error}`,
        );
      }
      // The Response may come from another realm, so its members are checked, not its class.
      if (typeof response?.status !== "number" || typeof response.headers?.forEach !== "function") {
        throw new BrokenExchange(
          "garbled",
          `The handler did not return a Response, but ${formatValue(response)}`,
        );
      }
      const reader = response.body?.getReader();
      const answer = { status: response.status, fields: toFields(response.headers) };
      return {
        ...answer,
        async next() {
          try {
            return (await reader?.read())?.value;
          } catch (error) {
            throw new BrokenExchange(
              "closed",
              `The body stream failed: ${error instanceof Error ? error.message : error}`,
              answer,
            );
          }
        },
        cancel() {
          leave.abort();
          reader?.cancel().catch(() => {});
        },
      };
    },
    close: () => Promise.resolve(),
  };
}

/** Repeated fields are joined, cookies with "; ". */
function toHeaders(fields: readonly HeaderField[]): Headers {
  const headers = new Headers();
  for (const [name, value] of fields) headers.append(name, value);
  return headers;
}

function toFields(headers: Headers): HeaderField[] {
  const fields: HeaderField[] = [];
  headers.forEach((value, name) => {
    if (name !== "set-cookie") fields.push([name, value]);
  });
  return [...fields, ...headers.getSetCookie().map((value): HeaderField => ["set-cookie", value])];
}
