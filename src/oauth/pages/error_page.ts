/**
 * The page of an error: what is wrong in the language of the user, and the description for developers below it in English.
 *
 * @module
 */
import { html } from "../../http/page.ts";
import type { ErrorCode, ErrorView } from "./basic_views.ts";
import type { PageContent, Writing } from "./page_module.ts";
import type { BasicTexts } from "./texts_en.ts";

type Key = keyof BasicTexts;

/** Title, text, and the text of `link`. */
const KEYS: Readonly<Record<ErrorCode, readonly [title: Key, text: Key, link?: Key]>> = {
  invalid_request: ["invalidRequestTitle", "invalidRequestText"],
  request_ended: ["requestEndedTitle", "requestEndedText"],
  cross_site: ["crossSiteTitle", "crossSiteText"],
  invalid_redirect: ["invalidRedirectTitle", "invalidRedirectText", "signIn"],
  no_password_sign_in: ["noPasswordTitle", "noPasswordText", "signIn"],
  missing_fields: ["missingFieldsTitle", "missingFieldsText"],
  bad_body: ["badBodyTitle", "badBodyText"],
  not_found: ["notFoundTitle", "notFoundText", "startPage"],
  method_not_allowed: ["methodTitle", "methodText", "startPage"],
  temporarily_unavailable: ["unavailableTitle", "unavailableText"],
  server_error: ["serverErrorTitle", "serverErrorText"],
};

export function writeError({ code, error, link }: ErrorView, { texts }: Writing<BasicTexts>): PageContent {
  const [title, text, linkText = "startPage"] = KEYS[code];
  const comesFromApplication = code === "invalid_request" || code === "request_ended";
  return {
    title: texts[title],
    body: html`
      <h1>${texts[title]}</h1>
      <p>${texts[text]}</p>
      ${comesFromApplication && html`<p class="soft">${texts.returnToApplication}</p>`}
      ${link !== undefined && html`<p><a class="button plain full" href="${link}">${texts[linkText]}</a></p>`}
      ${error && html`
        <p class="developer">${texts.details}:<br><span lang="en">${error.code}: ${error
          .description}</span></p>
      `}
    `,
  };
}
