/**
 * The pages around a session: signed in, sign-in failed, sign out, signed out, and back to the client by a form.
 *
 * @module
 */
import { html } from "../../http/page.ts";
import type {
  FormPostView,
  SignedInView,
  SignedOutView,
  SignInFailedView,
  SignOutView,
} from "./basic_views.ts";
import { applicationName, hiddenFields } from "./parts.ts";
import type { PageContent, Writing } from "./page_module.ts";
import { fill } from "./text.ts";
import type { BasicTexts } from "./texts_en.ts";

type Basic = Writing<BasicTexts>;

export function writeSignInFailed(
  { provider, reason, signIn }: SignInFailedView,
  { texts }: Basic,
): PageContent {
  const text = {
    expired: texts.signInExpired,
    cancelled: texts.signInCancelled,
    not_admitted: texts.signInNotAdmitted,
    not_invited: texts.signInNotInvited,
    unreachable: texts.signInUnreachable,
    unverified: texts.signInUnverified,
  }[reason];
  return {
    title: texts.signInFailedTitle,
    body: html`
      <h1>${texts.signInFailedTitle}</h1>
      <p role="alert">${fill(text, { provider })}</p>
      <p><a class="button plain full" href="${signIn}">${texts.backToSignIn}</a></p>
    `,
  };
}

export function writeSignedIn({ user, account, signOut }: SignedInView, { texts }: Basic): PageContent {
  return {
    title: texts.signedInTitle,
    body: html`
      <h1>${texts.signedInTitle}</h1>
      <p>${fill(texts.signedInAs, { user: html`<strong>${user}</strong>` })}</p>
      <div class="row">
        ${account !== undefined && html`<a class="button" href="${account}">${texts.yourAccount}</a>`}
        <a class="button plain" href="${signOut}">${texts.signOut}</a>
      </div>
    `,
  };
}

export function writeSignOut(
  { action, hidden, application, user, account }: SignOutView,
  { texts }: Basic,
): PageContent {
  return {
    title: texts.signOutTitle,
    body: html`
      <h1>${texts.signOutTitle}</h1>
      ${application && html`
        <p>${fill(texts.signOutAsked, {
          application: html`<strong>${applicationName(application, texts)}</strong>`,
        })}</p>
      `}
      ${user !== undefined && html`
        <p>${fill(texts.signedInAs, { user: html`<strong>${user}</strong>` })}</p>
      `}
      <form method="post" action="${action}">
        ${hiddenFields(hidden)}
        <button class="full" name="decision" value="sign_out">${texts.signOut}</button>
      </form>
      ${account !== undefined && html`<p class="aside"><a href="${account}">${texts.yourAccount}</a></p>`}
    `,
  };
}

export function writeSignedOut({ signIn }: SignedOutView, { texts }: Basic): PageContent {
  return {
    title: texts.signedOutTitle,
    body: html`
      <h1>${texts.signedOutTitle}</h1>
      <p>${texts.signedOutText}</p>
      <p><a class="button plain full" href="${signIn}">${texts.signInAgain}</a></p>
    `,
  };
}

/** Without scripts the user presses the button. */
export function writeFormPost({ action, hidden, host }: FormPostView, { texts }: Basic): PageContent {
  return {
    title: texts.formPostTitle,
    body: html`
      <h1>${texts.formPostTitle}</h1>
      <p>${fill(texts.formPostText, { host: html`<strong>${host}</strong>` })}</p>
      <form method="post" action="${action}">
        ${hiddenFields(hidden)}
        <button class="full">${texts.continue}</button>
      </form>
    `,
  };
}
