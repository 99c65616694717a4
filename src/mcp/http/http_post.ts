/**
 * `POST /mcp`: reads and checks a message, step by step, and dispatches it. For plain JSON-RPC callers, clients of a session
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http) and of 2026-07-28
 * (https://modelcontextprotocol.io/specification/draft/basic/transports/streamable-http).
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { BodyError, readText } from "../../http/body/body.ts";
import { mediaType } from "../../http/body/media_type.ts";
import type { RequestContext } from "../../http/service.ts";
import { checkBatchSize, dispatchBatch, type Dispatcher, dispatchMessage } from "../../jsonrpc/dispatch.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "../../jsonrpc/error.ts";
import {
  type ClientResponse,
  type Message,
  parseJsonInTurns,
  readMessage,
  type Request as RpcRequest,
  type Response as RpcResponse,
} from "../../jsonrpc/message.ts";
import { checkBatchAllowed } from "../batch.ts";
import { Call } from "../call.ts";
import { type Era, eraOfHeaders, eraOfRevision, MODERN_ERA } from "../era.ts";
import { unsupportedVersion } from "../error.ts";
import type { Answers } from "./http_answer.ts";
import { openListenStream } from "./http_listen.ts";
import { acceptsStream, type Admit, type Handler, type HttpOptions, isRefusal } from "./http_options.ts";
import { HttpOutlet } from "./http_outlet.ts";
import { claimedRevision, metaOf, readMeta } from "../modern.ts";
import { acceptClientResponse } from "../input/server_request.ts";
import type { Session } from "../session/session.ts";

/** Methods whose handlers may send messages before the response. */
const MAY_STREAM: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Creates the handler of POST. */
export function createPostHandler(options: HttpOptions, answers: Answers, admit: Admit): Handler {
  const { host, bodyLimit, sessions } = options;
  const { refuse } = answers;

  async function post(request: Request, runtime: RequestContext): Promise<Response> {
    const principal = await admit(request, runtime);
    if (isRefusal(principal)) return principal;
    const { headers } = request;
    if (mediaType(headers.get("content-type")) !== "application/json") {
      return refuse(415, INVALID_REQUEST, "Unsupported media type: Content-Type must be application/json");
    }
    const byHeaders = eraOfHeaders(headers);
    let value: unknown;
    try {
      value = parseJsonInTurns(await readText(request, bodyLimit));
      // Only large messages are parsed asynchronously.
      if (value instanceof Promise) value = await value;
    } catch (error) {
      if (error instanceof RpcError) return refuse(statusOf(error), error.code, error.message, byHeaders);
      if (error instanceof BodyError) {
        const code = error.status === 413 ? INVALID_REQUEST : PARSE_ERROR;
        return refuse(error.status, code, error.message, byHeaders);
      }
      throw error;
    }
    const isBatch = Array.isArray(value);
    const message = isBatch ? undefined : readMessage(value);
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
      session = await sessions.open(id, principal);
      if (!session) return answers.noSession(era);
      // The negotiated revision takes precedence over the header field.
      era = eraOfRevision(session.revision)!;
    }
    const call = newCall(principal, era, session, request, runtime);
    if (isBatch) return await answerBatch(value as readonly unknown[], call);
    return message!.kind === "request"
      ? await answerRequest(message as RpcRequest, call, claim !== undefined)
      : await answerNonRequest(message!, call);
  }

  /** The hot path: a request without a stream allocates nothing beyond its call. */
  function answerRequest(message: RpcRequest, call: Call, claims: boolean): Promise<Response> | Response {
    const { principal, session } = call;
    const { id, method, params } = message;
    // A bare server/discover comes from a client that does not know the revision yet.
    const isBareDiscover = !claims && call.era.profile !== "modern" && method === "server/discover";
    if (isBareDiscover) call.era = MODERN_ERA;
    const { era } = call;
    const modern = era.profile === "modern";
    const { headers } = call.request!;
    call.id = id;
    if (!isBareDiscover && (modern || claims)) {
      try {
        readMeta(call, message, headers);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        // A client that sends this _meta knows these errors, whatever revision it names.
        return answers.write({ id: id ?? undefined, error }, MODERN_ERA, principal);
      }
    } else call.meta = metaOf(params) ?? call.meta;
    if (modern) {
      call.headers = headers;
      if (method === "subscriptions/listen") return openListenStream(options, answers, message, call);
    } else if (era.profile === "legacy" && method === "initialize" && !claims && !session) {
      call.offersSession = true;
    }
    if (era.profile !== "plain" && MAY_STREAM.has(method) && acceptsStream(headers, modern)) {
      return answerWithOutlet(message, call);
    }
    return (dispatchMessage(dispatcherOf(era), message, call) as Promise<RpcResponse>).then((response) => {
      call.end();
      return answers.write(response, era, principal, call);
    });
  }

  /** A request whose handler may send messages before the response. */
  function answerWithOutlet(message: RpcRequest, call: Call): Promise<Response> {
    const { era, principal, session } = call;
    const outlet = new HttpOutlet(options.outlet, call, answers.fields(era));
    call.outlet = outlet;
    const dispatched = dispatchMessage(dispatcherOf(era), message, call) as Promise<RpcResponse>;
    const done = dispatched.then((response) => {
      call.end();
      if (call.isCancelled) return outlet.abandon();
      outlet.finish(
        () => answers.text(response, era, principal),
        () => answers.write(response, era, principal),
      );
    });
    if (session) call.waitUntil(done);
    return outlet.response;
  }

  async function answerNonRequest(message: Message, call: Call): Promise<Response> {
    const { era, principal, session } = call;
    if (message.kind !== "response") {
      const response = await dispatchMessage(dispatcherOf(era), message, call);
      return response ? answers.write(response, era, principal) : answers.accepted(era);
    }
    if (era.profile === "modern") {
      return refuse(
        400,
        INVALID_REQUEST,
        `Invalid Request: revision ${era.revision} has no requests that a client responds to`,
        era,
      );
    }
    return await deliverResponse(message, session)
      ? answers.accepted(era)
      : refuse(400, INVALID_REQUEST, "Invalid Request: no pending request has this id", era);
  }

  async function answerBatch(batch: readonly unknown[], carrier: Call): Promise<Response> {
    const { era, session, principal } = carrier;
    const error = checkBatchSize(batch);
    if (error) return answers.write({ id: null, error }, era, principal);
    const messages = batch.map(readMessage);
    const reason = checkBatchAllowed(messages, era.profile === "plain" ? undefined : era.revision);
    if (reason !== undefined) return refuse(400, INVALID_REQUEST, reason, era);
    for (const message of messages) if (message.kind === "response") await deliverResponse(message, session);
    const calls: Call[] = [];
    const responses = await dispatchBatch(dispatcherOf(era), messages, (message) => {
      const call = newCall(principal, era, session, carrier.request!, carrier.runtime!);
      calls.push(call);
      if (message.kind === "request") {
        call.id = message.id;
        call.meta = metaOf(message.params) ?? call.meta;
      }
      return call;
    }, { inSeries: session !== undefined });
    for (const call of calls) call.end();
    return responses === undefined ? answers.accepted(era) : answers.writeBatch(responses, era, principal);
  }

  function newCall(
    principal: Principal | undefined,
    era: Era,
    session: Session | undefined,
    request: Request,
    runtime: RequestContext,
  ): Call {
    const call = new Call(host, principal, era);
    call.request = request;
    call.runtime = runtime;
    if (session) call.join(session);
    return call;
  }

  function dispatcherOf({ profile }: Era): Dispatcher<Call> {
    return profile === "modern" ? options.modern : options.legacy;
  }

  async function deliverResponse(message: ClientResponse, session: Session | undefined): Promise<boolean> {
    return !session || await acceptClientResponse(options.outlet.serverRequests, session, message);
  }

  return post;
}

/** The HTTP status of a message that could not be parsed (413, RFC 9110 section 15.5.14: too many values). */
function statusOf({ code }: RpcError): number {
  return code === INVALID_REQUEST ? 413 : 400;
}
