/**
 * Generates HTTP requests to the fuzzed tool server: most are valid requests of some revision, and half of them are mutated
 * in the message, the header fields, the bytes or the method.
 *
 * @module
 */
import { createGarbage, mutate, mutateText, RawJson, toJson } from "../json_garbage.ts";
import { addModernFields, mutateFields, setField, STREAMABLE } from "./mcp_fields.ts";
import type { Corpus, Session, Token } from "./mcp_corpus.ts";
import {
  createClientResult,
  createId,
  createModernMeta,
  createNotification,
  createRequest,
  type Members,
  MODERN,
  REVISIONS,
} from "./mcp_messages.ts";
import { isObject } from "./mcp_wire.ts";
import { ORIGIN } from "./mcp_setup.ts";
import type { Random } from "../random.ts";

/** The members of a `Request`, which can be read again. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** Whether the body has one chunk, several, or an error after the first one. */
  readonly chunks: "one" | "many" | "broken";
}

/** Returns the next request. @param foreign session ids of another service */
export function nextExchange(random: Random, corpus: Corpus, foreign: readonly string[]): Exchange {
  const lastTask = corpus.tasks.at(-1);
  const token = lastTask && random.oneIn(3)
    ? lastTask.token
    : random.pick<Token>([undefined, undefined, "reader", "writer"]);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const mutations = random.oneIn(2) ? 0 : 1 + random.below(3);
  if (random.oneIn(9)) {
    const exchange = createSessionRequest(random, corpus, headers);
    return mutateExchange(random, corpus, foreign, exchange, mutations);
  }
  const message = random.oneIn(2)
    ? createModernMessage(random, corpus, mutations > 0)
    : createLegacyMessage(random, corpus, token, headers, mutations > 0);
  if (mutations > 0 && random.oneIn(2)) mutateMessage(random, message);
  if (!random.oneIn(8)) addModernFields(random, message, headers);
  const text = toJson(message);
  const body = mutations > 0 && random.oneIn(5) ? mutateText(random, text) : new TextEncoder().encode(text);
  if (random.oneIn(20)) headers["content-length"] = String(body.length);
  const exchange: Exchange = {
    method: "POST",
    path: "/mcp",
    headers: new Headers(),
    body,
    chunks: random.oneIn(15) ? random.pick(["many", "broken"]) : "one",
  };
  for (const [name, value] of Object.entries(headers)) setField(exchange.headers, name, value);
  return mutateExchange(random, corpus, foreign, exchange, random.oneIn(2) ? mutations : 0);
}

/** Creates the `Request`. */
export function toRequest({ method, path, headers, body, chunks }: Exchange, signal: AbortSignal): Request {
  const init: RequestInit & { duplex?: "half" } = { method, headers, signal };
  if (body && method !== "GET" && method !== "HEAD") {
    init.body = chunks === "one" ? body : toChunks(body, chunks === "broken");
    if (chunks !== "one") init.duplex = "half";
  }
  return new Request(ORIGIN + path, init);
}

function toChunks(body: Uint8Array<ArrayBuffer>, breaks: boolean): ReadableStream<Uint8Array> {
  const half = body.length >> 1;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(body.subarray(0, half));
      if (breaks) return controller.error(new Error("gone"));
      controller.enqueue(body.subarray(half));
      controller.close();
    },
  });
}

function createModernMessage(random: Random, corpus: Corpus, mayBeInvalid: boolean): Members {
  if (random.oneIn(15)) {
    const { method, params } = createNotification(random, corpus);
    return { jsonrpc: "2.0", method, params: { ...params, _meta: createModernMeta(random, MODERN) } };
  }
  const { method, params } = createRequest(random, corpus, true);
  const revision = mayBeInvalid && random.oneIn(12)
    ? random.pick([...REVISIONS, "v999.0.0", "2026-07-29"])
    : MODERN;
  return {
    jsonrpc: "2.0",
    id: createId(random),
    method,
    params: { ...params, _meta: createModernMeta(random, revision, method) },
  };
}

/** Mutates any member, or one that the server echoes. */
function mutateMessage(random: Random, message: Members | unknown[]): void {
  const { params } = message as Members;
  const meta = isObject(params) ? params._meta as Members | undefined : undefined;
  if (random.oneIn(4) && !Array.isArray(message)) message.id = createGarbage(random);
  else if (random.oneIn(4) && meta) {
    meta.progressToken = random.oneIn(3) ? new RawJson("1e999") : createGarbage(random);
  } else mutate(random, message);
}

/** Returns a message of a revision with a handshake or of a plain JSON-RPC client. Adds its header fields to `headers`. */
function createLegacyMessage(
  random: Random,
  corpus: Corpus,
  token: Token,
  headers: Record<string, string>,
  mayBeInvalid: boolean,
): Members | unknown[] {
  const own = corpus.sessions.filter((each) => each.live && each.token === token);
  const session = own.length > 0 && !random.oneIn(3) ? random.pick(own) : undefined;
  const revision = session?.revision ?? random.pick(REVISIONS);
  const isPlain = !session && random.oneIn(3);
  headers.accept = isPlain ? random.pick(["application/json", "*/*"]) : STREAMABLE;
  if (session) headers["mcp-session-id"] = session.id;
  if (!isPlain && !random.oneIn(3)) headers["mcp-protocol-version"] = revision;
  const one = (): Members => createOneLegacyMessage(random, corpus, session);
  const hasBatches = isPlain || headers["mcp-protocol-version"] === "2025-03-26";
  if (random.oneIn(hasBatches ? 4 : mayBeInvalid ? 12 : 1e6)) {
    return Array.from({ length: random.oneIn(20) ? random.below(120) : random.below(6) }, one);
  }
  return one();
}

function createOneLegacyMessage(random: Random, corpus: Corpus, session: Session | undefined): Members {
  if (random.oneIn(12)) return { jsonrpc: "2.0", ...createNotification(random, corpus) };
  if (random.oneIn(15)) {
    const asked = corpus.questions.filter((each) => each.session === session);
    const { id, method } = asked.length > 0 ? random.pick(asked) : { id: "none", method: "roots/list" };
    return { jsonrpc: "2.0", id, result: createClientResult(random, method) };
  }
  const { method, params } = createRequest(random, corpus, false);
  const meta = random.oneIn(3) ? { _meta: { progressToken: random.pick<unknown>(["p", 7, 0]) } } : {};
  const hasParams = Object.keys(params).length > 0 || !random.oneIn(2);
  return {
    jsonrpc: "2.0",
    id: createId(random),
    method,
    ...(hasParams && { params: { ...params, ...meta } }),
  };
}

/** Returns GET or DELETE of a session, or another method. */
function createSessionRequest(random: Random, corpus: Corpus, fields: Record<string, string>): Exchange {
  const headers = new Headers();
  if (fields.authorization) headers.set("authorization", fields.authorization);
  // The streams of the last events may still be open.
  const recent = corpus.events.slice(-4).filter((each) => each.session.live);
  const session = recent.length > 0 && random.oneIn(2)
    ? random.pick(recent).session
    : corpus.sessions.length > 0
    ? random.pick(corpus.sessions)
    : undefined;
  if (session && !random.oneIn(8)) {
    headers.set("mcp-session-id", session.id);
    if (session.token) headers.set("authorization", `Bearer ${session.token}`);
    if (random.oneIn(2)) headers.set("mcp-protocol-version", session.revision);
  }
  if (!random.oneIn(8)) headers.set("accept", "text/event-stream");
  const events = corpus.events.filter((each) => each.session === session || random.oneIn(20));
  const candidates = random.oneIn(2) ? events.slice(-3) : events;
  if (candidates.length > 0 && random.oneIn(2)) headers.set("last-event-id", random.pick(candidates).id);
  const method = random.oneIn(3) ? random.pick(["DELETE", "OPTIONS", "PUT", "HEAD", "PATCH"]) : "GET";
  const preflight = method === "OPTIONS" && random.oneIn(2);
  if (preflight) headers.set("access-control-request-method", "POST");
  return { method, path: "/mcp", headers, body: undefined, chunks: "one" };
}

function mutateExchange(
  random: Random,
  corpus: Corpus,
  foreign: readonly string[],
  exchange: Exchange,
  times: number,
): Exchange {
  let { method, path } = exchange;
  for (let i = times; i > 0; i--) {
    mutateFields(random, corpus, foreign, exchange.headers);
    if (random.oneIn(60)) method = random.pick(["PUT", "PATCH", "DELETE"]);
    if (random.oneIn(60)) {
      path = random.pick(["/mcp/", "/mcp?x=1", "/mcp/no", "/", "/mcp/sse?x", "/mcp/messages", "//mcp"]);
    }
  }
  return { ...exchange, method, path };
}
