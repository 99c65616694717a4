/**
 * Writes the pages on which a user approves a call of a tool.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import { accountBox, switchAccountForm, trustNote } from "../pages/consent_page.ts";
import { applicationName, hiddenFields } from "../pages/parts.ts";
import type { PageContent, Writers, Writing } from "../pages/page_module.ts";
import { fillText, formatDuration } from "../pages/text.ts";
import type { BasicTexts } from "../pages/texts_en.ts";
import type {
  AllowedCallsView,
  AllowedCallView,
  ApprovalDoneView,
  ApprovalPageView,
  ApprovalView,
} from "./approval_views.ts";
import type { ApprovalTexts } from "./texts_en.ts";

/** The texts of these pages, and those of the parts that they share with the consent page. */
export type ApprovalPageTexts = ApprovalTexts & BasicTexts;

type Approving = Writing<ApprovalPageTexts>;

export const WRITERS: Writers<ApprovalPageView, ApprovalPageTexts> = {
  approval: writeApproval,
  approval_given: writeDone,
  approval_refused: writeDone,
  allowed_calls: writeAllowedCalls,
};

function writeApproval(view: ApprovalView, { texts, language }: Approving): PageContent {
  const { application, remember, more } = view;
  return {
    title: texts.approvalTitle,
    body: html`
      <h1>${fillText(texts.approvalHeading, { application: applicationName(application, texts) })}</h1>
      ${accountBox(view.account, texts)}
      <dl>
        ${fact(texts.approvalTool, html`<code>${view.tool}</code>`)}
        ${view.upstream !== undefined && fact(texts.approvalUpstream, html`<code>${view.upstream}</code>`)}
        ${view.reason !== undefined && fact(texts.approvalReason, html`${view.reason}`)}
        ${fact(texts.approvalArguments, listArguments(view, texts))}
      </dl>
      ${more > 0 && html`
        <p class="problem">${fillText(texts.approvalMore, { count: String(more) })}</p>
      `}
      <p class="note">${texts.approvalWarning}</p>
      ${trustNote(application, texts)}
      <form method="post" action="${view.action}">
        ${hiddenFields(view.hidden)}
        ${remember !== undefined && html`
          <p><label><input type="checkbox" name="remember" value="on"> ${fillText(texts.approvalRemember, {
            duration: formatDuration(language, remember),
          })}</label></p>
        `}
        <div class="row">
          <button name="decision" value="approve">${texts.allow}</button>
          <button name="decision" value="deny" class="plain">${texts.deny}</button>
        </div>
      </form>
      ${switchAccountForm(view.account)}
    `,
  };
}

function fact(term: string, value: Markup): Markup {
  return html`
    <dt>${term}</dt>
    <dd>${value}</dd>
  `;
}

function listArguments(
  { arguments: all = [] }: Pick<AllowedCallView, "arguments">,
  texts: ApprovalPageTexts,
): Markup {
  if (all.length === 0) return html`${texts.approvalNoArguments}`;
  return html`<ul>${
    all.map(({ name, value }) => html`<li><code>${name}</code>: <code>${value}</code></li>`)
  }</ul>`;
}

function writeDone({ name, allowedCalls }: ApprovalDoneView, { texts }: Approving): PageContent {
  const isGiven = name === "approval_given";
  const title = isGiven ? texts.approvalGivenTitle : texts.approvalRefusedTitle;
  return {
    title,
    body: html`
      <h1>${title}</h1>
      <p>${isGiven ? texts.approvalGivenText : texts.approvalRefusedText}</p>
      <p class="aside"><a href="${allowedCalls}">${texts.allowedCalls}</a></p>
    `,
  };
}

function writeAllowedCalls({ calls, isDone }: AllowedCallsView, writing: Approving): PageContent {
  const { texts } = writing;
  return {
    title: texts.allowedCalls,
    body: html`
      <h1>${texts.allowedCalls}</h1>
      ${isDone && html`<p class="note" role="status">${texts.allowedCallDone}</p>`}
      <p class="soft">${calls.length > 0 ? texts.allowedCallsLead : texts.allowedCallsNone}</p>
      ${calls.length > 0 && html`<ul class="items">${calls.map((call) => allowedCall(call, writing))}</ul>`}
    `,
  };
}

function allowedCall(call: AllowedCallView, { texts, language }: Approving): Markup {
  const { tool, upstream, application, until, end } = call;
  const time = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" })
    .format(until);
  return html`
    <li>
      <div><strong>${tool}</strong>${upstream !== undefined && ` (${upstream})`}<br>
        <span class="soft small">${fillText(texts.allowedCallBy, {
          application: applicationName(application, texts),
          time,
        })}</span>
        ${call.arguments
          ? listArguments(call, texts)
          : html`<br><span class="soft small">${texts.allowedCallsAny}</span>`}</div>
      <form method="post" action="${end.action}">
        ${hiddenFields(end.hidden)}
        <button class="plain small" aria-label="${fillText(texts.allowedCallEndOf, { tool })}">${texts
          .allowedCallEnd}</button>
      </form>
    </li>
  `;
}
