/**
 * `GET` and `DELETE` of a session (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports): opens its
 * stream, resumes a stream, ends the session. Both are 405 without a session.
 *
 * @module
 */
import { toAddress } from "../../http/network/network.ts";
import { type Fields, respond } from "../../http/response.ts";
import { INVALID_REQUEST } from "../../jsonrpc/error.ts";
import { eraOfHeaders, eraOfRevision, MODERN_ERA } from "../era.ts";
import { unsupportedVersion } from "../error.ts";
import { LimitError } from "../session/limit_error.ts";
import type { Answers } from "./http_answer.ts";
import { acceptsStream, type Admit, type Handler, type HttpOptions, isRefusal } from "./http_options.ts";
import { methodNotAllowed } from "./http_other_method.ts";
import { isCurrent } from "./recheck_token.ts";
import { openSessionStream, resumeStream } from "../session/session_stream.ts";

/** The handler of both methods. */
export function createSessionHandler(
  { stateful, now }: HttpOptions,
  answers: Answers,
  admit: Admit,
): Handler {
  return async (request, runtime) => {
    const { method, headers } = request;
    const principal = await admit(request, runtime);
    if (isRefusal(principal)) return principal;
    const id = headers.get("mcp-session-id");
    const era = eraOfHeaders(headers);
    if (id !== null && !era) {
      const error = unsupportedVersion(headers.get("mcp-protocol-version")!);
      return answers.write({ id: undefined, error }, MODERN_ERA, principal);
    }
    if (id === null || !era || era.profile === "modern") return methodNotAllowed(answers, "POST, OPTIONS");
    const { sessions, streams, subscriptions } = await stateful.load();
    const session = await sessions.open(id, principal);
    if (!session) return answers.noSession(era);
    if (method !== "DELETE" && !acceptsStream(headers, false)) {
      return answers.refuse(
        406,
        INVALID_REQUEST,
        "Not acceptable: Accept must include text/event-stream",
        era,
      );
    }
    const fields: Fields = answers.fields(eraOfRevision(session.revision)!);
    const last = headers.get("last-event-id");
    const caller = { principal, runtime: toAddress(runtime) };
    try {
      if (method === "DELETE") {
        await sessions.end(session, caller);
        await subscriptions.clear(session);
        return respond(204, null);
      }
      const isStillCurrent = async () => session.expires > now() && await isCurrent(principal, now);
      const resumed = last === null
        ? undefined
        : await resumeStream(streams, session, caller, last, isStillCurrent, fields);
      return resumed ?? await openSessionStream(streams, session, caller, last, isStillCurrent, fields);
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      return answers.write({ id: undefined, error }, era, principal);
    }
  };
}
