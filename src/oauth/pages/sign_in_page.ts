/**
 * The page at `/login`.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import { passkeyForm } from "../factors/pages/passkey_form.ts";
import type { SignInView } from "./basic_views.ts";
import { applicationName, inputField, problemNote } from "./parts.ts";
import type { PageContent, Writing } from "./page_module.ts";
import { fill, formatWait } from "./text.ts";
import type { BasicTexts } from "./texts_en.ts";

type Basic = Writing<BasicTexts>;

export function writeSignIn(view: SignInView, writing: Basic): PageContent {
  const { texts, host } = writing;
  const { application, providers, hasPassword, signUp } = view;
  const title = view.isAgain ? texts.signInAgain : texts.signInTitle;
  const lead = view.isAgain
    ? html`${texts.signInAgainText}`
    : application
    ? fill(texts.signInFor, { application: html`<strong>${applicationName(application, texts)}</strong>` })
    : fill(texts.signInAt, { host: html`<strong>${host}</strong>` });
  return {
    title,
    body: html`
      <h1>${title}</h1>
      <p class="lead">${lead}</p>
      ${problemNote(problemText(view, writing))}
      ${providers.length > 0 && html`
        <div class="stack">${// Links, not forms: their redirect leaves this server, which `form-action` would forbid.
        providers.map(({ name, url }) =>
          html`<a class="button plain" href="${url}">${fill(texts.continueWith, { provider: name })}</a>`
        )}</div>
      `}
      ${providers.length > 0 && hasPassword && html`<p class="or">${texts.or}</p>`}
      ${hasPassword && passwordForm(view, texts)}
      ${view.passkey && passkeyForm(view.passkey, {
        button: texts.signInWithPasskey,
        problem: texts.passkeyNotUsed,
        isPlain: hasPassword,
      })}
      ${!hasPassword && !view.passkey && providers.length === 0 &&
        html`<p class="note">${texts.noSignIn}</p>`}
      ${signUp !== undefined && html`
        <p class="aside">${texts.signUpQuestion} <a href="${signUp}">${texts.signUp}</a></p>
      `}
    `,
  };
}

function problemText({ problem }: SignInView, { texts, language }: Basic): string | Markup | undefined {
  if (!problem) return undefined;
  if (problem.code === "wrong_credentials") return texts.wrongCredentials;
  if (problem.code === "passkey_refused") return texts.passkeyRefused;
  return fill(texts.tooManyAttempts, { duration: formatWait(language, problem.seconds ?? 1) });
}

function passwordForm(
  { action, username, fields, passwordReset, passkey, problem }: SignInView,
  texts: BasicTexts,
): Markup {
  return html`
    <form method="post" action="${action}">
      ${inputField({
        name: "username",
        label: texts.username,
        value: username,
        autocomplete: passkey ? "username webauthn" : "username",
        isVerbatim: true,
        isInvalid: problem?.code === "wrong_credentials",
        autofocus: username === "",
      })}
      ${inputField({
        name: "password",
        label: texts.password,
        type: "password",
        autocomplete: "current-password",
        isInvalid: problem?.code === "wrong_credentials",
        autofocus: username !== "",
      })}
      ${fields.map(({ required = false, ...field }) => inputField({ ...field, required }))}
      <button class="full">${texts.signIn}</button>
    </form>
    ${passwordReset !== undefined && html`
      <p class="aside"><a href="${passwordReset}">${texts.passwordReset}</a></p>
    `}
  `;
}
