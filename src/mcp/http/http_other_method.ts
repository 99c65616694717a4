/**
 * What an endpoint answers to the HTTP methods that it does not have, and to OPTIONS: CORS preflights, 204, 405.
 *
 * @module
 */
import { answerPreflight } from "../../http/cors/preflight.ts";
import { respond } from "../../http/response.ts";
import { INVALID_REQUEST } from "../../jsonrpc/error.ts";
import type { Answers } from "./http_answer.ts";

/** @param allowed the methods of the endpoint, and OPTIONS */
export function answerOtherMethod(request: Request, answers: Answers, allowed: string): Response {
  return answerPreflight(request, allowed) ??
    (request.method === "OPTIONS"
      ? respond(204, null, [["allow", allowed]])
      : methodNotAllowed(answers, allowed));
}

/** 405 with the methods that are allowed (RFC 9110 section 15.5.6). */
export function methodNotAllowed(answers: Answers, allowed: string): Response {
  const response = answers.refuse(405, INVALID_REQUEST, `Method not allowed. Allowed: ${allowed}.`);
  response.headers.set("allow", allowed);
  return response;
}
