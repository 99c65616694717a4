/**
 * What the endpoints over HTTP share: options, and who is let in.
 *
 * @module
 */
import { TokenRefusal } from "../../http/bearer.ts";
import type { IdentifyCaller, Principal } from "../../http/principal.ts";
import type { RequestContext } from "../../http/service.ts";
import type { Dispatcher } from "../../jsonrpc/dispatch.ts";
import type { Call, CallHost } from "../call.ts";
import type { Cancellations } from "../cancellation.ts";
import { eraOfHeaders } from "../era.ts";
import type { AnswerOptions, Answers } from "./http_answer.ts";
import type { OutletOptions } from "./http_outlet.ts";
import type { ListenOptions } from "./listen.ts";
import type { Sessions } from "../session/session.ts";
import type { SessionStreamOptions } from "../session/session_stream.ts";
import type { Subscriptions } from "../session/session_subscriptions.ts";
import type { StorageAllowance } from "../session/storage_limits.ts";

export interface HttpOptions extends AnswerOptions {
  readonly host: CallHost;
  readonly legacy: Dispatcher<Call>;
  readonly modern: Dispatcher<Call>;
  readonly checkSender: (request: Request) => string | undefined;
  readonly identify: IdentifyCaller;
  readonly auth: "required" | "optional" | "off";
  /** Bytes. */
  readonly bodyLimit: number;
  readonly sessions: Sessions;
  readonly subscriptions: Subscriptions;
  readonly storage: StorageAllowance;
  readonly cancellations: Cancellations;
  readonly now: () => number;
  readonly outlet: OutletOptions;
  readonly listen: ListenOptions;
  readonly streams: SessionStreamOptions;
}

/** Makes the handlers of 2024-11-05: the stream, and where messages are posted. */
export type SseFactory = (
  options: HttpOptions,
  answers: Answers,
  admit: Admit,
  postPath: string,
) => { readonly open: Handler; readonly post: Handler };

export type Handler = (request: Request, context: RequestContext) => Promise<Response>;

/** Who calls; a response for who may not. */
export type Admit = (
  request: Request,
  context: RequestContext,
) => Promise<Principal | undefined | Response>;

/** The door (RFC 6750 §3): no token where none is needed, a good one, or a challenge. */
export function createAdmit({ auth, identify }: HttpOptions, answers: Answers): Admit {
  return async (request, context) => {
    if (auth === "off") return undefined;
    const caller = await identify(request, context);
    if (caller instanceof TokenRefusal) return answers.refuseToken(caller, eraOfHeaders(request.headers));
    if (caller !== "none") return caller;
    return auth === "required" ? answers.challenge(eraOfHeaders(request.headers)) : undefined;
  };
}

/** Not by `instanceof`: a runtime may have a `Response` of its own. */
export function isRefusal(admitted: Principal | undefined | Response): admitted is Response {
  return admitted !== undefined && "headers" in admitted;
}

/** Whether the client reads streams; `unsaid` is what holds for one that says nothing. */
export function acceptsStream(headers: Headers, unsaid: boolean): boolean {
  const accept = headers.get("accept");
  return accept === null ? unsaid : /(?:^|,)\s*(?:text\/(?:event-stream|\*)|\*\/\*)/i.test(accept);
}

/** A token that ended, or whose user or client did, ends what was opened with it: asked with each comment on a stream. */
export async function isCurrent(principal: Principal | undefined, now: () => number): Promise<boolean> {
  if (principal?.expires !== undefined && principal.expires <= now()) return false;
  return await principal?.isStillValid?.() ?? true;
}
