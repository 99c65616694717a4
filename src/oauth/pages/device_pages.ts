/**
 * The pages at `/device`: the form for the user code, the question, and the outcome
 * (https://www.rfc-editor.org/rfc/rfc8628#section-3.3).
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import type { DeviceCodeView, DeviceConsentView, DeviceDoneView } from "./basic_views.ts";
import {
  accessList,
  accountBox,
  decisionForm,
  resourceFact,
  switchAccountForm,
  trustNote,
} from "./consent_page.ts";
import { applicationName, inputField, problemNote } from "./parts.ts";
import type { PageContent, Writing } from "./page_module.ts";
import { fill, fillText, formatWait } from "./text.ts";
import type { BasicTexts } from "./texts_en.ts";

type Basic = Writing<BasicTexts>;

export function writeDeviceCode(view: DeviceCodeView, writing: Basic): PageContent {
  const { texts } = writing;
  return {
    title: texts.deviceTitle,
    body: html`
      <h1>${texts.deviceTitle}</h1>
      <p class="lead">${texts.deviceEnterCode}</p>
      ${problemNote(problemText(view, writing))}
      <form method="post" action="${view.action}">
        ${inputField({
          name: "user_code",
          label: texts.deviceCode,
          value: view.userCode,
          autocomplete: "off",
          isVerbatim: true,
          isInvalid: view.problem?.code === "unknown_code",
          autofocus: true,
          class: "code",
        })}
        <button class="full">${texts.continue}</button>
      </form>
    `,
  };
}

function problemText({ problem }: DeviceCodeView, { texts, language }: Basic): string | Markup | undefined {
  if (!problem) return undefined;
  if (problem.code === "unknown_code") return texts.deviceUnknownCode;
  if (problem.code === "insufficient_role") return texts.deviceInsufficientRole;
  return fill(texts.tooManyAttempts, { duration: formatWait(language, problem.seconds ?? 1) });
}

export function writeDeviceConsent(view: DeviceConsentView, { texts }: Basic): PageContent {
  const { application } = view;
  return {
    title: texts.deviceConsentTitle,
    body: html`
      <h1>${fillText(texts.deviceConsentHeading, { application: applicationName(application, texts) })}</h1>
      ${accountBox(view.account, texts)}
      <p>${texts.deviceCompareCode} <strong class="big">${view.userCode}</strong></p>
      <p class="ask">${texts.deviceConsentList}</p>
      ${accessList(view.access, texts)}
      ${view.access.resources.length > 0 && html`
        <div class="facts">${resourceFact(view.access, texts)}</div>
      `}
      <p class="note">${texts.deviceWarning}</p>
      ${trustNote(application, texts)}
      ${decisionForm(view.action, view.hidden, texts)} ${switchAccountForm(view.account)}
    `,
  };
}

export function writeDeviceConnected(_: DeviceDoneView, { texts }: Basic): PageContent {
  return outcome(texts.deviceConnectedTitle, texts.deviceConnectedText);
}

export function writeDeviceDenied(_: DeviceDoneView, { texts }: Basic): PageContent {
  return outcome(texts.deviceDeniedTitle, texts.deviceDeniedText);
}

function outcome(title: string, text: string): PageContent {
  return {
    title,
    body: html`
      <h1>${title}</h1>
      <p>${text}</p>
    `,
  };
}
