/**
 * Sends requests to a `fetch` handler in this process: no socket, no port.
 *
 * @module
 */
import { Broken, type Field, type Limits, type OpenAnswer, type Outgoing, type Sender } from "./exchange.ts";
import { show } from "../report/say.ts";

export type FetchHandler = (request: Request) => Response | Promise<Response>;

export function moduleSender(fetch: FetchHandler): Sender {
  return {
    async open({ method, url, fields, body }: Outgoing, _: Limits, signal: AbortSignal): Promise<OpenAnswer> {
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
        throw new Broken("closed", `The handler threw: ${error instanceof Error ? error.message : error}`);
      }
      // Of another realm or runtime it may be, but what a Response has it must have.
      if (typeof response?.status !== "number" || typeof response.headers?.forEach !== "function") {
        throw new Broken("garbled", `The handler gave no Response, but ${show(response)}`);
      }
      const reader = response.body?.getReader();
      const answer = { status: response.status, fields: toFields(response.headers) };
      return {
        ...answer,
        async next() {
          try {
            return (await reader?.read())?.value;
          } catch (error) {
            throw new Broken(
              "closed",
              `The body broke off: ${error instanceof Error ? error.message : error}`,
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

/** As a server hands them on: repeated fields joined, but cookies by "; ". */
function toHeaders(fields: readonly Field[]): Headers {
  const headers = new Headers();
  for (const [name, value] of fields) headers.append(name, value);
  return headers;
}

function toFields(headers: Headers): Field[] {
  const fields: Field[] = [];
  headers.forEach((value, name) => {
    if (name !== "set-cookie") fields.push([name, value]);
  });
  return [...fields, ...headers.getSetCookie().map((value): Field => ["set-cookie", value])];
}
