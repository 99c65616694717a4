/**
 * Responses of the Skills service, and the one place that turns errors into the error object of a dialect. Every response
 * carries a `request-id`.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import type { Observe } from "../../events.ts";
import { BodyError } from "../../http/body/body_error.ts";
import { RateLimitError } from "../../http/rate_limit.ts";
import { type Fields, respond, SERVER_FAILED, STORE_UNAVAILABLE } from "../../http/response.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import type { Dialect } from "./dialect.ts";
import { SkillError } from "../error.ts";

export function newRequestId(): string {
  return randomId("req_");
}

/** The header fields of every response: OpenAI's clients read `x-request-id`. */
export function requestIdFields({ name }: Dialect, requestId: string): Fields {
  return name === "openai"
    ? [["request-id", requestId], ["x-request-id", requestId]]
    : [["request-id", requestId]];
}

/** A response of JSON text. */
export function answerJson(
  dialect: Dialect,
  status: number,
  json: string,
  requestId: string,
  more: Fields = [],
): Response {
  const fields: Fields = [["content-type", "application/json"], ...requestIdFields(dialect, requestId)];
  return respond(status, json, more.length === 0 ? fields : [...fields, ...more]);
}

/** The response to an error. Errors that the caller did not cause are reported to the observer. */
export function refuse(dialect: Dialect, error: unknown, requestId: string, observe: Observe): Response {
  const { type, status, message, fields, problems } = toSkillError(error, observe);
  const json = dialect.shape.error({ type, message, requestId, problems });
  return answerJson(dialect, status, json, requestId, fields);
}

function toSkillError(error: unknown, observe: Observe): SkillError {
  if (error instanceof SkillError) return error;
  if (error instanceof BodyError) {
    const type = error.status === 413 ? "request_too_large" : "invalid_request_error";
    // The API does not define 415.
    return new SkillError(type, error.message, { status: error.status === 415 ? 400 : error.status });
  }
  if (error instanceof RateLimitError) {
    return new SkillError("rate_limit_error", error.message, {
      fields: [["retry-after", String(error.retryAfter)]],
    });
  }
  if (error instanceof StoreUnavailableError) {
    observe({ type: "store_unavailable", where: "skills", error });
    return new SkillError(
      "overloaded_error",
      STORE_UNAVAILABLE,
      { fields: [["retry-after", String(error.retryAfter)]] },
    );
  }
  observe({ type: "fault", where: "skills", error });
  return new SkillError("api_error", SERVER_FAILED);
}
