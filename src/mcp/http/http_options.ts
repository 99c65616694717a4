/**
 * Options of the HTTP endpoints, and the authentication of a request.
 *
 * @module
 */
import { TokenRefusal } from "../../http/bearer.ts";
import type { HostGuardOptions } from "../../http/network/origin.ts";
import type { IdentifyCaller, Principal } from "../../http/principal.ts";
import type { RequestContext } from "../../http/service.ts";
import { eraOfHeaders } from "../era.ts";
import type { AnswerOptions, Answers } from "./http_answer.ts";
import type { OutletOptions } from "./http_outlet.ts";
import type { Lazy } from "../lazy.ts";
import type { Stateful } from "../stateful.ts";

export interface HttpOptions extends AnswerOptions, HostGuardOptions {
  /** What must be done before the first request is answered; `undefined` when it is done. */
  readonly prepare: () => Promise<void> | undefined;
  readonly identify: IdentifyCaller;
  readonly auth: "required" | "optional" | "off";
  /** Bytes. */
  readonly bodyLimit: number;
  readonly stateful: Lazy<Stateful>;
  /** Whether `initialize` opens a session. */
  readonly sessions: boolean;
  readonly now: () => number;
  readonly outlet: OutletOptions;
}

/** Creates the handlers of HTTP+SSE (2024-11-05): `open` for the stream, `post` for messages. */
export type SseFactory = (
  options: HttpOptions,
  answers: Answers,
  admit: Admit,
  postPath: string,
) => { readonly open: Handler; readonly post: Handler };

export type Handler = (request: Request, context: RequestContext) => Promise<Response>;

/** Authenticates a request: its principal, `undefined` for an anonymous caller, or the 401 response. */
export type Admit = (
  request: Request,
  context: RequestContext,
) => Principal | undefined | Response | Promise<Principal | undefined | Response>;

/** Creates the check of access tokens (RFC 6750 section 3). */
export function createAdmit({ auth, identify }: HttpOptions, answers: Answers): Admit {
  if (auth === "off") return () => undefined;
  return (request, context) => {
    const admit = (caller: Awaited<ReturnType<IdentifyCaller>>): ReturnType<Admit> => {
      if (caller instanceof TokenRefusal) return answers.refuseToken(caller, eraOfHeaders(request.headers));
      if (caller !== "none") return context.limitCaller?.(caller).then(() => caller) ?? caller;
      return auth === "required" ? answers.challenge(eraOfHeaders(request.headers)) : undefined;
    };
    const caller = identify(request, context);
    return caller instanceof Promise ? caller.then(admit) : admit(caller);
  };
}

/** Not by `instanceof`: a runtime may have its own `Response` class. */
export function isRefusal(admitted: Principal | undefined | Response): admitted is Response {
  return admitted !== undefined && "headers" in admitted;
}

/** The rest of a range without weight 0, which means "not acceptable" (RFC 9110 section 12.4.2). */
const ACCEPTED = String.raw`\s*(?:,|$|;(?!(?:[^;,]*;)*\s*q=0(?:\.0*)?\s*(?:[;,]|$)))`;
const STREAM = new RegExp(String.raw`(?:^|,)\s*(?:text/(?:event-stream|\*)|\*/\*)${ACCEPTED}`, "i");
/** The most specific range counts (section 12.5.1). */
const NO_STREAM = new RegExp(String.raw`(?:^|,)\s*text/event-stream(?!${ACCEPTED})\s*;`, "i");

/** Whether `Accept` includes event streams. `byDefault` is the result without `Accept`. */
export function acceptsStream(headers: Headers, byDefault: boolean): boolean {
  const accept = headers.get("accept");
  return accept === null ? byDefault : STREAM.test(accept) && !NO_STREAM.test(accept);
}
