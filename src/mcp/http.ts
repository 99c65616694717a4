/**
 * `POST /mcp`: the ladder from a request to a message, and back to a response, for plain JSON-RPC callers and for
 * Streamable HTTP clients (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports).
 *
 * @module
 */
import { type Authenticate, bearerChallenge, type Principal, TokenRefusal } from "../http/bearer.ts";
import { BodyError, readText } from "../http/body.ts";
import { allowEveryOrigin, answerPreflight } from "../http/cors.ts";
import { mediaType } from "../http/media_type.ts";
import { type Fields, respond } from "../http/response.ts";
import type { RequestContext } from "../http/service.ts";
import { dispatch, dispatchBatch, type Dispatcher } from "../jsonrpc/dispatch.ts";
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, RpcError, SERVER_ERROR } from "../jsonrpc/error.ts";
import {
  parseJson,
  type Response as RpcResponse,
  writeResponse,
  writeResponses,
} from "../jsonrpc/message.ts";
import type { CallContext } from "./definition.ts";
import { type Era, eraOf, REVISIONS } from "./era.ts";
import { ScopeError, UnavailableError, UnknownNameError } from "./error.ts";

export interface HttpOptions {
  readonly dispatcher: Dispatcher<CallContext>;
  readonly isAllowed: (request: Request) => boolean;
  readonly authenticate: Authenticate;
  readonly auth: "required" | "optional" | "off";
  /** Bytes. */
  readonly bodyLimit: number;
  /** What a 401 says to ask for to begin with (RFC 6750 §3); more is asked for when a call needs it. */
  readonly initialScope?: string | undefined;
  /** Where the RFC 9728 document is; left out of challenges when there is none. */
  readonly resourceMetadata: string | undefined;
}

const METHODS = "POST, OPTIONS";
const JSON_FIELDS: Fields = [["content-type", "application/json"]];
const ANONYMOUS: CallContext = { principal: undefined };

/** Plain callers read the HTTP status: what each code is there. */
const PLAIN_STATUS: Readonly<Record<number, number>> = {
  [-32700]: 400,
  [-32600]: 400,
  [-32601]: 400,
  [-32602]: 400,
};

/** A handler for the one endpoint. */
export function createHttpHandler(
  options: HttpOptions,
): (request: Request, context: RequestContext) => Promise<Response> {
  const { dispatcher, isAllowed, authenticate, auth, bodyLimit, resourceMetadata } = options;
  const initial = options.initialScope === undefined ? {} : { scope: options.initialScope };

  async function post(request: Request, { ip }: RequestContext): Promise<Response> {
    let context = ANONYMOUS;
    if (auth !== "off") {
      const caller = await authenticate(request, { ip });
      if (caller instanceof TokenRefusal) return refuseToken(caller);
      if (caller === "none" && auth === "required") return challenge(401, initial);
      if (caller !== "none") context = { principal: caller };
    }
    if (mediaType(request.headers.get("content-type")) !== "application/json") {
      return refuse(415, INVALID_REQUEST, "Content-Type must be application/json");
    }
    const era = eraOf(request);
    if (!era) {
      const message = `MCP-Protocol-Version must be one of ${REVISIONS.join(", ")}`;
      return refuse(400, INVALID_REQUEST, message);
    }
    let value: unknown;
    try {
      value = parseJson(await readText(request, bodyLimit));
    } catch (error) {
      if (error instanceof RpcError) return refuse(400, error.code, error.message);
      if (error instanceof BodyError) {
        return refuse(error.status, error.status === 413 ? INVALID_REQUEST : PARSE_ERROR, error.message);
      }
      throw error;
    }
    if (Array.isArray(value)) return await answerBatch(value, era, context);
    const response = await dispatch(dispatcher, value, context);
    return response === undefined ? accepted(era) : toResponse(response, era, context.principal);
  }

  async function answerBatch(batch: readonly unknown[], era: Era, context: CallContext): Promise<Response> {
    // Batches came with 2025-03-26 and went with 2025-06-18.
    if (era.revision !== "2025-03-26") {
      return refuse(400, INVALID_REQUEST, `Invalid Request: revision ${era.revision} has no batches`);
    }
    const responses = await dispatchBatch(dispatcher, batch, context);
    if (responses === undefined) return accepted(era);
    if (!isList(responses)) return toResponse(responses, era, context.principal);
    return respond(
      200,
      writeResponses(era.profile === "plain" ? responses.map(inPlainWords) : responses),
      JSON_FIELDS,
    );
  }

  function toResponse(response: RpcResponse, era: Era, principal: Principal | undefined): Response {
    if (!("error" in response)) return respond(200, writeResponse(response), JSON_FIELDS);
    if (response.error instanceof ScopeError) {
      const scope = response.error.scopes.join(" ");
      const members = principal ? { error: "insufficient_scope", scope } : { scope };
      return challenge(principal ? 403 : 401, members, response);
    }
    if (response.error instanceof UnavailableError) return unavailable(response, response.error);
    if (era.profile === "streamable") {
      // Messages that are none are refused by HTTP; errors of methods are answers like any other.
      return respond(
        response.error.code === INVALID_REQUEST ? 400 : 200,
        writeResponse(response),
        JSON_FIELDS,
      );
    }
    const plain = inPlainWords(response);
    const code = "error" in plain ? plain.error.code : 0;
    return respond(PLAIN_STATUS[code] ?? 500, writeResponse(plain), JSON_FIELDS);
  }

  /** What authentication threw, when it may pass. */
  function refuseFault(error: unknown): Response {
    const told = dispatcher.onFault(error, "authenticate");
    if (told instanceof UnavailableError) return unavailable({ id: null, error: told }, told);
    return refuse(500, INTERNAL_ERROR, "Internal error: the server failed to answer");
  }

  function challenge(status: 401 | 403, members: Record<string, string>, response?: RpcResponse): Response {
    const body = response ??
      { id: null, error: new RpcError(SERVER_ERROR, "This call needs an access token") };
    const field = bearerChallenge({ ...members, resource_metadata: resourceMetadata });
    return respond(status, writeResponse(body), [...JSON_FIELDS, ["www-authenticate", field]]);
  }

  function refuseToken(refusal: TokenRefusal): Response {
    const fields = refusal.challenge({ ...initial, resource_metadata: resourceMetadata });
    return respond(401, writeResponse(errorOf(SERVER_ERROR, refusal.description)), [
      ...JSON_FIELDS,
      ...fields,
    ]);
  }

  return async (request, context) => {
    if (!isAllowed(request)) {
      return refuse(403, INVALID_REQUEST, "This Host or Origin may not call this server");
    }
    if (request.method === "POST") {
      return allowEveryOrigin(request, await post(request, context).catch(refuseFault));
    }
    const preflight = answerPreflight(request, METHODS);
    if (preflight) return preflight;
    if (request.method === "OPTIONS") return respond(204, null, [["allow", METHODS]]);
    return respond(405, writeResponse(errorOf(INVALID_REQUEST, "Use POST here")), [...JSON_FIELDS, [
      "allow",
      METHODS,
    ]]);
  };
}

function unavailable(response: RpcResponse, { retryAfter }: UnavailableError): Response {
  return respond(503, writeResponse(response), [...JSON_FIELDS, ["retry-after", String(retryAfter)]]);
}

function accepted({ profile }: Era): Response {
  return respond(profile === "plain" ? 204 : 202, null);
}

function inPlainWords(response: RpcResponse): RpcResponse {
  return "error" in response && response.error instanceof UnknownNameError
    ? { id: response.id, error: response.error.plain }
    : response;
}

function refuse(status: number, code: number, message: string): Response {
  return respond(status, writeResponse(errorOf(code, message)), JSON_FIELDS);
}

function errorOf(code: number, message: string): RpcResponse {
  return { id: null, error: new RpcError(code, message) };
}

function isList(value: readonly RpcResponse[] | RpcResponse): value is readonly RpcResponse[] {
  return Array.isArray(value);
}
