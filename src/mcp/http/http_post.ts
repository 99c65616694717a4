/**
 * `POST /mcp`: reads and checks a message, step by step, and dispatches it. For plain JSON-RPC callers, clients of a session
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http) and of 2026-07-28
 * (https://modelcontextprotocol.io/specification/draft/basic/transports/streamable-http).
 *
 * @module
 */
import { readText } from "../../http/body/body.ts";
import { BodyError } from "../../http/body/body_error.ts";
import { mediaType } from "../../http/body/media_type.ts";
import type { RequestContext } from "../../http/service.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "../../jsonrpc/error.ts";
import { parseJsonInTurns, readMessage, type Request as RpcRequest } from "../../jsonrpc/message.ts";
import { type CallRequest, type Sender, toCallRequest, toModernRequest } from "../call_request.ts";
import type { Connection } from "../connection.ts";
import { type Era, eraOfHeaders, eraOfRevision, MODERN_ERA } from "../era.ts";
import { unsupportedVersion } from "../error.ts";
import type { Answers } from "./http_answer.ts";
import { acceptsStream, type Admit, type Handler, type HttpOptions, isRefusal } from "./http_options.ts";
import { HttpOutlet } from "./http_outlet.ts";
import { claimedRevision, metaOf } from "../request_meta.ts";
import { lazy } from "../lazy.ts";
import type { Session } from "../session/session.ts";

/** Methods whose handlers may send messages before the response. */
const MAY_STREAM: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** After a body that took longer the token is checked again: a client can hold it back until the token was revoked. */
export const HELD_BACK_MS = 1000;

/** Creates the handler of POST. */
export function createPostHandler(options: HttpOptions, answers: Answers, admit: Admit): Handler {
  const { exchange, bodyLimit, stateful } = options;
  const { refuse } = answers;
  const listening = lazy(() => import("./http_listen.ts"));
  const nonRequests = lazy(() => import("./http_non_request.ts"));

  async function post(request: Request, runtime: RequestContext): Promise<Response> {
    const admitted = admit(request, runtime);
    const principal = admitted instanceof Promise ? await admitted : admitted;
    if (isRefusal(principal)) return principal;
    const { headers } = request;
    if (mediaType(headers.get("content-type")) !== "application/json") {
      return refuse(415, INVALID_REQUEST, "Unsupported media type: send application/json");
    }
    const byHeaders = eraOfHeaders(headers);
    const began = performance.now();
    let value: unknown;
    try {
      value = parseJsonInTurns(await readText(request, bodyLimit));
      // Only messages that are not small are parsed asynchronously.
      if (value instanceof Promise) value = await value;
    } catch (error) {
      if (error instanceof RpcError) return refuse(statusOf(error), error.code, error.message, byHeaders);
      if (error instanceof BodyError) {
        const code = error.status === 413 ? INVALID_REQUEST : PARSE_ERROR;
        return refuse(error.status, code, error.message, byHeaders);
      }
      throw error;
    }
    if (performance.now() - began > HELD_BACK_MS) {
      const { refuseRevoked } = await import("./recheck_token.ts");
      const refusal = await refuseRevoked(principal, options.now, () => admit(request, runtime));
      if (refusal) return refusal;
    }
    // A batch is read message by message.
    const message = Array.isArray(value) ? undefined : readMessage(value);
    const params = message && "params" in message ? message.params : undefined;
    const claim = claimedRevision(metaOf(params));
    if (claim === undefined && !byHeaders) {
      const version = headers.get("mcp-protocol-version")!;
      // The id of a response is one of the server's.
      const hasOwnId = message?.kind === "request" || message?.kind === "invalid";
      const id = hasOwnId ? message.id ?? undefined : undefined;
      return answers.write({ id, error: unsupportedVersion(version) }, MODERN_ERA, principal);
    }
    let era = claim === undefined
      ? byHeaders!
      : typeof claim === "string" && eraOfRevision(claim) || MODERN_ERA;
    let session: Session | undefined;
    const id = era.profile === "modern" || claim !== undefined ? null : headers.get("mcp-session-id");
    if (id !== null) {
      session = await (stateful.value ?? await stateful.load()).sessions.open(id, principal);
      if (!session) return answers.noSession(era);
      // The negotiated revision takes precedence over the header field.
      era = eraOfRevision(session.revision)!;
    }
    const sender = { principal, session, runtime };
    if (message?.kind === "request") {
      return answerRequest(message, era, sender, request, claim !== undefined);
    }
    return nonRequests.use(({ answerNonRequest }) =>
      answerNonRequest(options, answers, message ?? value as readonly unknown[], era, sender, request)
    );
  }

  /** The hot path: a request without a stream allocates nothing beyond its call. */
  function answerRequest(
    message: RpcRequest,
    named: Era,
    sender: Sender,
    request: Request,
    claims: boolean,
  ): Promise<Response> | Response {
    const { id, method } = message;
    const { principal, session } = sender;
    const { headers } = request;
    // A bare server/discover comes from a client that does not know the revision yet.
    const isBareDiscover = !claims && named.profile !== "modern" && method === "server/discover";
    const era = isBareDiscover ? MODERN_ERA : named;
    const modern = era.profile === "modern";
    let read: CallRequest;
    try {
      read = !isBareDiscover && (modern || claims)
        ? toModernRequest(sender, era, message, headers)
        : toCallRequest(sender, era, message);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // A client that sends this _meta knows these errors, whatever revision it names.
      return answers.write({ id: id ?? undefined, error }, MODERN_ERA, principal);
    }
    if (era.profile !== "plain" && MAY_STREAM.has(method) && acceptsStream(headers, modern)) {
      return answerWithOutlet(message, read, request);
    }
    let started: string | undefined;
    const onHandshake: Connection["onHandshake"] =
      options.sessions && era.profile === "legacy" && method === "initialize" && !claims && !session
        ? (handshake) => {
          const id = stateful.use(({ sessions }) => sessions.start(handshake, principal));
          if (typeof id !== "string") return id.then((id) => void (started = id));
          started = id;
        }
        : undefined;
    const call = exchange.createCall(read, { request, onHandshake });
    if (modern && method === "subscriptions/listen") {
      return listening.use(({ openListenStream }) => openListenStream(options, answers, message, call));
    }
    return exchange.answer(message, call, (response) => answers.write(response, era, principal, started));
  }

  /** A request whose handler may send messages before the response. */
  function answerWithOutlet(
    message: RpcRequest,
    read: CallRequest,
    request: Request,
  ): Promise<Response> | Response {
    const { era, principal, session } = read;
    const outlet = new HttpOutlet(options.outlet, request, answers.fields(era));
    const call = outlet.call = exchange.createCall(read, outlet);
    const done = exchange.answer(message, call, (response): Response | undefined => {
      // The call has answered at once, and sent nothing before. What its handler still sends has no way to the client.
      const write = () => answers.write(response, era, principal);
      if (!outlet.isUsed) {
        call.detach();
        return write();
      }
      if (call.isCancelled) outlet.abandon();
      else outlet.finish(() => answers.text(response, era, principal), write);
    });
    if (done instanceof Promise) {
      if (session) call.waitUntil(done);
    } else if (done) return done;
    return outlet.respond();
  }

  return post;
}

/** The HTTP status of a message that could not be parsed (413, RFC 9110 section 15.5.14: too many values). */
function statusOf({ code }: RpcError): number {
  return code === INVALID_REQUEST ? 413 : 400;
}
