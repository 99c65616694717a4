/**
 * The pages for signing up.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import { describePasswordProblem } from "../mail/pages.ts";
import type { MailTexts } from "../mail/texts_en.ts";
import { inputField, problemNote } from "../pages/parts.ts";
import type { Writers, Writing } from "../pages/page_module.ts";
import { fill, fillText, formatWait } from "../pages/text.ts";
import type { BasicTexts } from "../pages/texts_en.ts";
import type { SignUpTexts } from "./texts_en.ts";
import type { SignUpPageView, SignUpRefusedView, SignUpView } from "./views.ts";

/** The texts of these pages, and those of others that it uses. */
export type SignUpPageTexts =
  & SignUpTexts
  & MailTexts
  & Pick<BasicTexts, "username" | "signIn" | "or" | "continueWith" | "tooManyAttempts" | "backToSignIn">;

type Problem = NonNullable<SignUpView["problem"]>;

/** The text of each problem that has no values. */
const PROBLEMS = {
  username_length: "usernameLength",
  username_characters: "usernameCharacters",
  username_spaces: "usernameSpaces",
  username_scripts: "usernameScripts",
  username_email: "usernameEmail",
  username_taken: "usernameTaken",
  invalid_email: "emailInvalid",
} as const satisfies Partial<Record<Problem["code"], keyof SignUpTexts>>;

const REASONS = {
  ended: "signUpEnded",
  not_invited: "signUpNotInvited",
  username_taken: "signUpNameTaken",
  email_taken: "signUpEmailTaken",
} as const satisfies Record<SignUpRefusedView["reason"], keyof SignUpTexts>;

function problemText(
  { problem, minPasswordLength }: SignUpView,
  writing: Writing<SignUpPageTexts>,
): Markup | string | undefined {
  if (!problem) return undefined;
  const { texts, language } = writing;
  const { code, seconds = 1 } = problem;
  switch (code) {
    case "too_many_attempts":
      return fill(texts.tooManyAttempts, { duration: formatWait(language, seconds) });
    case "too_short":
    case "too_long":
    case "breached":
    case "same_as_name":
    case "busy":
    case "other_link":
      return describePasswordProblem({ code, seconds }, writing, minPasswordLength);
    default:
      return texts[PROBLEMS[code]];
  }
}

function passwordForm(view: SignUpView, texts: SignUpPageTexts): Markup {
  const { action, requiresEmail, fixedEmail, entered, minPasswordLength, problem } = view;
  const isAboutName = problem?.code.startsWith("username_") ?? false;
  const isAboutEmail = problem?.code === "invalid_email";
  const isAboutPassword = problem !== undefined && !isAboutName && !isAboutEmail &&
    problem.code !== "busy" && problem.code !== "too_many_attempts" && problem.code !== "other_link";
  return html`
    <form method="post" action="${action}">
      ${inputField({
        name: "username",
        label: texts.username,
        value: entered.username,
        autocomplete: "username",
        isVerbatim: true,
        isInvalid: isAboutName,
        autofocus: !isAboutEmail && !isAboutPassword,
      })}
      ${inputField({
        name: "name",
        label: texts.signUpName,
        value: entered.name,
        autocomplete: "name",
        required: false,
      })}
      ${fixedEmail !== undefined
        ? html`<p>${fill(texts.signUpFixedEmail, { email: html`<strong>${fixedEmail}</strong>` })}</p>`
        : inputField({
          name: "email",
          label: requiresEmail ? texts.signUpEmail : texts.signUpEmailOptional,
          type: "email",
          value: entered.email,
          autocomplete: "email",
          required: requiresEmail,
          isInvalid: isAboutEmail,
          autofocus: isAboutEmail,
        })}
      ${inputField({
        name: "password",
        label: fillText(texts.signUpPassword, { count: String(minPasswordLength) }),
        type: "password",
        autocomplete: "new-password",
        isInvalid: isAboutPassword,
        autofocus: isAboutPassword,
      })}
      <button class="full">${texts.signUpSubmit}</button>
    </form>
  `;
}

export const WRITERS: Writers<SignUpPageView, SignUpPageTexts> = {
  sign_up: (view, writing) => {
    const { texts } = writing;
    const { providers, hasPassword, signIn } = view;
    return {
      title: texts.signUpTitle,
      body: html`
        <h1>${texts.signUpTitle}</h1>
        <p class="lead">${fill(texts.signUpAt, { host: html`<strong>${writing.host}</strong>` })}</p>
        ${problemNote(problemText(view, writing))}
        ${providers.length > 0 && html`
          <div class="stack">${// Links, as on the sign-in page.
          providers.map(({ name, url }) =>
            html`<a class="button plain" href="${url}">${fill(texts.continueWith, { provider: name })}</a>`
          )}</div>
        `}
        ${providers.length > 0 && hasPassword && html`<p class="or">${texts.or}</p>`}
        ${hasPassword && passwordForm(view, texts)}
        <p class="aside">${texts.signUpQuestionSignIn} <a href="${signIn}">${texts.signIn}</a></p>
      `,
    };
  },
  sign_up_sent: ({ email }, { texts }) => ({
    title: texts.signUpSentTitle,
    body: html`
      <h1>${texts.signUpSentTitle}</h1>
      <p>${fill(texts.signUpSentText, { email: html`<strong>${email}</strong>` })}</p>
    `,
  }),
  sign_up_confirm: ({ action, username, email, needsPassword, problem }, { texts, language }) => ({
    title: texts.signUpConfirmTitle,
    body: html`
      <h1>${texts.signUpConfirmTitle}</h1>
      <p>${fill(texts.signUpConfirmText, {
        user: html`<strong>${username}</strong>`,
        email: html`<strong>${email}</strong>`,
      })}</p>
      ${needsPassword && html`<p>${texts.signUpConfirmPasswordWhy}</p>`}
      ${problemNote(
        problem &&
          (problem.code === "wrong_password"
            ? texts.signUpWrongPassword
            : fill(texts.tooManyAttempts, { duration: formatWait(language, problem.seconds ?? 1) })),
      )}
      <form method="post" action="${action}">
        ${needsPassword && inputField({
          name: "password",
          label: texts.signUpConfirmPassword,
          type: "password",
          autocomplete: "current-password",
          isInvalid: problem?.code === "wrong_password",
          autofocus: true,
        })}
        <button class="full">${texts.signUpSubmit}</button>
      </form>
    `,
  }),
  sign_up_refused({ reason, signIn, signUp }, { texts }) {
    // Perhaps this visitor has used it.
    const title = reason === "ended" ? texts.signUpEndedTitle : texts.signUpRefusedTitle;
    return {
      title,
      body: html`
        <h1>${title}</h1>
        <p>${texts[REASONS[reason]]}</p>
        ${signUp !== undefined &&
          html`<p><a class="button full" href="${signUp}">${texts.signUpAgain}</a></p>`}
        <p><a class="button plain full" href="${signIn}">${texts.backToSignIn}</a></p>
      `,
    };
  },
};
