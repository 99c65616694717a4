/**
 * Generated HTTP requests to the fuzzed tool server: most begin as ones that a client of some revision would send, and
 * half of them are then spoilt, in the message, the header fields, the bytes or the method.
 *
 * @module
 */
import { garbage, mangle, Raw, spoil, toJson } from "../json_garbage.ts";
import { addModernFields, setField, spoilFields, STREAMABLE } from "./mcp_fields.ts";
import type { Loot, Session, Token } from "./mcp_loot.ts";
import {
  goodAnswer,
  goodId,
  goodNotification,
  goodRequest,
  type Members,
  MODERN,
  modernMeta,
  REVISIONS,
} from "./mcp_messages.ts";
import { isObject } from "./mcp_wire.ts";
import { ORIGIN } from "./mcp_world.ts";
import type { Random } from "../random.ts";

/** One request, kept apart from the `Request` that it becomes. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** The body comes in pieces, and the last one may never come. */
  readonly pieces: "one" | "many" | "broken";
}

/** The next request; `foreign` are session ids that were never good here. */
export function nextExchange(random: Random, loot: Loot, foreign: readonly string[]): Exchange {
  const mine = loot.tasks.at(-1);
  const token = mine && random.oneIn(3)
    ? mine.token
    : random.pick<Token>([undefined, undefined, "reader", "writer"]);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const spoilt = random.oneIn(2) ? 0 : 1 + random.below(3);
  if (random.oneIn(9)) {
    const exchange = sessionRequest(random, loot, headers);
    return spoilExchange(random, loot, foreign, exchange, spoilt);
  }
  const message = random.oneIn(2)
    ? modernMessage(random, loot, spoilt > 0)
    : legacyMessage(random, loot, token, headers, spoilt > 0);
  if (spoilt > 0 && random.oneIn(2)) spoilMessage(random, message);
  if (!random.oneIn(8)) addModernFields(random, message, headers);
  const text = toJson(message);
  const body = spoilt > 0 && random.oneIn(5) ? mangle(random, text) : new TextEncoder().encode(text);
  if (random.oneIn(20)) headers["content-length"] = String(body.length);
  const exchange: Exchange = {
    method: "POST",
    path: "/mcp",
    headers: new Headers(),
    body,
    pieces: random.oneIn(15) ? random.pick(["many", "broken"]) : "one",
  };
  for (const [name, value] of Object.entries(headers)) setField(exchange.headers, name, value);
  return spoilExchange(random, loot, foreign, exchange, random.oneIn(2) ? spoilt : 0);
}

/** Makes the request; `abort` breaks it off. */
export function toRequest({ method, path, headers, body, pieces }: Exchange, signal: AbortSignal): Request {
  const init: RequestInit & { duplex?: "half" } = { method, headers, signal };
  if (body && method !== "GET" && method !== "HEAD") {
    init.body = pieces === "one" ? body : inPieces(body, pieces === "broken");
    if (pieces !== "one") init.duplex = "half";
  }
  return new Request(ORIGIN + path, init);
}

function inPieces(body: Uint8Array<ArrayBuffer>, breaks: boolean): ReadableStream<Uint8Array> {
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

function modernMessage(random: Random, loot: Loot, mayBeOdd: boolean): Members {
  if (random.oneIn(15)) {
    const { method, params } = goodNotification(random, loot);
    return { jsonrpc: "2.0", method, params: { ...params, _meta: modernMeta(random, MODERN) } };
  }
  const { method, params } = goodRequest(random, loot, true);
  const revision = mayBeOdd && random.oneIn(12)
    ? random.pick([...REVISIONS, "v999.0.0", "2026-07-29"])
    : MODERN;
  return {
    jsonrpc: "2.0",
    id: goodId(random),
    method,
    params: { ...params, _meta: modernMeta(random, revision, method) },
  };
}

/** Anywhere, or where a server keeps what it was given to give it back. */
function spoilMessage(random: Random, message: Members | unknown[]): void {
  const { params } = message as Members;
  const meta = isObject(params) ? params._meta as Members | undefined : undefined;
  if (random.oneIn(4) && !Array.isArray(message)) message.id = garbage(random);
  else if (random.oneIn(4) && meta) meta.progressToken = random.oneIn(3) ? new Raw("1e999") : garbage(random);
  else spoil(random, message);
}

/** A message of a revision with a handshake, or of a plain JSON-RPC caller; its fields go into `headers`. */
function legacyMessage(
  random: Random,
  loot: Loot,
  token: Token,
  headers: Record<string, string>,
  mayBeOdd: boolean,
): Members | unknown[] {
  const own = loot.sessions.filter((each) => each.live && each.token === token);
  const session = own.length > 0 && !random.oneIn(3) ? random.pick(own) : undefined;
  const revision = session?.revision ?? random.pick(REVISIONS);
  const isPlain = !session && random.oneIn(3);
  headers.accept = isPlain ? random.pick(["application/json", "*/*"]) : STREAMABLE;
  if (session) headers["mcp-session-id"] = session.id;
  if (!isPlain && !random.oneIn(3)) headers["mcp-protocol-version"] = revision;
  const one = (): Members => oneLegacyMessage(random, loot, session);
  const hasBatches = isPlain || headers["mcp-protocol-version"] === "2025-03-26";
  if (random.oneIn(hasBatches ? 4 : mayBeOdd ? 12 : 1e6)) {
    return Array.from({ length: random.oneIn(20) ? random.below(120) : random.below(6) }, one);
  }
  return one();
}

function oneLegacyMessage(random: Random, loot: Loot, session: Session | undefined): Members {
  if (random.oneIn(12)) return { jsonrpc: "2.0", ...goodNotification(random, loot) };
  if (random.oneIn(15)) {
    const asked = loot.questions.filter((each) => each.session === session);
    const { id, method } = asked.length > 0 ? random.pick(asked) : { id: "none", method: "roots/list" };
    return { jsonrpc: "2.0", id, result: goodAnswer(random, method) };
  }
  const { method, params } = goodRequest(random, loot, false);
  const meta = random.oneIn(3) ? { _meta: { progressToken: random.pick<unknown>(["p", 7, 0]) } } : {};
  const hasParams = Object.keys(params).length > 0 || !random.oneIn(2);
  return { jsonrpc: "2.0", id: goodId(random), method, ...(hasParams && { params: { ...params, ...meta } }) };
}

/** GET and DELETE of a session, and methods that there are not. */
function sessionRequest(random: Random, loot: Loot, fields: Record<string, string>): Exchange {
  const headers = new Headers();
  if (fields.authorization) headers.set("authorization", fields.authorization);
  // The last events are of streams that may still go on.
  const recent = loot.events.slice(-4).filter((each) => each.session.live);
  const session = recent.length > 0 && random.oneIn(2)
    ? random.pick(recent).session
    : loot.sessions.length > 0
    ? random.pick(loot.sessions)
    : undefined;
  if (session && !random.oneIn(8)) {
    headers.set("mcp-session-id", session.id);
    if (session.token) headers.set("authorization", `Bearer ${session.token}`);
    if (random.oneIn(2)) headers.set("mcp-protocol-version", session.revision);
  }
  if (!random.oneIn(8)) headers.set("accept", "text/event-stream");
  const events = loot.events.filter((each) => each.session === session || random.oneIn(20));
  const near = random.oneIn(2) ? events.slice(-3) : events;
  if (near.length > 0 && random.oneIn(2)) headers.set("last-event-id", random.pick(near).id);
  const method = random.oneIn(3) ? random.pick(["DELETE", "OPTIONS", "PUT", "HEAD", "PATCH"]) : "GET";
  const preflight = method === "OPTIONS" && random.oneIn(2);
  if (preflight) headers.set("access-control-request-method", "POST");
  return { method, path: "/mcp", headers, body: undefined, pieces: "one" };
}

function spoilExchange(
  random: Random,
  loot: Loot,
  foreign: readonly string[],
  exchange: Exchange,
  times: number,
): Exchange {
  let { method, path } = exchange;
  for (let i = times; i > 0; i--) {
    spoilFields(random, loot, foreign, exchange.headers);
    if (random.oneIn(60)) method = random.pick(["PUT", "PATCH", "DELETE"]);
    if (random.oneIn(60)) {
      path = random.pick(["/mcp/", "/mcp?x=1", "/mcp/no", "/", "/mcp/sse?x", "/mcp/messages", "//mcp"]);
    }
  }
  return { ...exchange, method, path };
}
