/**
 * The error class of the Skills service, and the status of each error type.
 *
 * @module
 */
import type { Fields } from "../http/response.ts";
import { capProblems, type Problem } from "./package/problem.ts";

const STATUS = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 503,
  timeout_error: 504,
} as const;

export type SkillErrorType = keyof typeof STATUS;

/** A refusal of the API: clients rely on its type; its message says what to fix. */
export class SkillError extends Error {
  override readonly name = "SkillError";
  readonly type: SkillErrorType;
  readonly status: number;
  /** Response header fields, such as `WWW-Authenticate` (RFC 6750 section 3). */
  readonly fields: Fields;
  /** Broken rules of a package, up to the limits of a response. */
  readonly problems: readonly Problem[];

  constructor(
    type: SkillErrorType,
    message: string,
    options?: ErrorOptions & { status?: number; fields?: Fields; problems?: readonly Problem[] },
  ) {
    super(message, options);
    this.type = type;
    this.status = options?.status ?? STATUS[type];
    this.fields = options?.fields ?? [];
    this.problems = capProblems(options?.problems ?? []);
  }
}

/** A 404 for a skill, by the id or name in the request. */
export function skillNotFound(skill: string): SkillError {
  return new SkillError("not_found_error", `Skill ${quoteInput(skill)} not found`);
}

/** A 404 for a version, by any of its names. */
export function versionNotFound(skill: string, version: string): SkillError {
  return new SkillError(
    "not_found_error",
    `Version ${quoteInput(version)} of skill ${quoteInput(skill)} not found`,
  );
}

/** Text of a request in quotes, at most 100 characters of it. */
export function quoteInput(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
