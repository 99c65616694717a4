/**
 * The pages of sessions, applications and linked providers.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import { hiddenFields, problemNote } from "../pages/parts.ts";
import type { PageContent } from "../pages/page_module.ts";
import { fill, fillText } from "../pages/text.ts";
import { type AccountWriting, backLink, buttonForm, dayOf, doneNote, sinceOf } from "./account_parts.ts";
import type {
  AccountApplicationsView,
  AccountProvidersView,
  AccountSessionsView,
  SessionView,
} from "./account_views.ts";

export function writeSessions(
  { account, sessions, endOthers, done }: AccountSessionsView,
  writing: AccountWriting,
): PageContent {
  const { texts } = writing;
  return {
    title: texts.accountSessions,
    isWide: true,
    body: html`
      ${backLink(account, texts)}
      <h1>${texts.accountSessions}</h1>
      ${doneNote(done && { session: texts.accountSessionDone, sessions: texts.accountSessionsDone }[done])}
      <p class="soft">${texts.accountSessionsLead}</p>
      <ul class="items">${sessions.map((session) => sessionItem(session, writing))}</ul>
      ${endOthers && buttonForm(endOthers, texts.accountEndOthers)}
    `,
  };
}

function sessionItem(session: SessionView, { texts, language }: AccountWriting): Markup {
  const { isThis, created, used, address, browser, system, end } = session;
  const name = browser !== undefined && system !== undefined
    ? fillText(texts.accountBrowserOn, { browser, system })
    : browser ?? system ?? texts.accountUnknownBrowser;
  return html`
    <li>
      <div><strong>${name}</strong>${isThis && html`
        <span class="badge">${texts.accountThisSession}</span>
      `}<br>
        <span class="soft small">${fill(texts.accountSessionUsed, { time: sinceOf(used, language) })} ·
        ${fill(texts.accountSessionCreated, { date: dayOf(created, language) })}${address !== undefined &&
          html`
            ${fill(texts.accountSessionAddress, { address })}
          `}</span></div>
      ${end &&
        buttonForm(end, texts.accountEndSession, fillText(texts.accountEndSessionOf, { session: name }))}
    </li>
  `;
}

export function writeApplications(
  { account, applications, isDone }: AccountApplicationsView,
  writing: AccountWriting,
): PageContent {
  const { texts } = writing;
  return {
    title: texts.accountApplications,
    isWide: true,
    body: html`
      ${backLink(account, texts)}
      <h1>${texts.accountApplications}</h1>
      ${doneNote(isDone ? texts.accountApplicationDone : undefined)}
      <p class="soft">${applications.length > 0
        ? texts.accountApplicationsLead
        : texts.accountNoApplications}</p>
      ${applications.length > 0 && html`
        <ul class="items">${applications.map((each) => applicationItem(each, writing))}</ul>
      `}
    `,
  };
}

function applicationItem(
  { application, access, since, used, end }: AccountApplicationsView["applications"][number],
  { texts, language }: AccountWriting,
): Markup {
  const { name: given, isVerified } = application;
  const name = isVerified ? given : fillText(texts.accountQuoted, { name: given });
  const resources = access.resources.join(", ");
  return html`
    <li>
      <div><h2>${name}</h2>
        ${!isVerified && html`<p class="soft small">${texts.accountUnverifiedName}</p>`}
        <p>${texts.accountApplicationCan}</p>
        <ul class="access">${[...access.scopes.map(({ description }) => description), ...access.details].map(
          (text) => html`<li>${text}</li>`,
        )}</ul>
        ${resources !== "" && html`<p>${fill(texts.accountApplicationResources, { resources })}</p>`}
        <p class="soft small">${fill(texts.accountApplicationSince, { date: dayOf(since, language) })}
        ${used === undefined
          ? texts.accountApplicationUnused
          : fill(texts.accountApplicationUsed, { time: sinceOf(used, language) })}</p>
      ${buttonForm(
        end,
        texts.accountEndApplication,
        fillText(texts.accountEndApplicationOf, { application: name }),
      )}</div>
    </li>
  `;
}

export function writeProviders(view: AccountProvidersView, { texts, language }: AccountWriting): PageContent {
  const { account, linked, available, done, problem } = view;
  const problemText = problem &&
    {
      last: texts.accountLinkLast,
      other_user: texts.accountLinkOtherUser,
      too_many: texts.accountLinkTooMany,
    }[problem];
  return {
    title: texts.accountProviders,
    body: html`
      ${backLink(account, texts)}
      <h1>${texts.accountProviders}</h1>
      ${doneNote(done && { linked: texts.accountLinkedDone, unlinked: texts.accountUnlinkedDone }[done])}
      ${problemNote(problemText)}
      <p class="soft">${linked.length > 0 ? texts.accountProvidersLead : texts.accountNoProviders}</p>
      ${linked.length > 0 && html`
        <ul class="items">${linked.map(({ provider, label, linked, unlink }) =>
          html`
            <li>
              <div><strong>${provider}</strong>${label !== "" && ` ${label}`}<br>
                <span class="soft small">${fill(texts.accountLinkedOn, {
                  date: dayOf(linked, language),
                })}${!unlink &&
                  ` · ${texts.accountLastWay}`}</span></div>
              ${unlink &&
                buttonForm(unlink, texts.accountUnlink, fillText(texts.accountUnlinkOf, { provider }))}
            </li>
          `
        )}</ul>
      `}
      ${available.length > 0 && html`
        <h2>${texts.accountLinkAnother}</h2>
        <div class="stack">${available.map(({ provider, link }) =>
          html`
            <form method="post" action="${link.action}">
              ${hiddenFields(link.hidden)}
              <button class="plain full">${fill(texts.accountLink, { provider })}</button>
            </form>
          `
        )}</div>
      `}
    `,
  };
}
