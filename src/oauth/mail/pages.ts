/**
 * The pages for forgotten passwords and e-mail addresses.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import type { ProblemView } from "../pages/basic_views.ts";
import { inputField, problemNote } from "../pages/parts.ts";
import type { PageContent, Writers, Writing } from "../pages/page_module.ts";
import { fill, fillText, formatWait } from "../pages/text.ts";
import type { BasicTexts } from "../pages/texts_en.ts";
import type { PasswordProblem } from "../users/password_policy.ts";
import type { MailTexts } from "./texts_en.ts";
import type { MailPageView } from "./views.ts";

/** The texts of these pages, and those of the basic pages that it uses. */
export type MailPageTexts =
  & MailTexts
  & Pick<BasicTexts, "username" | "signIn" | "backToSignIn" | "tooManyAttempts">;

/** What is wrong with a new password, or its form, for every page that asks for one. */
export function describePasswordProblem(
  { code, seconds = 1 }: ProblemView<PasswordProblem | "busy" | "other_link">,
  { texts, language }: Pick<Writing<MailTexts>, "texts" | "language">,
  minLength: number,
): Markup {
  switch (code) {
    case "too_short":
      return fill(texts.passwordTooShort, { count: String(minLength) });
    case "too_long":
      return html`${texts.passwordTooLong}`;
    case "breached":
      return html`${texts.passwordBreached}`;
    case "same_as_name":
      return html`${texts.passwordSameAsName}`;
    case "other_link":
      return html`${texts.linkOther}`;
    case "busy":
      return fill(texts.passwordBusy, { duration: formatWait(language, seconds) });
  }
}

/** A title and paragraphs. */
function note(title: string, ...content: readonly (Markup | string)[]): PageContent {
  return { title, body: html`<h1>${title}</h1>${content.map((each) => html`<p>${each}</p>`)}` };
}

function button(url: string, text: string): Markup {
  return html`<a class="button plain full" href="${url}">${text}</a>`;
}

export const WRITERS: Writers<MailPageView, MailPageTexts> = {
  forgot_password: ({ action, identifier, signIn, problem }, { texts, language }) => ({
    title: texts.forgotTitle,
    body: html`
      <h1>${texts.forgotTitle}</h1>
      <p>${texts.forgotLead}</p>
      ${problemNote(
        problem &&
          (problem.code === "missing"
            ? texts.forgotMissing
            : fill(texts.tooManyAttempts, { duration: formatWait(language, problem.seconds ?? 1) })),
      )}
      <form method="post" action="${action}">
        ${inputField({
          name: "identifier",
          label: texts.forgotIdentifier,
          value: identifier,
          autocomplete: "username",
          isVerbatim: true,
          isInvalid: problem?.code === "missing",
          autofocus: true,
        })}
        <button class="full">${texts.forgotSend}</button>
      </form>
      <p class="aside"><a href="${signIn}">${texts.backToSignIn}</a></p>
    `,
  }),
  reset_sent: ({ signIn }, { texts }) =>
    note(texts.resetSentTitle, texts.resetSentText, button(signIn, texts.backToSignIn)),
  reset_password: (view, writing) => {
    const { action, username, minPasswordLength, problem } = view;
    const { texts } = writing;
    return {
      title: texts.resetTitle,
      body: html`
        <h1>${texts.resetTitle}</h1>
        <p>${texts.resetSignsOut}</p>
        ${problemNote(problem && describePasswordProblem(problem, writing, minPasswordLength))}
        <form method="post" action="${action}">
          ${// Password managers store it with the password.
          html`
            <label for="username">${texts.username}</label>
            <input id="username" name="username" value="${username}" autocomplete="username" readonly>
          `}
          ${inputField({
            name: "password",
            label: fillText(texts.newPassword, { count: String(minPasswordLength) }),
            type: "password",
            autocomplete: "new-password",
            isInvalid: problem !== undefined && problem.code !== "busy" && problem.code !== "other_link",
            autofocus: true,
          })}
          <p><label class="check"><input type="checkbox" name="end_grants" value="yes"> ${texts
            .resetEndGrants}</label></p>
          <button class="full">${texts.resetSubmit}</button>
        </form>
      `,
    };
  },
  reset_done: ({ signIn }, { texts }) =>
    note(texts.resetDoneTitle, texts.resetDoneText, button(signIn, texts.signIn)),
  verify_email: ({ action, username, email }, { texts }) => ({
    title: texts.verifyTitle,
    body: html`
      <h1>${texts.verifyTitle}</h1>
      <p>${fill(texts.verifyText, {
        email: html`<strong>${email}</strong>`,
        user: html`<strong>${username}</strong>`,
      })}</p>
      <form method="post" action="${action}"><button class="full">${texts.verifySubmit}</button></form>
    `,
  }),
  email_verified: ({ email, signIn }, { texts }) =>
    note(
      texts.verifiedTitle,
      fill(texts.verifiedText, { email: html`<strong>${email}</strong>` }),
      button(signIn, texts.signIn),
    ),
  link_refused: ({ reason, next, isPasswordReset }, { texts }) =>
    note(
      reason === "ended" ? texts.linkEndedTitle : texts.linkInUseTitle,
      reason === "ended" ? texts.linkEndedText : texts.linkInUseText,
      button(next, isPasswordReset ? texts.linkAgain : texts.signIn),
    ),
};
