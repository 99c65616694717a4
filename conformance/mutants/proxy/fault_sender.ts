/**
 * A sender with a fault: it stands between the runner and a server, and changes requests and responses.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  BrokenExchange,
  type HttpRequest,
  type Limits,
  type OpenResponse,
  type Sender,
} from "../../runner/exchange/exchange.ts";
import { GrowingBytes } from "../../runner/exchange/growing_bytes.ts";
import { moduleSender } from "../../runner/exchange/send_module.ts";
import { AUTHORIZE, pathOf } from "../http_faults.ts";
import type { Wrap } from "../mutant.ts";
import { followAuthorizations } from "./continuations.ts";
import type { PathTranslation } from "./paths.ts";

export interface FaultSender extends Sender {
  /** Whether the fault has changed a request or a response. */
  hasChanged(): boolean;
}

/** One request of the runner, and what the fault made of it. */
interface Passage {
  /** The URL of the server, if it continues an authorization request there. */
  readonly continued?: string;
  readonly limits: Limits;
  readonly signal: AbortSignal;
  /** The requests that reached the server, and its responses, as text. */
  readonly sent: string[];
  readonly answered: string[];
  broken?: BrokenExchange;
}

/**
 * Puts a fault before a server.
 *
 * @param sender sends requests to the server
 * @param wrap the fault, for Trivet's paths; without it, nothing changes
 */
export function faultSender(sender: Sender, paths: PathTranslation, wrap?: Wrap): FaultSender {
  const passages = new AsyncLocalStorage<Passage>();
  const continuations = followAuthorizations(paths);
  let hasChanged = false;
  const forward = async (request: Request): Promise<Response> => {
    const passage = passages.getStore()!;
    passage.sent.push(await describeRequest(request));
    const isContinued = pathOf(request) === AUTHORIZE;
    const url = isContinued && passage.continued || paths.toServer(request.url);
    try {
      const outgoing = await toOutgoing(request, url);
      const response = await toResponse(
        await sender.open(outgoing, passage.limits, passage.signal),
        passage.limits,
      );
      continuations.follow(url, response.headers.get("location"));
      passage.answered.push(await describeResponse(response, url));
      return response;
    } catch (error) {
      if (error instanceof BrokenExchange) passage.broken = error;
      throw error;
    }
  };
  const faulty = wrap?.(forward) ?? forward;
  return {
    async open(outgoing, limits, signal) {
      const authorization = continuations.find(outgoing.url);
      const request = toRequest(
        outgoing,
        authorization === undefined ? paths.toTrivet(outgoing.url) : toPage(authorization, outgoing.method),
      );
      // What no Request can hold, such as bytes that are not HTTP, passes unchanged.
      if (!request) return await sender.open(outgoing, limits, signal);
      const passage: Passage = {
        limits,
        signal,
        sent: [],
        answered: [],
        ...(authorization !== undefined && { continued: outgoing.url }),
      };
      const original = await describeRequest(request);
      const server = moduleSender(async () => {
        const response = await passages.run(passage, () => faulty(request));
        const isSame = passage.sent.length === 1 && passage.sent[0] === original &&
          passage.answered[0] === await describeResponse(response, outgoing.url);
        if (!isSame) hasChanged = true;
        return response;
      });
      try {
        return await server.open(outgoing, limits, signal);
      } catch (error) {
        throw passage.broken ?? error;
      }
    },
    close: () => Promise.resolve(),
    hasChanged: () => hasChanged,
  };
}

function toRequest(
  { method, fields, body, raw, wire }: HttpRequest,
  url: string,
): Request | undefined {
  if (raw || wire) return undefined;
  try {
    const headers = new Headers();
    for (const [name, value] of fields) headers.append(name, value);
    return new Request(url, { method, headers, ...(body && { body: new Uint8Array(body) }) });
  } catch {
    return undefined;
  }
}

/** The URL of a page: that of the authorization request, which a form is sent to without its query. */
const toPage = (authorization: string, method: string): string =>
  method === "GET" ? authorization : authorization.split("?", 1)[0]!;

async function toOutgoing(request: Request, url: string): Promise<HttpRequest> {
  const body = new Uint8Array(await request.arrayBuffer());
  return {
    method: request.method,
    url,
    fields: [...request.headers].filter(([name]) => name !== "content-length"),
    without: [],
    body: body.length > 0 ? body : undefined,
    raw: false,
    wire: undefined,
  };
}

const isEvents = (headers: Headers): boolean =>
  /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");

/** Reads a response, except for an event stream, which may not end. @throws {BrokenExchange} */
async function toResponse(opened: OpenResponse, limits: Limits): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of opened.fields) headers.append(name, value);
  const { status } = opened;
  if (isEvents(headers)) {
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const chunk = await opened.next();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
      cancel: () => opened.cancel(),
    });
    return new Response(body, { status, headers });
  }
  const bytes = new GrowingBytes();
  for (let chunk = await opened.next(); chunk; chunk = await opened.next()) {
    bytes.add(chunk);
    if (bytes.length > limits.bytes) {
      opened.cancel();
      throw new BrokenExchange("flooded", `The body is longer than ${limits.bytes} bytes`);
    }
  }
  const body = new Uint8Array(bytes.take());
  return new Response(body.length > 0 ? body : null, { status, headers });
}

const describeFields = (headers: Headers): string =>
  JSON.stringify([...headers].filter(([name]) => !/^(content-length|transfer-encoding)$/.test(name)));

async function describeRequest(request: Request): Promise<string> {
  const body = await request.clone().text();
  return `${request.method} ${request.url} ${describeFields(request.headers)} ${
    normalizeBody(request.headers, body)
  }`;
}

/** A fault that writes a body again changes nothing if the values are the same. */
function normalizeBody(headers: Headers, body: string): string {
  const type = headers.get("content-type") ?? "";
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return new URLSearchParams(body).toString();
  try {
    return /\bjson\b/i.test(type) ? JSON.stringify(JSON.parse(body)) : body;
  } catch {
    return body;
  }
}

async function describeResponse(response: Response, url: string): Promise<string> {
  const body = isEvents(response.headers) ? "" : await response.clone().text();
  const headers = new Headers(response.headers);
  const location = URL.parse(headers.get("location") ?? "", url);
  if (headers.has("location") && location) headers.set("location", location.href);
  return `${response.status} ${describeFields(headers)} ${normalizeBody(headers, body)}`;
}
