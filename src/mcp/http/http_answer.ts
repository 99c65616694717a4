/**
 * Turns a JSON-RPC response into an HTTP response: the status, error codes and challenge that the caller's era defines.
 *
 * @module
 */
import { bearerChallenge, type TokenRefusal } from "../../http/bearer.ts";
import type { Principal } from "../../http/principal.ts";
import { type Fields, respond, respondWith } from "../../http/response.ts";
import { INTERNAL_ERROR, INVALID_REQUEST, RpcError, SERVER_ERROR } from "../../jsonrpc/error.ts";
import { type Response as RpcResponse, writeResponse } from "../../jsonrpc/message.ts";
import { type Era, MODERN_ERA } from "../era.ts";
import { modernStatus, ScopeError, UnavailableError, UnknownNameError } from "../error.ts";
import { HandlerError } from "../handler.ts";
import type { Exchange } from "../exchange.ts";
import type { ModernWriter } from "../modern.ts";

export interface AnswerOptions {
  readonly exchange: Exchange;
  readonly writer: ModernWriter;
  /** The scope in the challenge of a 401 (RFC 6750 section 3). Calls that need more scopes name them. */
  readonly initialScope?: string | undefined;
  /** URL of the protected resource metadata (RFC 9728), for challenges. */
  readonly resourceMetadata: string | undefined;
  /** Reports what was thrown to the observer. Returns the error for the response, if it is not an internal error. */
  readonly onFault: (error: unknown, method: string) => RpcError | undefined;
}

const JSON_FIELDS: Fields = [["content-type", "application/json"]];

/** Error codes whose HTTP status is 400 for plain JSON-RPC callers. Others are 500. */
const PLAIN_400: readonly number[] = [-32700, -32600, -32601, -32602];

/** Header fields of the responses of an era. */
interface EraFields {
  readonly json: Fields;
  readonly stream: Fields;
  readonly succeed: ReturnType<typeof respondWith>;
}

export interface Answers {
  /** The HTTP response. `session` is the id of a session that `initialize` started. */
  write(response: RpcResponse, era: Era, principal: Principal | undefined, session?: string): Response;
  /** The JSON text, for an event stream. */
  text(response: RpcResponse, era: Era, principal: Principal | undefined): string;
  /** The response to a message that is not a request: 202, or 204 for plain callers. */
  accepted(era: Era): Response;
  /** An error response to something that is not a valid message. */
  refuse(status: number, code: number, message: string, era?: Era): Response;
  /** 404: the client starts a new session. */
  noSession(era: Era): Response;
  /** 401 for a request without a token. */
  challenge(era: Era | undefined): Response;
  refuseToken(refusal: TokenRefusal, era: Era | undefined): Response;
  refuseFault(error: unknown, era: Era | undefined): Response;
  /** Header fields of every response of the era, beside its media type. */
  fields(era: Era): Fields;
}

/** Creates the responses of one server. */
export function createAnswers(
  { writer, initialScope, resourceMetadata, onFault, exchange }: AnswerOptions,
): Answers {
  const initial = initialScope === undefined ? {} : { scope: initialScope };
  const known = new Map<Era, EraFields>();

  function fieldsOf(era: Era): EraFields {
    let fields = known.get(era);
    if (!fields) {
      const stream: Fields = era.profile === "plain" ? [] : [["mcp-protocol-version", era.revision]];
      const json = [...JSON_FIELDS, ...stream];
      known.set(era, fields = { json, stream, succeed: respondWith(json) });
    }
    return fields;
  }

  function toText(response: RpcResponse, era: Era, principal: Principal | undefined): string {
    return era.profile === "modern"
      ? writer.write("error" in response ? toModernError(response, principal) : response)
      : writeResponse(response);
  }

  function text(response: RpcResponse, era: Era, principal: Principal | undefined): string {
    return exchange.write(response, (response) => toText(response, era, principal));
  }

  function write(
    response: RpcResponse,
    era: Era,
    principal: Principal | undefined,
    session?: string,
  ): Response {
    // Not by `exchange.write`: on the path of every call a closure less.
    try {
      return toResponse(response, era, principal, session);
    } catch (fault) {
      return toResponse(exchange.answerFault(response.id, fault, "answer"), era, principal, session);
    }
  }

  function toResponse(
    response: RpcResponse,
    era: Era,
    principal: Principal | undefined,
    session: string | undefined,
  ): Response {
    const { json, succeed } = fieldsOf(era);
    const text = toText(response, era, principal);
    if (!("error" in response)) {
      return session === undefined ? succeed(text) : succeed(text, ["mcp-session-id", session]);
    }
    const { error } = response;
    if (error instanceof ScopeError) {
      const scope = error.scopes.join(" ");
      const members = principal
        ? { error: "insufficient_scope", scope, error_description: error.message }
        : { scope };
      const field = bearerChallenge({ ...members, resource_metadata: resourceMetadata });
      return respond(principal ? 403 : 401, text, [...json, ["www-authenticate", field]]);
    }
    if (error instanceof UnavailableError) {
      return respond(error.status, text, [...json, ["retry-after", String(error.retryAfter)]]);
    }
    const isOfHandler = error instanceof HandlerError;
    switch (era.profile) {
      case "modern":
        return respond(isOfHandler ? 200 : modernStatus(error), text, json);
      case "legacy":
        // Only invalid messages have an HTTP status of their own; errors of methods are 200.
        return respond(error.code === INVALID_REQUEST && !isOfHandler ? 400 : 200, text, json);
      case "plain": {
        const plain = toPlainError(response);
        const is400 = !isOfHandler && PLAIN_400.includes(plain.error.code);
        return respond(is400 ? 400 : 500, writeResponse(plain), json);
      }
    }
  }

  function refuse(status: number, code: number, message: string, era?: Era): Response {
    // JSON-RPC requires null for an unknown id; MCP leaves it out.
    const id = era === undefined || era.profile === "plain" ? null : undefined;
    const fields = era === undefined ? JSON_FIELDS : fieldsOf(era).json;
    return respond(status, writeResponse({ id, error: new RpcError(code, message) }), fields);
  }

  return {
    write,
    text,
    accepted: ({ profile }) => respond(profile === "plain" ? 204 : 202, null),
    refuse,
    noSession: (era) =>
      refuse(404, SESSION_NOT_FOUND, "Session not found. Send initialize to start a new one", era),
    challenge(era) {
      const field = bearerChallenge({ ...initial, resource_metadata: resourceMetadata });
      return unauthorized("Access token required. Send one as a Bearer token in Authorization", [[
        "www-authenticate",
        field,
      ]], era);
    },
    refuseToken(refusal, era) {
      const fields = refusal.challenge({ ...initial, resource_metadata: resourceMetadata });
      return unauthorized(refusal.description, fields, era);
    },
    refuseFault(error, era = MODERN_ERA) {
      if (error instanceof RpcError) return refuse(500, error.code, error.message);
      const reported = onFault(error, "mcp");
      if (reported) return write({ id: null, error: reported }, era, undefined);
      return refuse(500, INTERNAL_ERROR, "Internal error: the server failed to answer");
    },
    fields: (era) => fieldsOf(era).stream,
  };
}

function unauthorized(message: string, fields: Fields, era: Era | undefined): Response {
  const isModern = era?.profile === "modern";
  const error = new RpcError(isModern ? 401 : SERVER_ERROR, message);
  const body = writeResponse({ id: isModern ? undefined : null, error });
  return respond(401, body, [...JSON_FIELDS, ...fields]);
}

/** Not in the specification; implementations have used it since 2025-03-26. */
const SESSION_NOT_FOUND = -32001;

/** Replaces -32000: 2026-07-28 reserves the codes from -32000 on for the specification (basic, error codes). */
function toModernError(
  response: RpcResponse & { readonly error: RpcError },
  principal: Principal | undefined,
): RpcResponse {
  const { id, error } = response;
  if (error.code !== SERVER_ERROR) return id === null ? { id: undefined, error } : response;
  const code = error instanceof ScopeError
    ? principal ? 403 : 401
    : error instanceof UnavailableError
    ? error.status
    : 500;
  return { id: id ?? undefined, error: new RpcError(code, error.message, error.data) };
}

/** The response with the error for plain JSON-RPC callers. */
export function toPlainError<Given extends RpcResponse>(response: Given): Given {
  return "error" in response && response.error instanceof UnknownNameError
    ? { ...response, error: response.error.plain }
    : response;
}
