/**
 * Parts that the account pages share: the frame with the way back, messages, one-button forms, and times.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import type { Language } from "../pages/languages.ts";
import { hiddenFields } from "../pages/parts.ts";
import type { Writing } from "../pages/page_module.ts";
import type { FormView } from "./account_views.ts";
import type { AccountTexts } from "./texts_en.ts";

export type AccountWriting = Writing<AccountTexts>;

/** The way back to the overview, above the heading. */
export function backLink(account: string, texts: AccountTexts): Markup {
  return html`<p class="back"><a href="${account}">${texts.accountBackToAccount}</a></p>`;
}

/** What was done, announced by screen readers. */
export function doneNote(text: string | undefined): Markup | undefined {
  return text === undefined ? undefined : html`<p class="note" role="status">${text}</p>`;
}

/** A form of one button. @param label what the button does, for people who hear it without its surroundings */
export function buttonForm({ action, hidden }: FormView, text: string, label?: string): Markup {
  return html`
    <form method="post" action="${action}">
      ${hiddenFields(hidden)}
      <button class="plain small"${label !== undefined && html`
        aria-label="${label}"
      `}>${text}</button>
    </form>
  `;
}

/** A day, in UTC: the server does not know the time zone of the user. */
export function dayOf(ms: number, language: Language): Markup {
  const text = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" }).format(ms);
  return html`<time datetime="${new Date(ms).toISOString()}">${text}</time>`;
}

const UNITS = [["day", 86_400], ["hour", 3600], ["minute", 60]] as const;

/** How long ago it was: `5 minutes ago`. */
export function sinceOf(ms: number, language: Language): Markup {
  const seconds = Math.max(0, (Date.now() - ms) / 1000);
  const [unit, length] = UNITS.find(([, each]) => seconds >= each) ?? ["minute", 60];
  const text = new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(
    -Math.floor(seconds / length),
    unit,
  );
  return html`<time datetime="${new Date(ms).toISOString()}">${text}</time>`;
}
