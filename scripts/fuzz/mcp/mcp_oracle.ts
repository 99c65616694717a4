/**
 * What a request to the fuzzed tool server may be answered with: the conditions of the specification in their order, read
 * from what was sent alone (MCP 2025-11-25 and 2026-07-28, basic/transports). `mcp_method_oracle.ts` goes on where a
 * method begins.
 *
 * @module
 */
import type { Loot, Session, Token } from "./mcp_loot.ts";
import { MODERN, REVISIONS } from "./mcp_messages.ts";
import { methodOutcomes, type Outcome } from "./mcp_method_oracle.ts";
import type { Profile } from "./mcp_profile.ts";
import type { Exchange } from "./mcp_requests.ts";
import { claimOf, decodeField, depthOf, isObject, kindOf, MAX_DEPTH, metaOf } from "./mcp_wire.ts";
import { BODY_LIMIT } from "./mcp_world.ts";

/**
 * One answer that may come. `code`: of a JSON-RPC error, `"result"`, `"batch"`, `"stream"` for one that does not end by
 * itself, `"scope"` for any error, `"none"` for an empty body, `"text"` for one that is no JSON-RPC.
 */
export interface Expected {
  readonly status: number;
  readonly code: Outcome;
}

/** What a request may be answered with, and what it is. */
export interface Verdict {
  readonly expected: readonly Expected[];
  readonly profile: Profile;
  /** The message or batch, once it is known to be JSON. */
  readonly value?: unknown;
  readonly token: Token;
  readonly session?: Session | undefined;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a request as the specification does. `isStrict`: the server lets nobody in without a token. */
export function judge(exchange: Exchange, loot: Loot, isStrict: boolean): Verdict {
  const { method, headers, path } = exchange;
  const header = profileOf(headers);
  const place = path.split("?")[0];
  const profile: Profile = place === "/mcp" && header ? header : { kind: "legacy", revision: "2024-11-05" };
  const token = tokenOf(headers);
  const is = (status: number, code: Outcome, ...more: Expected[]): Verdict => ({
    expected: [{ status, code }, ...more],
    profile,
    token: token === "bad" ? undefined : token,
  });
  if (place !== "/mcp" && place !== "/mcp/sse" && place !== "/mcp/messages") return is(404, "text");
  if (!isAllowed(headers)) return is(403, -32600);
  const methods =
    { "/mcp": ["POST", "GET", "DELETE"], "/mcp/sse": ["GET"], "/mcp/messages": ["POST"] }[place];
  if (!methods.includes(method)) return method === "OPTIONS" ? is(204, "none") : is(405, -32600);
  if (token === "bad" || isStrict && token === undefined) {
    return is(
      401,
      profile.kind === "modern" ? 401 : -32000,
      ...place === "/mcp" ? [] : [{ status: 401, code: 401 }],
    );
  }
  if (place !== "/mcp") return place === "/mcp/sse" ? is(200, "stream") : is(404, -32001);
  if (method !== "POST") return judgeSession(exchange, loot, header, token, is);
  if (mediaType(headers.get("content-type")) !== "application/json") return is(415, -32600);
  const declared = headers.get("content-length");
  if (/^\d+$/.test(declared ?? "") && Number(declared) > BODY_LIMIT || exchange.body!.length > BODY_LIMIT) {
    return is(413, -32600, ...exchange.pieces === "broken" ? [{ status: 400, code: -32700 }] : []);
  }
  if (exchange.pieces === "broken") return is(400, -32700);
  let text: string;
  let value: unknown;
  try {
    text = strictUtf8.decode(exchange.body);
    value = JSON.parse(text);
    if (depthOf(value) > MAX_DEPTH) return is(400, -32700);
  } catch {
    return is(400, -32700);
  }
  const verdict = judgeValue(value, exchange, loot, header, token);
  // By a length that is not true nobody can tell a replacement character from a byte that was replaced.
  const isDoubtful = declared !== null && Number(declared) !== exchange.body!.length &&
    text.includes("\ufffd");
  const bad: Expected = { status: 400, code: -32700 };
  return isDoubtful ? { ...verdict, expected: [...verdict.expected, bad] } : verdict;
}

function judgeSession(
  { method, headers }: Exchange,
  loot: Loot,
  header: Profile | undefined,
  token: Token,
  is: (status: number, code: Outcome, ...more: Expected[]) => Verdict,
): Verdict {
  const id = headers.get("mcp-session-id");
  // 2025-06-18: a version that is not served is 400; for whoever speaks without sessions there is no GET.
  if (!header) return is(405, -32600, { status: 400, code: -32022 });
  if (id === null || header.kind === "modern") return is(405, -32600);
  const session = loot.find(id, token);
  if (!session) return is(404, -32001);
  if (method === "DELETE") return { ...is(204, "none"), session };
  const accept = headers.get("accept") ?? "";
  const reads = accept.split(",").some((each) =>
    /^(text\/event-stream|text\/\*|\*\/\*)$/.test(mediaType(each))
  );
  return { ...(reads ? is(200, "stream") : is(406, -32600)), session };
}

function judgeValue(
  value: unknown,
  { headers }: Exchange,
  loot: Loot,
  header: Profile | undefined,
  token: Token,
): Verdict {
  const isBatch = Array.isArray(value);
  const kind = isBatch ? "batch" : kindOf(value);
  const claim = isBatch ? undefined : claimOf(value);
  let profile: Profile = claim === undefined
    ? header ?? { kind: "modern", revision: MODERN }
    : REVISIONS.includes(claim as string)
    ? { kind: "legacy", revision: claim as string }
    : { kind: "modern", revision: MODERN };
  const is = (status: number, code: Outcome, session?: Session): Verdict => ({
    expected: [{ status, code }],
    profile,
    value,
    token,
    session,
  });
  if (claim === undefined && !header) return is(400, -32022);
  const id = headers.get("mcp-session-id");
  let session: Session | undefined;
  if (id !== null && claim === undefined && profile.kind !== "modern") {
    session = loot.find(id, token);
    if (!session) return is(404, -32001);
    // What was agreed on holds.
    profile = { kind: "legacy", revision: session.revision };
  }
  const isPlain = profile.kind === "plain";
  switch (kind) {
    case "batch":
      return judgeBatch(value as readonly unknown[], profile, is, session);
    case "invalid":
      return is(400, -32600, session);
    case "notification":
      return is(isPlain ? 204 : 202, "none", session);
    case "answer": {
      const { id: asked } = value as { id?: unknown };
      if (profile.kind === "modern") return is(400, -32600);
      const isOpen = !session || loot.questions.some((each) => each.session === session && each.id === asked);
      if (!session || !isOpen) return isOpen ? is(isPlain ? 204 : 202, "none") : is(400, -32600, session);
      // The call that asked may have been cancelled.
      const verdict = is(202, "none", session);
      return { ...verdict, expected: [...verdict.expected, { status: 400, code: -32600 }] };
    }
  }
  const request = value as Readonly<Record<string, unknown>>;
  const looksAround = claim === undefined && profile.kind !== "modern" &&
    request.method === "server/discover";
  if (looksAround) profile = { kind: "modern", revision: MODERN };
  const bad = looksAround || profile.kind !== "modern" && claim === undefined
    ? undefined
    : checkMeta(request, headers, profile);
  if (bad) return is(bad.status, bad.code);
  const outcomes = methodOutcomes(request, { profile, loot, token, headers, session });
  return {
    expected: outcomes.map((code) => ({ status: statusOf(code, profile, token), code })),
    profile,
    value,
    token,
    session,
  };
}

function judgeBatch(
  batch: readonly unknown[],
  { kind, revision }: Profile,
  is: (status: number, code: Outcome, session?: Session) => Verdict,
  session: Session | undefined,
): Verdict {
  if (kind !== "plain" && revision !== "2025-03-26") return is(400, -32600, session);
  const claims = batch.some((each) => kindOf(each) !== "invalid" && claimOf(each) !== undefined);
  const begins = batch.some((each) =>
    kindOf(each) === "request" && (each as { method: string }).method === "initialize"
  );
  if (claims || begins || batch.length === 0 || batch.length > 100) return is(400, -32600, session);
  const isAnswered = batch.some((each) => kindOf(each) === "request" || kindOf(each) === "invalid");
  return isAnswered ? is(200, "batch", session) : is(kind === "plain" ? 204 : 202, "none", session);
}

/** 2026-07-28, basic/index, `_meta`, and basic/transports/streamable-http, server validation. */
function checkMeta(
  { id, method, params }: Readonly<Record<string, unknown>>,
  headers: Headers,
  profile: Profile,
): Expected | undefined {
  if (id === null || typeof id === "number" && !Number.isInteger(id)) return { status: 400, code: -32600 };
  const meta = metaOf(params) ?? {};
  const version = meta["io.modelcontextprotocol/protocolVersion"];
  const info = meta["io.modelcontextprotocol/clientInfo"];
  const isWhole = typeof version === "string" &&
    isObject(meta["io.modelcontextprotocol/clientCapabilities"]) &&
    (info === undefined || isObject(info));
  if (!isWhole) return { status: 400, code: -32602 };
  if (headers.get("mcp-protocol-version") !== version) return { status: 400, code: -32020 };
  if (version !== MODERN && !REVISIONS.includes(version)) return { status: 400, code: -32022 };
  if (profile.kind !== "modern") return undefined;
  if (headers.get("mcp-method") !== method) return { status: 400, code: -32020 };
  const named = NAMED.get(method as string);
  if (named === undefined) return undefined;
  const field = headers.get("mcp-name");
  const name = (params as Readonly<Record<string, unknown>>)[named];
  return field === null || decodeField(field) !== name || name === undefined
    ? { status: 400, code: -32020 }
    : undefined;
}

/** The parameter that `Mcp-Name` repeats. */
const NAMED = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** The HTTP status of an answer that is one JSON text. */
export function statusOf(code: Outcome, { kind }: Profile, token: Token): number {
  if (code === "scope") return token ? 403 : 401;
  if (typeof code === "string") return 200;
  if (kind === "plain") return code <= -32600 && code >= -32602 || code === -32700 ? 400 : 500;
  if (kind === "legacy") return code === -32600 ? 400 : 200;
  if (code === -32601) return 404;
  return [-32700, -32600, -32020, -32021, -32022].includes(code) ? 400 : 200;
}

function profileOf(headers: Headers): Profile | undefined {
  const version = headers.get("mcp-protocol-version");
  if (version === MODERN) return { kind: "modern", revision: MODERN };
  if (version !== null) {
    return REVISIONS.includes(version) ? { kind: "legacy", revision: version } : undefined;
  }
  const accept = headers.get("accept")?.split(",").map(mediaType) ?? [];
  return accept.includes("text/event-stream")
    ? { kind: "legacy", revision: "2025-03-26" }
    : { kind: "plain", revision: "2025-11-25" };
}

function tokenOf(headers: Headers): Token | "bad" {
  const field = headers.get("authorization");
  if (field === null) return undefined;
  return field === "Bearer reader" ? "reader" : field === "Bearer writer" ? "writer" : "bad";
}

const OWN = /^(localhost|127\.0\.0\.1|\[::1\])(:\d*)?$/;

function isAllowed(headers: Headers): boolean {
  const origin = headers.get("origin");
  return OWN.test(headers.get("host") ?? "127.0.0.1:8787") &&
    (origin === null || OWN.test(/^https?:\/\/(.*)$/.exec(origin)?.[1] ?? ""));
}

function mediaType(field: string | null): string {
  return (field ?? "").split(";")[0]!.trim().toLowerCase();
}
