/**
 * The one endpoint: the ladder from a request to a message, for plain JSON-RPC callers, for clients of a session
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http), and for modern ones
 * (https://modelcontextprotocol.io/specification/draft/basic/transports/streamable-http). `http_answer.ts` leads back.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { BodyError, readText } from "../../http/body/body.ts";
import { mediaType } from "../../http/body/media_type.ts";
import type { RequestContext } from "../../http/service.ts";
import { dispatchBatch, type Dispatcher, dispatchMessage, refuseBatchSize } from "../../jsonrpc/dispatch.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "../../jsonrpc/error.ts";
import {
  type Answer,
  type Message,
  parseJsonInTurns,
  readMessage,
  type Request as RpcRequest,
  type Response as RpcResponse,
} from "../../jsonrpc/message.ts";
import { refuseBatch } from "../batch.ts";
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

/** What may take a while and speak before it answers. */
const TALKATIVE: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** A handler for POST. */
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
      // Most messages are small, and need no turn of their own.
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
      // The id of an answer is one of ours.
      const asks = message?.kind === "request" || message?.kind === "invalid";
      const id = asks ? message.id ?? undefined : undefined;
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
      // What was agreed on holds, whatever a header field says later.
      era = eraOfRevision(session.revision)!;
    }
    const call = newCall(principal, era, session, request, runtime);
    if (isBatch) return await answerBatch(value as readonly unknown[], call);
    return message!.kind === "request"
      ? await answerRequest(message as RpcRequest, call, claim !== undefined)
      : await answerOther(message!, call);
  }

  /** A request, most of all: no step that is not needed. */
  function answerRequest(message: RpcRequest, call: Call, claims: boolean): Promise<Response> | Response {
    const { principal, session } = call;
    const { id, method, params } = message;
    // Nobody who speaks of a handshake asks this: it is answered to whoever looks around.
    const looksAround = !claims && call.era.profile !== "modern" && method === "server/discover";
    if (looksAround) call.era = MODERN_ERA;
    const { era } = call;
    const modern = era.profile === "modern";
    const { headers } = call.request!;
    call.id = id;
    if (!looksAround && (modern || claims)) {
      try {
        readMeta(call, message, headers);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        // Who speaks of itself in _meta knows these errors, whatever revision it names.
        return answers.write({ id: id ?? undefined, error }, MODERN_ERA, principal);
      }
    } else call.meta = metaOf(params) ?? call.meta;
    if (modern) {
      call.headers = headers;
      if (method === "subscriptions/listen") return openListenStream(options, answers, message, call);
    } else if (era.profile === "legacy" && method === "initialize" && !claims && !session) {
      call.offersSession = true;
    }
    if (era.profile !== "plain" && TALKATIVE.has(method) && acceptsStream(headers, modern)) {
      return answerWithOutlet(message, call);
    }
    return (dispatchMessage(dispatcherOf(era), message, call) as Promise<RpcResponse>).then((response) => {
      call.end();
      return answers.write(response, era, principal, call);
    });
  }

  /** A request whose handler may speak before it answers. */
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

  async function answerOther(message: Message, call: Call): Promise<Response> {
    const { era, principal, session } = call;
    if (message.kind !== "answer") {
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
    return await takeAnswer(message, session)
      ? answers.accepted(era)
      : refuse(400, INVALID_REQUEST, "Invalid Request: no pending request has this id", era);
  }

  async function answerBatch(batch: readonly unknown[], carrier: Call): Promise<Response> {
    const { era, session, principal } = carrier;
    const excess = refuseBatchSize(batch);
    if (excess) return answers.write({ id: null, error: excess }, era, principal);
    const messages = batch.map(readMessage);
    const reason = refuseBatch(messages, era.profile === "plain" ? undefined : era.revision);
    if (reason !== undefined) return refuse(400, INVALID_REQUEST, reason, era);
    for (const message of messages) if (message.kind === "answer") await takeAnswer(message, session);
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

  async function takeAnswer(message: Answer, session: Session | undefined): Promise<boolean> {
    return !session || await acceptClientResponse(options.outlet.questions, session, message);
  }

  return post;
}

/** Of what cannot be read (RFC 9110 section 15.5.14: too large, where it is JSON all the same). */
function statusOf({ code }: RpcError): number {
  return code === INVALID_REQUEST ? 413 : 400;
}
