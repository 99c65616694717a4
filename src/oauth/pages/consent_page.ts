/**
 * The page that asks for consent at `/oauth/authorize`, and the parts that the page for devices shares with it.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import type {
  AccessView,
  AccountView,
  ApplicationView,
  ConsentView,
  DestinationView,
  HiddenFields,
} from "./basic_views.ts";
import { applicationName, hiddenFields } from "./parts.ts";
import type { PageContent, Writing } from "./page_module.ts";
import { fill, fillText, formatDuration } from "./text.ts";
import type { BasicTexts } from "./texts_en.ts";

type Basic = Writing<BasicTexts>;

const SWITCH_ACCOUNT = "switch_account";

export function writeConsent(view: ConsentView, { texts, language }: Basic): PageContent {
  const { application, duration } = view;
  return {
    title: texts.consentTitle,
    body: html`
      <h1>${fillText(texts.consentHeading, { application: applicationName(application, texts) })}</h1>
      ${accountBox(view.account, texts)}
      <p class="ask">${texts.consentList}</p>
      ${accessList(view.access, texts)}
      <div class="facts">
        ${resourceFact(view.access, texts)}
        <p>${describeDestination(view.destination, texts)}</p>
        <p>${fill(duration.isRenewedByUse ? texts.accessEndsUnused : texts.accessEnds, {
          duration: formatDuration(language, duration.seconds),
        })}</p>
      </div>
      ${trustNote(application, texts)}
      ${decisionForm(view.action, view.hidden, texts)} ${switchAccountForm(view.account)}
    `,
  };
}

/** Who is signed in, and the button of another user. */
export function accountBox({ name, email, switchAccount }: AccountView, texts: BasicTexts): Markup {
  return html`
    <div class="who">
      <span class="avatar" aria-hidden="true">${/[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? "·"}</span>
      <p><span class="hidden">${texts.signedInAccount}</span> <strong>${name}</strong>${email !== "" &&
        email !== name && html`<span class="soft">${email}</span>`}</p>
      ${switchAccount && html`
        <button class="link" form="${SWITCH_ACCOUNT}">${texts.notYou}</button>
      `}
    </div>
  `;
}

/** The form of the button in {@linkcode accountBox}. It comes last, so that the form of the decision is the first one. */
export function switchAccountForm({ switchAccount }: AccountView): Markup | undefined {
  return switchAccount && html`
    <form id="${SWITCH_ACCOUNT}" method="post" action="${switchAccount.action}" hidden>
      ${hiddenFields(switchAccount.hidden)}
    </form>
  `;
}

/** New scopes and details first, then what the user allowed before. */
export function accessList({ scopes, details }: AccessView, texts: BasicTexts): Markup {
  const item = (text: string): Markup => html`<li>${text}</li>`;
  const added = scopes.filter((each) => !each.isAllowedBefore).map(({ description }) => item(description));
  const before = scopes.filter((each) => each.isAllowedBefore).map(({ description }) => item(description));
  return html`
    ${added.length + details.length > 0 && html`<ul class="access">${[...added, ...details.map(item)]}</ul>`}
    ${before.length > 0 && html`
      <p class="soft ask">${texts.allowedBefore}</p>
      <ul class="access soft">${before}</ul>
    `}
  `;
}

/** What the access applies to, where it is not the whole server. */
export function resourceFact({ resources }: AccessView, texts: BasicTexts): Markup | false {
  return resources.length > 0 && html`
    <p>${fill(texts.resources, { resources: html`<strong>${resources.join(", ")}</strong>` })}</p>
  `;
}

/** A warning that the client named itself (RFC 7591 section 5); nothing for clients that the operator registered. */
export function trustNote(
  { isVerified, documentHost }: ApplicationView,
  texts: BasicTexts,
): Markup | false {
  return !isVerified && html`
    <p class="note">${documentHost !== undefined &&
      fill(`${texts.describedAt} `, { host: html`<strong>${documentHost}</strong>` })}${texts
      .unverifiedName}</p>
  `;
}

function describeDestination(destination: DestinationView, texts: BasicTexts): Markup {
  const strong = (text: string): Markup => html`<strong>${text}</strong>`;
  const application = strong(texts.applicationOnDevice);
  if (destination.kind === "scheme") {
    return fill(texts.destinationScheme, { application, scheme: strong(`${destination.scheme}:`) });
  }
  const host = strong(destination.host);
  return destination.kind === "host"
    ? fill(texts.destinationHost, { host })
    : fill(texts.destinationDeviceHost, { application, host });
}

/** A form that posts its hidden fields and `decision`. */
export function decisionForm(action: string, hidden: HiddenFields, texts: BasicTexts): Markup {
  return html`
    <form method="post" action="${action}">
      ${hiddenFields(hidden)}
      <div class="row">
        <button name="decision" value="approve">${texts.allow}</button>
        <button name="decision" value="deny" class="plain">${texts.deny}</button>
      </div>
    </form>
  `;
}
