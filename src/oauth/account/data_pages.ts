/**
 * The pages of one's own data: the copy, the deletion, and what is said after it.
 *
 * @module
 */
import { html } from "../../http/page.ts";
import { hiddenFields, inputField, problemNote } from "../pages/parts.ts";
import type { PageContent } from "../pages/page_module.ts";
import { fill, fillText } from "../pages/text.ts";
import { type AccountWriting, backLink } from "./account_parts.ts";
import type { AccountDataView, AccountDeletedView, AccountDeleteView } from "./account_views.ts";

export function writeData(view: AccountDataView, { texts }: AccountWriting): PageContent {
  return {
    title: texts.accountData,
    body: html`
      ${backLink(view.account, texts)}
      <h1>${texts.accountData}</h1>
      <h2>${texts.accountExportTitle}</h2>
      <p>${texts.accountExportText}</p>
      <form method="post" action="${view.export.action}">
        ${hiddenFields(view.export.hidden)}
        <button class="plain">${texts.accountExport}</button>
      </form>
      ${view.delete !== undefined && html`
        <h2>${texts.accountDeleteTitle}</h2>
        <p>${texts.accountDeleteText}</p>
        <p><a class="button plain" href="${view.delete}">${texts.accountDelete}</a></p>
      `}
    `,
  };
}

export function writeDelete(view: AccountDeleteView, { texts }: AccountWriting): PageContent {
  const { account, action, hidden, confirmation, isWrong, isLastAdmin } = view;
  return {
    title: texts.accountDeleteTitle,
    body: html`
      ${backLink(account, texts)}
      <h1>${texts.accountDeleteTitle}</h1>
      ${problemNote(isWrong ? fill(texts.accountDeleteWrong, { confirmation }) : undefined)}
      ${problemNote(isLastAdmin ? texts.accountDeleteLastAdmin : undefined)}
      <p>${texts.accountDeleteWhat}</p>
      <form method="post" action="${action}">
        ${hiddenFields(hidden)}
        ${inputField({
          name: "confirmation",
          label: fillText(texts.accountDeleteConfirm, { confirmation }),
          autocomplete: "off",
          isVerbatim: true,
          isInvalid: isWrong,
        })}
        <div class="row">
          <button class="danger">${texts.accountDelete}</button>
          <a class="button plain" href="${account}">${texts.accountCancel}</a>
        </div>
      </form>
    `,
  };
}

export function writeDeleted({ signIn }: AccountDeletedView, { texts }: AccountWriting): PageContent {
  return {
    title: texts.accountDeletedTitle,
    body: html`
      <h1>${texts.accountDeletedTitle}</h1>
      <p role="status">${texts.accountDeletedText}</p>
      <p><a class="button plain full" href="${signIn}">${texts.accountSignIn}</a></p>
    `,
  };
}
