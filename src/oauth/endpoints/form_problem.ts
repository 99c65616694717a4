/**
 * Why a form is shown again: the message above its fields, the status of the page, and its header fields.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import type { Fields } from "../../http/response.ts";

export interface FormProblem {
  readonly message: string;
  readonly status: number;
  readonly fields?: Fields;
}

/** 429 with `Retry-After`. */
export function tooManyAttempts(waitSeconds: number): FormProblem {
  return {
    message: `Too many attempts. Try again in ${waitSeconds} second${waitSeconds === 1 ? "" : "s"}.`,
    status: 429,
    fields: [["retry-after", String(waitSeconds)]],
  };
}

/** The message, announced by screen readers; nothing without a problem. */
export function showProblem(problem: FormProblem | undefined): Markup | undefined {
  return problem && html`
    <p class="bad" role="alert">${problem.message}</p>
  `;
}
