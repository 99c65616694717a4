/**
 * Predicts the responses to a request to the fuzzed tool server from the request alone: checks the conditions of the
 * specification in their order (MCP 2025-11-25 and 2026-07-28, basic/transports). `mcp_method_oracle.ts` predicts the
 * outcomes of methods.
 *
 * @module
 */
import type { Corpus, Session, Token } from "./mcp_corpus.ts";
import { MODERN, REVISIONS } from "./mcp_messages.ts";
import { methodOutcomes, type Outcome } from "./mcp_method_oracle.ts";
import type { Profile } from "./mcp_profile.ts";
import type { Exchange } from "./mcp_requests.ts";
import { decodeField, getKind, getMeta, getRevision, isObject, MAX_DEPTH, measureDepth } from "./mcp_wire.ts";
import { BODY_LIMIT } from "./mcp_setup.ts";

/**
 * An allowed response. `code`: a JSON-RPC error code, `"result"`, `"batch"`, `"stream"` for one that the server does not end,
 * `"scope"` for any error about scopes, `"none"` for an empty body, `"text"` for a body that is not JSON-RPC.
 */
export interface Expected {
  readonly status: number;
  readonly code: Outcome;
}

/** The allowed responses to a request, and how the server must read the request. */
export interface Prediction {
  readonly expected: readonly Expected[];
  readonly profile: Profile;
  /** The message or batch, if the body is JSON. */
  readonly value?: unknown;
  readonly token: Token;
  readonly session?: Session | undefined;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** Predicts the responses to a request. @param isStrict whether the server requires a token */
export function predict(exchange: Exchange, corpus: Corpus, isStrict: boolean): Prediction {
  const { method, headers, path } = exchange;
  const header = parseProfile(headers);
  const place = path.split("?")[0];
  const profile: Profile = place === "/mcp" && header ? header : { kind: "legacy", revision: "2024-11-05" };
  const token = parseToken(headers);
  const expect = (status: number, code: Outcome, ...more: Expected[]): Prediction => ({
    expected: [{ status, code }, ...more],
    profile,
    token: token === "bad" ? undefined : token,
  });
  if (!hasAllowedHost(headers)) return expect(403, -32600);
  if (place !== "/mcp" && place !== "/mcp/sse" && place !== "/mcp/messages") return expect(404, "text");
  if (!hasAllowedOrigin(headers)) return expect(403, -32600);
  const methods =
    { "/mcp": ["POST", "GET", "DELETE"], "/mcp/sse": ["GET"], "/mcp/messages": ["POST"] }[place];
  if (!methods.includes(method)) return method === "OPTIONS" ? expect(204, "none") : expect(405, -32600);
  if (token === "bad" || isStrict && token === undefined) {
    return expect(
      401,
      profile.kind === "modern" ? 401 : -32000,
      ...place === "/mcp" ? [] : [{ status: 401, code: 401 }],
    );
  }
  if (place !== "/mcp") return place === "/mcp/sse" ? expect(200, "stream") : expect(404, -32001);
  if (method !== "POST") return predictSession(exchange, corpus, header, token, expect);
  if (mediaType(headers.get("content-type")) !== "application/json") return expect(415, -32600);
  const declared = headers.get("content-length");
  if (/^\d+$/.test(declared ?? "") && Number(declared) > BODY_LIMIT || exchange.body!.length > BODY_LIMIT) {
    return expect(413, -32600, ...exchange.chunks === "broken" ? [{ status: 400, code: -32700 }] : []);
  }
  if (exchange.chunks === "broken") return expect(400, -32700);
  let text: string;
  let value: unknown;
  try {
    text = strictUtf8.decode(exchange.body);
    value = JSON.parse(text);
    if (measureDepth(value) > MAX_DEPTH) return expect(400, -32700);
  } catch {
    return expect(400, -32700);
  }
  const prediction = predictMessage(value, exchange, corpus, header, token);
  // With a wrong content-length, the server cannot tell a replacement character from an invalid byte.
  const isDoubtful = declared !== null && Number(declared) !== exchange.body!.length &&
    text.includes("\ufffd");
  const bad: Expected = { status: 400, code: -32700 };
  return isDoubtful ? { ...prediction, expected: [...prediction.expected, bad] } : prediction;
}

function predictSession(
  { method, headers }: Exchange,
  corpus: Corpus,
  header: Profile | undefined,
  token: Token,
  expect: (status: number, code: Outcome, ...more: Expected[]) => Prediction,
): Prediction {
  const id = headers.get("mcp-session-id");
  // 2025-06-18: an unsupported version gets 400; without sessions GET is not allowed.
  if (!header) return expect(405, -32600, { status: 400, code: -32022 });
  if (id === null || header.kind === "modern") return expect(405, -32600);
  const session = corpus.find(id, token);
  if (!session) return expect(404, -32001);
  if (method === "DELETE") return { ...expect(204, "none"), session };
  const accept = headers.get("accept") ?? "";
  const reads = accept.split(",").some((each) =>
    /^(text\/event-stream|text\/\*|\*\/\*)$/.test(mediaType(each))
  );
  return { ...(reads ? expect(200, "stream") : expect(406, -32600)), session };
}

function predictMessage(
  value: unknown,
  { headers }: Exchange,
  corpus: Corpus,
  header: Profile | undefined,
  token: Token,
): Prediction {
  const isBatch = Array.isArray(value);
  const kind = isBatch ? "batch" : getKind(value);
  const claim = isBatch ? undefined : getRevision(value);
  let profile: Profile = claim === undefined
    ? header ?? { kind: "modern", revision: MODERN }
    : REVISIONS.includes(claim as string)
    ? { kind: "legacy", revision: claim as string }
    : { kind: "modern", revision: MODERN };
  const expect = (status: number, code: Outcome, session?: Session): Prediction => ({
    expected: [{ status, code }],
    profile,
    value,
    token,
    session,
  });
  if (claim === undefined && !header) return expect(400, -32022);
  const id = headers.get("mcp-session-id");
  let session: Session | undefined;
  if (id !== null && claim === undefined && profile.kind !== "modern") {
    session = corpus.find(id, token);
    if (!session) return expect(404, -32001);
    // The negotiated revision applies.
    profile = { kind: "legacy", revision: session.revision };
  }
  const isPlain = profile.kind === "plain";
  switch (kind) {
    case "batch":
      return predictBatch(value as readonly unknown[], profile, expect, session);
    case "invalid":
      return expect(400, -32600, session);
    case "notification":
      return expect(isPlain ? 204 : 202, "none", session);
    case "answer": {
      const { id: asked } = value as { id?: unknown };
      if (profile.kind === "modern") return expect(400, -32600);
      const isOpen = !session ||
        corpus.questions.some((each) => each.session === session && each.id === asked);
      if (!session || !isOpen) {
        return isOpen ? expect(isPlain ? 204 : 202, "none") : expect(400, -32600, session);
      }
      // The call that sent the server request may have been cancelled.
      const prediction = expect(202, "none", session);
      return { ...prediction, expected: [...prediction.expected, { status: 400, code: -32600 }] };
    }
  }
  const request = value as Readonly<Record<string, unknown>>;
  const isBareDiscover = claim === undefined && profile.kind !== "modern" &&
    request.method === "server/discover";
  if (isBareDiscover) profile = { kind: "modern", revision: MODERN };
  const bad = isBareDiscover || profile.kind !== "modern" && claim === undefined
    ? undefined
    : checkMeta(request, headers, profile);
  if (bad) return expect(bad.status, bad.code);
  const outcomes = methodOutcomes(request, { profile, corpus, token, headers, session });
  return {
    expected: outcomes.map((code) => ({ status: toStatus(code, profile, token), code })),
    profile,
    value,
    token,
    session,
  };
}

function predictBatch(
  batch: readonly unknown[],
  { kind, revision }: Profile,
  expect: (status: number, code: Outcome, session?: Session) => Prediction,
  session: Session | undefined,
): Prediction {
  if (kind !== "plain" && revision !== "2025-03-26") return expect(400, -32600, session);
  const claims = batch.some((each) => getKind(each) !== "invalid" && getRevision(each) !== undefined);
  const initializes = batch.some((each) =>
    getKind(each) === "request" && (each as { method: string }).method === "initialize"
  );
  if (claims || initializes || batch.length === 0 || batch.length > 100) return expect(400, -32600, session);
  const isAnswered = batch.some((each) => getKind(each) === "request" || getKind(each) === "invalid");
  return isAnswered ? expect(200, "batch", session) : expect(kind === "plain" ? 204 : 202, "none", session);
}

/** 2026-07-28, basic/index, `_meta`, and basic/transports/streamable-http, server validation. */
function checkMeta(
  { id, method, params }: Readonly<Record<string, unknown>>,
  headers: Headers,
  profile: Profile,
): Expected | undefined {
  if (id === null || typeof id === "number" && !Number.isInteger(id)) return { status: 400, code: -32600 };
  const meta = getMeta(params) ?? {};
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

/** Returns the HTTP status of a JSON response. */
function toStatus(code: Outcome, { kind }: Profile, token: Token): number {
  if (code === "scope") return token ? 403 : 401;
  if (typeof code === "string") return 200;
  if (kind === "plain") return code <= -32600 && code >= -32602 || code === -32700 ? 400 : 500;
  if (kind === "legacy") return code === -32600 ? 400 : 200;
  if (code === -32601) return 404;
  return [-32700, -32600, -32020, -32021, -32022].includes(code) ? 400 : 200;
}

function parseProfile(headers: Headers): Profile | undefined {
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

function parseToken(headers: Headers): Token | "bad" {
  const field = headers.get("authorization");
  if (field === null) return undefined;
  return field === "Bearer reader" ? "reader" : field === "Bearer writer" ? "writer" : "bad";
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d*)?$/;

function hasAllowedHost(headers: Headers): boolean {
  return LOOPBACK.test(headers.get("host") ?? "127.0.0.1:8787");
}

function hasAllowedOrigin(headers: Headers): boolean {
  const origin = headers.get("origin");
  return origin === null || LOOPBACK.test(/^https?:\/\/(.*)$/.exec(origin)?.[1] ?? "");
}

function mediaType(field: string | null): string {
  return (field ?? "").split(";")[0]!.trim().toLowerCase();
}
