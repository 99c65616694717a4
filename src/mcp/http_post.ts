/**
 * The one endpoint: the ladder from a request to a message, for plain JSON-RPC callers, for clients of a session
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http), and for modern ones
 * (https://modelcontextprotocol.io/specification/draft/basic/transports/streamable-http). `http_answer.ts` leads back.
 *
 * @module
 */
import type { Principal } from "../http/bearer.ts";
import { BodyError, readText } from "../http/body.ts";
import { mediaType } from "../http/media_type.ts";
import type { RequestContext } from "../http/service.ts";
import { dispatchBatch, type Dispatcher, dispatchMessage } from "../jsonrpc/dispatch.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "../jsonrpc/error.ts";
import {
  type Answer,
  type Message,
  parseJson,
  readMessage,
  type Request as RpcRequest,
  type Response as RpcResponse,
} from "../jsonrpc/message.ts";
import { Call } from "./call.ts";
import { type Era, eraOfHeaders, eraOfRevision, MODERN_ERA } from "./era.ts";
import { unsupportedVersion } from "./error.ts";
import type { Answers } from "./http_answer.ts";
import { openListenStream } from "./http_listen.ts";
import { acceptsStream, type Admit, type Handler, type HttpOptions, isRefusal } from "./http_options.ts";
import { HttpOutlet } from "./http_outlet.ts";
import { DEFAULT_LEVEL } from "./log_level.ts";
import { claimedRevision, metaOf, readMeta } from "./modern.ts";
import { answerQuestion } from "./question.ts";
import type { Session } from "./session.ts";

/** What may take a while and speak before it answers. */
const TALKATIVE: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Who calls, in what era, in which session. */
interface Caller {
  readonly principal: Principal | undefined;
  readonly era: Era;
  readonly session: Session | undefined;
  readonly headers: Headers;
  readonly runtime: RequestContext;
  /** Where an abort of the request shows. */
  readonly request: Request;
}

/** A handler for POST. */
export function createPostHandler(options: HttpOptions, answers: Answers, admit: Admit): Handler {
  const { host, bodyLimit, sessions } = options;
  const { refuse } = answers;

  async function post(request: Request, runtime: RequestContext): Promise<Response> {
    const principal = await admit(request, runtime);
    if (isRefusal(principal)) return principal;
    const { headers } = request;
    if (mediaType(headers.get("content-type")) !== "application/json") {
      return refuse(415, INVALID_REQUEST, "Content-Type must be application/json");
    }
    const byHeaders = eraOfHeaders(headers);
    let value: unknown;
    try {
      value = parseJson(await readText(request, bodyLimit));
    } catch (error) {
      if (error instanceof RpcError) return refuse(400, error.code, error.message, byHeaders);
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
      const id = message && message.kind !== "notification" ? message.id ?? undefined : undefined;
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
      // Who names a session speaks its revision, unless the request names another.
      if (!headers.has("mcp-protocol-version")) era = eraOfRevision(session.revision)!;
    }
    const caller = { principal, era, session, headers, runtime, request };
    if (isBatch) return await answerBatch(value as readonly unknown[], caller);
    return await answerOne(message!, caller, claim !== undefined);
  }

  async function answerOne(message: Message, caller: Caller, claims: boolean): Promise<Response> {
    const { era, session, principal } = caller;
    switch (message.kind) {
      case "answer":
        if (era.profile === "modern") {
          return refuse(
            400,
            INVALID_REQUEST,
            "Invalid Request: this revision has no answers of clients",
            era,
          );
        }
        return await takeAnswer(message, session)
          ? answers.accepted(era)
          : refuse(400, INVALID_REQUEST, "Invalid Request: no request of this id waits for an answer", era);
      case "notification": {
        const call = newCall(caller);
        await dispatchMessage(dispatcherOf(era), message, call);
        return answers.accepted(era);
      }
      case "invalid":
        return answers.write(
          await dispatchMessage(dispatcherOf(era), message, newCall(caller)) as RpcResponse,
          era,
          principal,
        );
      case "request":
        return await answerRequest(message, caller, claims);
    }
  }

  async function answerRequest(message: RpcRequest, caller: Caller, claims: boolean): Promise<Response> {
    const { principal, session, headers } = caller;
    let { era } = caller;
    const { method } = message;
    // Nobody who speaks of a handshake asks this: it is answered to whoever looks around.
    const looksAround = !claims && era.profile !== "modern" && method === "server/discover";
    const call = newCall(looksAround ? { ...caller, era: era = MODERN_ERA } : caller);
    call.id = message.id;
    const modern = era.profile === "modern";
    try {
      if (!looksAround && (modern || claims)) readMeta(call, message, headers);
      else call.meta = metaOf(message.params) ?? call.meta;
    } catch (error) {
      if (error instanceof RpcError) {
        return answers.write({ id: message.id ?? undefined, error }, era, principal);
      }
      throw error;
    }
    if (modern) {
      call.headers = headers;
      if (method === "subscriptions/listen") return await openListenStream(options, answers, message, call);
    } else if (era.profile === "legacy" && method === "initialize" && !claims && !session) {
      call.offersSession = true;
    }
    const dispatcher = dispatcherOf(era);
    if (!TALKATIVE.has(method)) {
      return answers.write(
        await dispatchMessage(dispatcher, message, call) as RpcResponse,
        era,
        principal,
        call,
      );
    }
    if (session) watchSession(call, session);
    else call.watchCaller = (gone) => caller.request.signal.addEventListener("abort", gone, { once: true });
    if (era.profile === "plain" || !acceptsStream(headers, modern)) {
      const response = await dispatchMessage(dispatcher, message, call) as RpcResponse;
      call.end();
      return answers.write(response, era, principal);
    }
    const outlet = new HttpOutlet(options.outlet, call, answers.fields(era));
    call.outlet = outlet;
    const done = (dispatchMessage(dispatcher, message, call) as Promise<RpcResponse>).then((response) => {
      call.end();
      if (call.isCancelled) outlet.abandon();
      else {outlet.finish(() =>
          answers.text(response, era, principal), () =>
          answers.write(response, era, principal));}
    });
    if (session) call.waitUntil(done);
    return await outlet.response;
  }

  async function answerBatch(batch: readonly unknown[], caller: Caller): Promise<Response> {
    const { era, session, principal } = caller;
    const messages = batch.map(readMessage);
    // Batches came with 2025-03-26 and went with 2025-06-18.
    const reason = era.profile !== "plain" && era.revision !== "2025-03-26"
      ? `revision ${era.revision} has no batches`
      : messages.some((each) => each.kind === "request" && each.method === "initialize")
      ? "initialize must not be in a batch"
      : messages.some((each) => "params" in each && claimedRevision(metaOf(each.params)) !== undefined)
      ? "a request that names its revision in _meta must not be in a batch"
      : undefined;
    if (reason !== undefined) return refuse(400, INVALID_REQUEST, `Invalid Request: ${reason}`, era);
    for (const message of messages) if (message.kind === "answer") await takeAnswer(message, session);
    const responses = await dispatchBatch(dispatcherOf(era), messages, (message) => {
      const call = newCall(caller);
      if (message.kind === "request") {
        call.id = message.id;
        call.meta = metaOf(message.params) ?? call.meta;
      }
      return call;
    });
    return responses === undefined ? answers.accepted(era) : answers.writeBatch(responses, era, principal);
  }

  function newCall({ principal, era, session, runtime }: Caller): Call {
    const call = new Call(host, principal, era);
    call.runtime = runtime;
    if (session) {
      call.session = session;
      call.capabilities = session.capabilities;
      call.clientInfo = session.clientInfo;
      let level: ReturnType<NonNullable<Call["logLevel"]>> | undefined;
      call.logLevel = () =>
        level ??= sessions.settings(session).then(
          (settings) => settings.level ?? DEFAULT_LEVEL,
          () => DEFAULT_LEVEL,
        );
    } else if (era.profile === "legacy") call.logLevel = () => DEFAULT_LEVEL;
    return call;
  }

  function dispatcherOf({ profile }: Era): Dispatcher<Call> {
    return profile === "modern" ? options.modern : options.legacy;
  }

  /** In a session calls are cancelled by a notification, which may come to another instance. */
  function watchSession(call: Call, session: Session): void {
    call.watchCaller = (gone) => {
      const stop = options.cancellations.listen(session, call.id!, () => {
        stop();
        gone();
      });
      call.onOver = stop;
    };
  }

  async function takeAnswer(message: Answer, session: Session | undefined): Promise<boolean> {
    return !session || await answerQuestion(options.outlet.questions, session, message);
  }

  return post;
}
