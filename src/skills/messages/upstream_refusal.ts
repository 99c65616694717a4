/**
 * Errors of a model endpoint, as the caller sees them. Problems of the request are passed on to the caller; problems of
 * Trivet's key or configuration are reported to the operator.
 *
 * @module
 */
import { ByteBuffer } from "../../http/body/byte_buffer.ts";
import type { Fields } from "../../http/response.ts";
import { SkillError, type SkillErrorType } from "../error.ts";
import { isObject } from "./request.ts";

/** Bytes of an error response that are read, and characters of its message that are passed on. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_MESSAGE_CHARACTERS = 2000;
/** Shorter words occur in ordinary text and are not masked. */
const MIN_SECRET_CHARACTERS = 8;

/** Errors of the request, passed on if the body is an error of the Messages API. */
const PASSED_STATUSES: Readonly<Record<number, SkillErrorType>> = {
  400: "invalid_request_error",
  404: "not_found_error",
  413: "request_too_large",
  422: "invalid_request_error",
};
/** Temporary errors: the caller waits and retries. */
const RETRY_STATUSES: Readonly<Record<number, readonly [SkillErrorType, number]>> = {
  408: ["timeout_error", 504],
  429: ["rate_limit_error", 429],
  504: ["timeout_error", 504],
  529: ["overloaded_error", 529],
};
const RETRY_FIELDS = ["retry-after", "retry-after-ms", "x-should-retry"];

/** The error for a response with an error status. @param secrets are masked in the endpoint's message */
export async function refusalOf(
  response: Response,
  secrets: readonly (string | undefined)[],
  onFault: (error: unknown) => void,
): Promise<SkillError> {
  const { status } = response;
  const message = maskSecrets(messageOf(await readStart(response)), secrets);
  const waiting: Fields = RETRY_FIELDS.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const later = RETRY_STATUSES[status];
  if (later) {
    const [type, as] = later;
    return new SkillError(type, message ?? "The model endpoint is busy. Try again later.", {
      status: as,
      fields: waiting,
    });
  }
  const type = PASSED_STATUSES[status];
  if (type && message !== undefined) {
    return new SkillError(type, message, { status: status === 422 ? 400 : status });
  }
  onFault(
    new Error(
      `The model endpoint responded with status ${status}${message === undefined ? "" : `: ${message}`}`,
    ),
  );
  if (status >= 500) {
    return new SkillError("api_error", `The model endpoint failed with status ${status}. Try again later.`, {
      status: 502,
      fields: waiting,
    });
  }
  const what = status === 401 || status === 403
    ? "The model endpoint rejected this server's key"
    : `The model endpoint responded with status ${status}`;
  return new SkillError("api_error", `${what}. Contact the operator of this server.`, {
    status: 502,
    // A retry would fail in the same way.
    fields: [["x-should-retry", "false"]],
  });
}

/** The first bytes of the body, at most {@linkcode MAX_ERROR_BYTES}. */
async function readStart(response: Response): Promise<string> {
  const read = new ByteBuffer();
  const reader = response.body?.getReader();
  try {
    while (reader && read.length < MAX_ERROR_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      read.append(value);
    }
  } catch {
    // Use what was read before the failure.
  }
  reader?.cancel().catch(() => {});
  return new TextDecoder().decode(read.view());
}

/** The message of an error in the format of the Messages API, or with `error` as text. */
function messageOf(text: string): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const error = isObject(body) ? body.error : undefined;
  const message = isObject(error) ? error.message : error;
  return typeof message === "string" && message !== "" ? message : undefined;
}

/** Masks secrets: an endpoint may repeat header fields in its message. */
function maskSecrets(text: string | undefined, secrets: readonly (string | undefined)[]): string | undefined {
  let shown = text;
  // A header field may have a scheme before the secret, as in `Bearer …`.
  for (const secret of secrets.flatMap((each) => each?.split(" ") ?? [])) {
    if (secret.length >= MIN_SECRET_CHARACTERS) shown = shown?.replaceAll(secret, "[hidden]");
  }
  return shown?.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed();
}
