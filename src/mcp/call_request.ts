/**
 * The request of a call: who sent it and what it says beside its parameters. It is read before the call is dispatched, and
 * nothing changes it afterwards.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";
import type { RequestContext } from "../http/service.ts";
import type { Id, Message, Request as RpcRequest } from "../jsonrpc/message.ts";
import type { CallContext, LogLevel } from "./context.ts";
import type { Meta } from "./definition/content.ts";
import type { Era } from "./era.ts";
import type { Capabilities } from "./input/client_feature.ts";
import { metaOf, readMeta } from "./request_meta.ts";
import type { Session } from "./session/session.ts";

/** Who sends a message. */
export interface Sender {
  readonly principal: Principal | undefined;
  /** The session of the message, in revisions with a handshake. */
  readonly session: Session | undefined;
  readonly runtime: RequestContext | undefined;
}

export interface CallRequest extends Sender {
  readonly era: Era;
  /** Id of the request; `undefined` for a notification. */
  readonly id: Id | undefined;
  readonly capabilities: Capabilities;
  readonly clientInfo: CallContext["clientInfo"];
  readonly meta: Meta;
  /** The minimum log level that the request names. */
  readonly logLevel: LogLevel | undefined;
  /** Header fields of a request of 2026-07-28 over HTTP, which must match its body. */
  readonly headers: Headers | undefined;
}

export const NOTHING: Meta = {};

/** What a call has of a request that the server repeats itself. */
export const NO_REQUEST: Omit<CallRequest, keyof Sender | "era" | "capabilities"> = {
  id: undefined,
  clientInfo: NOTHING,
  meta: NOTHING,
  logLevel: undefined,
  headers: undefined,
};

/** The request of a message that names no protocol version: the session, if there is one, knows the client. */
export function toCallRequest(
  { principal, session, runtime }: Sender,
  era: Era,
  message: Message,
): CallRequest {
  const isRequest = message.kind === "request";
  return {
    principal,
    session,
    runtime,
    era,
    id: isRequest ? message.id : undefined,
    capabilities: session ? session.capabilities : NOTHING,
    clientInfo: session ? session.clientInfo : NOTHING,
    meta: isRequest ? metaOf(message.params) ?? NOTHING : NOTHING,
    logLevel: undefined,
    headers: undefined,
  };
}

/**
 * The request of a message that says all of it in `_meta`. `headers` only over HTTP.
 * @throws {RpcError} as {@linkcode readMeta}
 */
export function toModernRequest(
  { principal, session, runtime }: Sender,
  era: Era,
  message: RpcRequest,
  headers: Headers | undefined,
): CallRequest {
  const { capabilities, clientInfo, meta, logLevel } = readMeta(message, headers);
  return {
    principal,
    session,
    runtime,
    era,
    id: message.id,
    capabilities,
    clientInfo: clientInfo ?? session?.clientInfo ?? NOTHING,
    meta,
    logLevel,
    headers: era.profile === "modern" ? headers : undefined,
  };
}
