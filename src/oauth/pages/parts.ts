/**
 * Parts that pages share: messages, fields, hidden fields, names of applications.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import type { ApplicationView, HiddenFields } from "./basic_views.ts";
import { fillText } from "./text.ts";

/** A message about what the user sent, announced by screen readers. */
export function problemNote(text: string | Markup | undefined): Markup | undefined {
  return text === undefined ? undefined : html`<p class="problem" role="alert">${text}</p>`;
}

/** The hidden fields of a form. */
export function hiddenFields(fields: HiddenFields): Markup[] {
  return Object.entries(fields).map(([name, value]) =>
    html`<input type="hidden" name="${name}" value="${value}">`
  );
}

export interface InputOptions {
  readonly name: string;
  readonly label: string;
  readonly type?: string | undefined;
  readonly value?: string | undefined;
  readonly autocomplete?: string | undefined;
  /** @default true */
  readonly required?: boolean | undefined;
  readonly autofocus?: boolean | undefined;
  readonly inputmode?: "numeric" | "email" | "text" | undefined;
  /** Names and codes: no capital letters, no spelling help. */
  readonly isVerbatim?: boolean | undefined;
  readonly isInvalid?: boolean | undefined;
  readonly class?: string | undefined;
}

/** A label and its input. Its id is its name. */
export function inputField({ name, label, type = "text", required = true, ...more }: InputOptions): Markup {
  const { value, autocomplete, autofocus, inputmode, isVerbatim, isInvalid } = more;
  const attribute = (key: string, given: string | undefined): Markup | false =>
    given !== undefined && html`
      ${key}="${given}"
    `;
  return html`
    <label for="${name}">${label}</label>
    <input id="${name}" name="${name}" type="${type}"
      ${attribute("class", more.class)}${attribute("value", value)}${attribute(
        "autocomplete",
        autocomplete,
      )}${attribute("inputmode", inputmode)}${isVerbatim && html`
        autocapitalize="none" spellcheck="false"
      `}${isInvalid && html`
        aria-invalid="true"
      `}${required && html`
        required
      `}${autofocus && html`
        autofocus
      `}>
  `;
}

/** The name of an application: in the quotes of the language when the application chose it. */
export function applicationName(
  { name, isVerified }: ApplicationView,
  texts: { readonly quoted: string },
): string {
  return isVerified ? name : fillText(texts.quoted, { name });
}
