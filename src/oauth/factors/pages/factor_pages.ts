/**
 * Writes the pages about factors.
 *
 * @module
 */
import { html, type Markup } from "../../../http/page.ts";
import { hiddenFields, inputField, problemNote } from "../../pages/parts.ts";
import type { PageContent, Writers, Writing } from "../../pages/page_module.ts";
import { fill, fillText, formatWait } from "../../pages/text.ts";
import type {
  FactorsView,
  FactorView,
  PasskeySetupView,
  RecoveryCodesView,
  SecondFactorView,
  TotpSetupView,
} from "./factor_views.ts";
import { passkeyForm } from "./passkey_form.ts";
import type { FactorTexts } from "./texts_en.ts";

type Factors = Writing<FactorTexts>;

const QR_PIXELS = 220;

export const WRITERS: Writers<FactorView, FactorTexts> = {
  second_factor: writeSecondFactor,
  factors: writeFactors,
  totp_setup: writeTotpSetup,
  passkey_setup: writePasskeySetup,
  recovery_codes: writeRecoveryCodes,
};

function writeSecondFactor(view: SecondFactorView, { texts, language }: Factors): PageContent {
  const { action, hasTotp, hasRecoveryCodes, passkey, user, signIn, problem } = view;
  const seconds = problem?.seconds ?? 1;
  const message = problem && {
    wrong_code: texts.factorWrongCode,
    passkey_failed: texts.factorPasskeyFailed,
    too_many_attempts: fill(texts.factorTooManyAttempts, { duration: formatWait(language, seconds) }),
  }[problem.code];
  return {
    title: texts.factorStepTitle,
    body: html`
      <h1>${texts.factorStepTitle}</h1>
      <p class="lead">${fill(texts.factorStepLead, { user: html`<strong>${user}</strong>` })}</p>
      ${problemNote(message)}
      ${passkey && passkeyForm(passkey, { button: texts.factorUsePasskey, problem: texts.factorNoPasskey })}
      ${passkey && (hasTotp || hasRecoveryCodes) && html`<p class="or">${texts.factorOr}</p>`}
      ${(hasTotp || hasRecoveryCodes) && html`
        <form method="post" action="${action}">
          ${inputField({
            name: "code",
            label: hasTotp ? texts.factorCodeTotp : texts.factorCodeRecovery,
            // Recovery codes have letters.
            ...(hasTotp && !hasRecoveryCodes && { inputmode: "numeric" as const }),
            autocomplete: "one-time-code",
            isVerbatim: true,
            isInvalid: problem?.code === "wrong_code",
            autofocus: true,
          })}
          ${hasTotp && hasRecoveryCodes && html`<p class="soft small">${texts.factorRecoveryHint}</p>`}
          <button class="full${passkey !== undefined && " plain"}">${texts.factorContinue}</button>
        </form>
      `}
      <p class="aside"><a href="${signIn}">${texts.factorOtherUser}</a></p>
    `,
  };
}

function writeFactors(view: FactorsView, writing: Factors): PageContent {
  const { totp, passkeys, recoveryCodes, addTotp, addPasskey, rename, remove, renewCodes, account, problem } =
    view;
  const { texts } = writing;
  return {
    title: texts.factorsTitle,
    isWide: true,
    body: html`
      <h1>${texts.factorsTitle}</h1>
      <p class="lead">${texts.factorsLead}</p>
      ${problemNote(problem && texts.factorsLastWay)}
      <h2>${texts.factorsPasskeys}</h2>
      ${passkeys.length === 0 ? html`<p class="soft">${texts.factorsNoPasskeys}</p>` : html`
        <ul class="items">${passkeys.map(({ id, name, isSynced, ...times }) =>
          html`
            <li>
              <div>
                <p><strong>${name}</strong></p>
                <p class="soft small">${timesText(times, writing)}${isSynced &&
                  ` · ${texts.factorsSynced}`}</p>
                <details>
                  <summary class="small">${texts.factorsRename}</summary>
                  <form method="post" action="${rename}">
                    <input type="hidden" name="id" value="${id}">
                    <label for="label-${id}">${texts.factorsName}</label>
                    <input id="label-${id}" name="label" value="${name}" maxlength="64" required autocomplete="off">
                    <button class="small plain">${texts.factorsRename}</button>
                  </form>
                </details>
              </div>
              ${removeForm(remove, id, name, texts)}
            </li>
          `
        )}</ul>
      `}
      ${addPasskey !== undefined && html`
        <p><a class="button plain" href="${addPasskey}">${texts.factorsAddPasskey}</a></p>
      `}
      ${(totp !== undefined || addTotp !== undefined) && html`
        <h2>${texts.factorsTotp}</h2>
        ${totp === undefined ? html`<p class="soft">${texts.factorsNoTotp}</p>` : html`
          <ul class="items">
            <li>
              <div>
                <p><strong>${texts.factorsTotpOn}</strong></p>
                <p class="soft small">${timesText(totp, writing)}</p>
              </div>
              ${removeForm(remove, "totp", texts.factorsTotp, texts)}
            </li>
          </ul>
        `}
        ${addTotp !== undefined && html`
          <p><a class="button plain" href="${addTotp}">${totp === undefined
            ? texts.factorsAddTotp
            : texts.factorsReplaceTotp}</a></p>
        `}
      `}
      ${(recoveryCodes !== undefined || totp !== undefined || passkeys.length > 0) && html`
        <h2>${texts.factorsCodes}</h2>
        <p class="soft">${fill(texts.factorsCodesLeft, { count: String(recoveryCodes ?? 0) })}</p>
        <form method="post" action="${renewCodes}"><button class="plain">${texts
          .factorsNewCodes}</button></form>
      `}
      ${account !== undefined && html`<p class="aside"><a href="${account}">${texts.factorsBack}</a></p>`}
    `,
  };
}

function removeForm(action: string, id: string, name: string, texts: FactorTexts): Markup {
  return html`
    <form method="post" action="${action}">
      <input type="hidden" name="id" value="${id}">
      <button class="small danger" aria-label="${fillText(texts.factorsRemoveNamed, { name })}">${texts
        .factorsRemove}</button>
    </form>
  `;
}

function timesText(
  { created, used }: { readonly created: number; readonly used?: number },
  { texts, language }: Factors,
): string {
  const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" });
  const added = fillText(texts.factorsAdded, { date: format.format(created) });
  const usage = used === undefined
    ? texts.factorsNeverUsed
    : fillText(texts.factorsUsed, { date: format.format(used) });
  return `${added}, ${usage}`;
}

function writeTotpSetup(
  { action, hidden, secret, qr: { path, size }, cancel, problem }: TotpSetupView,
  { texts }: Factors,
): PageContent {
  const message = problem && (problem.code === "expired" ? texts.totpExpired : texts.factorWrongCode);
  return {
    title: texts.totpTitle,
    body: html`
      <h1>${texts.totpTitle}</h1>
      ${problemNote(message)}
      <p>${texts.totpScan}</p>
      <p>
        <svg viewBox="0 0 ${size} ${size}" width="${QR_PIXELS}" height="${QR_PIXELS}" role="img"
          aria-label="${texts.totpQr}">
          <path fill="#fff" d="M0 0h${size}v${size}h-${size}z" />
          <path fill="#000" shape-rendering="crispEdges" d="${path}" />
        </svg>
      </p>
      <p>${texts.totpSecret} <code>${secret}</code></p>
      <form method="post" action="${action}">
        ${hiddenFields(hidden)}
        ${inputField({
          name: "code",
          label: texts.totpCode,
          inputmode: "numeric",
          autocomplete: "one-time-code",
          isInvalid: problem?.code === "wrong_code",
          autofocus: true,
        })}
        <button class="full">${texts.totpConfirm}</button>
      </form>
      <p class="aside"><a href="${cancel}">${texts.factorCancel}</a></p>
    `,
  };
}

function writePasskeySetup({ passkey, cancel, problem }: PasskeySetupView, { texts }: Factors): PageContent {
  const message = problem &&
    (problem.code === "too_many_passkeys" ? texts.passkeyTooMany : texts.factorPasskeyFailed);
  const fields = inputField({
    name: "label",
    label: texts.passkeyName,
    autocomplete: "off",
    required: false,
  });
  return {
    title: texts.passkeyTitle,
    body: html`
      <h1>${texts.passkeyTitle}</h1>
      ${problemNote(message)}
      <p>${texts.passkeyLead}</p>
      ${passkeyForm(passkey, { button: texts.passkeyCreate, problem: texts.factorNoPasskey, fields })}
      <p class="note" data-no-passkey>${texts.passkeyNeedsScript}</p>
      <p class="aside"><a href="${cancel}">${texts.factorCancel}</a></p>
    `,
  };
}

function writeRecoveryCodes({ codes, next }: RecoveryCodesView, { texts }: Factors): PageContent {
  return {
    title: texts.codesTitle,
    body: html`
      <h1>${texts.codesTitle}</h1>
      <p>${texts.codesLead}</p>
      <pre>${codes.join("\n")}</pre>
      <p><a class="button full" href="${next}">${texts.codesKept}</a></p>
    `,
  };
}
