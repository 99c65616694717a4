/**
 * The overview of the account, and the pages of profile, e-mail address and password.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import { hiddenFields, inputField, problemNote } from "../pages/parts.ts";
import type { PageContent } from "../pages/page_module.ts";
import { fill, fillText, formatWait } from "../pages/text.ts";
import { type AccountWriting, backLink, doneNote } from "./account_parts.ts";
import type {
  AccountEmailView,
  AccountOverviewView,
  AccountPasswordView,
  AccountProfileView,
  AccountSectionView,
} from "./account_views.ts";
import type { AccountTexts } from "./texts_en.ts";

const SECTION_TEXTS = {
  profile: ["accountProfile", "accountProfileHint"],
  password: ["accountPassword", "accountPasswordHint"],
  factors: ["accountFactors", "accountFactorsHint"],
  sessions: ["accountSessions", "accountSessionsHint"],
  applications: ["accountApplications", "accountApplicationsHint"],
  providers: ["accountProviders", "accountProvidersHint"],
  connections: ["accountConnections", "accountConnectionsHint"],
  approvals: ["accountApprovals", "accountApprovalsHint"],
  data: ["accountData", "accountDataHint"],
} as const satisfies Readonly<
  Record<AccountSectionView["section"], readonly [keyof AccountTexts, keyof AccountTexts]>
>;

export function writeOverview(
  { user, sections, signOut }: AccountOverviewView,
  { texts }: AccountWriting,
): PageContent {
  const { name, email, username } = user;
  const more = [...new Set([username, email])].filter((each) =>
    each !== undefined && each !== "" && each !== name
  );
  return {
    title: texts.account,
    body: html`
      <h1>${texts.account}</h1>
      <div class="who">
        <p><strong>${name}</strong>${more.length > 0 && html`
          <span class="soft">${more.join(" · ")}</span>
        `}</p>
        <a class="button plain small" href="${signOut}">${texts.accountSignOut}</a>
      </div>
      <ul class="items">${sections.map(({ section, url }) =>
        html`
          <li>
            <div><a href="${url}"><strong>${texts[SECTION_TEXTS[section][0]]}</strong></a><br>
          <span class="soft small">${texts[SECTION_TEXTS[section][1]]}</span></div>
          </li>
        `
      )}</ul>
    `,
  };
}

export function writeProfile(view: AccountProfileView, { texts }: AccountWriting): PageContent {
  const { account, username, form, user, email, source, done, problem } = view;
  const state = email.isVerified ? texts.accountVerified : texts.accountNotVerified;
  const isDone = done &&
    { name: texts.accountNameDone, email: texts.accountEmailDone, email_sent: texts.accountEmailSent }[done];
  return {
    title: texts.accountProfile,
    body: html`
      ${backLink(account, texts)}
      <h1>${texts.accountProfile}</h1>
      ${doneNote(isDone)}
      ${problemNote(problem && texts.accountNameInvalid)}
      <dl>
        ${username !== undefined && html`
          <dt>${texts.accountUsernameLabel}</dt>
          <dd>${username}</dd>
        `}
        ${!form && html`
          <dt>${texts.accountNameLabel}</dt>
          <dd>${user}</dd>
        `}
        <dt>${texts.accountEmailLabel}</dt>
        <dd>${email.address === "" ? texts.accountNoEmail : `${email.address} (${state})`}</dd>
      </dl>
      ${email.change !== undefined && html`
        <p><a href="${email.change}">${texts.accountChangeEmail}</a></p>
      `}
      ${source !== undefined &&
        html`<p class="note">${fill(texts.accountFromProvider, { provider: source })}</p>`}
      ${form && html`
        <form method="post" action="${form.action}">
          ${hiddenFields(form.hidden)}
          ${inputField({
            name: "name",
            label: texts.accountNameLabel,
            value: user,
            autocomplete: "name",
            isInvalid: problem !== undefined,
          })}
          <button>${texts.accountSave}</button>
        </form>
      `}
    `,
  };
}

export function writeEmail(view: AccountEmailView, { texts, language }: AccountWriting): PageContent {
  const { account, action, hidden, email, isVerifiedFirst, problem } = view;
  const problemText = problem &&
    (problem.code === "email_invalid" ? texts.accountEmailInvalid : fillText(texts.accountTooManyAttempts, {
      duration: formatWait(language, problem.seconds),
    }));
  return {
    title: texts.accountChangeEmail,
    body: html`
      ${backLink(account, texts)}
      <h1>${texts.accountChangeEmail}</h1>
      ${problemNote(problemText)}
      <p class="soft">${isVerifiedFirst && `${texts.accountEmailVerifiedFirst} `}${texts
        .accountEmailRemoves}</p>
      <form method="post" action="${action}">
        ${hiddenFields(hidden)}
        ${inputField({
          name: "email",
          label: texts.accountNewEmailLabel,
          type: "email",
          value: email,
          autocomplete: "email",
          inputmode: "email",
          required: false,
          isVerbatim: true,
          isInvalid: problem?.code === "email_invalid",
        })}
        <button>${texts.accountSave}</button>
      </form>
    `,
  };
}

export function writePassword(view: AccountPasswordView, writing: AccountWriting): PageContent {
  const { account, action, hidden, hasPassword, username, minLength, isDone, problem } = view;
  const { texts } = writing;
  const title = hasPassword ? texts.accountChangePassword : texts.accountSetPassword;
  return {
    title,
    body: html`
      ${backLink(account, texts)}
      <h1>${title}</h1>
      ${doneNote(isDone ? texts.accountPasswordDone : undefined)}
      ${problemNote(passwordProblem(view, writing))}
      <p class="soft">${fill(texts.accountPasswordRule, { count: String(minLength) })} ${texts
        .accountPasswordEndsSessions}</p>
      <form method="post" action="${action}">
        ${hiddenFields(hidden)}
        <div hidden><input name="username" value="${username}" autocomplete="username" readonly></div>
        ${hasPassword && inputField({
          name: "password",
          label: texts.accountOldPassword,
          type: "password",
          autocomplete: "current-password",
          isInvalid: problem?.code === "wrong_password",
        })}
        ${(["new_password", "new_password_again"] as const).map((name) =>
          inputField({
            name,
            label: name === "new_password" ? texts.accountNewPassword : texts.accountNewPasswordAgain,
            type: "password",
            autocomplete: "new-password",
            isInvalid: problem !== undefined && problem.code !== "wrong_password",
          })
        )}
        <button>${title}</button>
      </form>
    `,
  };
}

function passwordProblem(
  { problem, minLength }: AccountPasswordView,
  { texts, language }: AccountWriting,
): string | Markup | undefined {
  if (!problem) return undefined;
  if (problem.code === "too_many_attempts") {
    return fill(texts.accountTooManyAttempts, { duration: formatWait(language, problem.seconds) });
  }
  const text = {
    wrong_password: texts.accountPasswordWrong,
    different: texts.accountPasswordDifferent,
    too_short: texts.accountPasswordTooShort,
    too_long: texts.accountPasswordTooLong,
    breached: texts.accountPasswordBreached,
    same_as_name: texts.accountPasswordSameAsName,
  }[problem.code];
  return fill(text, { count: String(minLength) });
}
