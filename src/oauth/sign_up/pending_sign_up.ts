/**
 * A sign-up that waits for its address to be verified. An address that is in use looks the same to the visitor: the same
 * store calls, the same record, the same page; only the mail differs (`sign_up_test.ts`).
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import { readCookie, writeCookie } from "../../http/cookie.ts";
import type { Fields } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { createLinkToken, type LinkKind, type LinkToken, linkUrl } from "../mail/link_token.ts";
import { sendLater } from "../mail/mail.ts";
import { writeMail } from "../mail/message.ts";
import type { Language } from "../pages/languages.ts";
import {
  type PendingSignUp,
  signUpKey,
  type User,
  userKey,
  verifiedEmailKey,
} from "../records/user_record.ts";
import { PENDING_SIGN_UP_LIFETIME } from "../storage_quota.ts";
import { canonicalEmail, isVerifiedAs } from "../users/email_address.ts";

export const SIGN_UP_LINK: LinkKind = {
  path: "/login/sign-up/confirm",
  prefix: "trivet_su_",
  cookie: "sign_up",
  lifetime: PENDING_SIGN_UP_LIFETIME,
};

/** Takes the place of an unknown user. */
const NO_USER = "user_" + "0".repeat(22);
const BROWSER_COOKIE = "sign_up_browser";

/**
 * Stores the sign-up and sends the link, or to the owner of the address a notice.
 * @returns the `Set-Cookie` fields that recognize the browser
 * @throws {OAuthError} temporarily_unavailable when callers without an account had too much stored
 */
export async function beginSignUp(
  as: AuthorizationServer,
  context: RequestContext,
  account: Omit<PendingSignUp, "browser" | "created">,
  language: Language,
): Promise<Fields> {
  const { email } = account;
  const index = await as.store.get<string>(verifiedEmailKey(canonicalEmail(email)));
  const owner = (await as.store.get<User>(userKey(index?.value ?? NO_USER)))?.value;
  const { token, digest } = createLinkToken(SIGN_UP_LINK, "");
  const browser = randomSecret("");
  const value: PendingSignUp = { ...account, browser: secretDigest(browser), created: as.now() };
  as.storageQuota.reserve("sign_up", JSON.stringify(value).length, undefined, context);
  await as.store.commit({
    set: [{ key: signUpKey(digest), value, expires: as.now() + PENDING_SIGN_UP_LIFETIME * 1000 }],
  });
  sendLater(
    as,
    context,
    owner && isVerifiedAs(owner, email)
      ? () => writeMail(as, { kind: "address_in_use", to: owner.email, language }, { user: owner.username })
      : () => {
        // Without the names that the visitor chose: the recipient may be another person.
        const values = { link: linkUrl(as.issuer, SIGN_UP_LINK, token) };
        return writeMail(as, { kind: "sign_up", to: email, language }, values);
      },
  );
  return [["set-cookie", writeBrowserCookie(as, browser, PENDING_SIGN_UP_LIFETIME)]];
}

/** The sign-up of a link; `undefined` when it was used or has expired. Consumes nothing. */
export async function findSignUp(
  as: AuthorizationServer,
  token: LinkToken | undefined,
): Promise<Entry<PendingSignUp> | undefined> {
  return token && await as.store.get<PendingSignUp>(signUpKey(token.digest));
}

/** Whether this is the browser that signed up. */
export function isOfBrowser(as: AuthorizationServer, request: Request, { browser }: PendingSignUp): boolean {
  const secret = readCookie(request, nameOf(as));
  return secret !== undefined && secretDigest(secret) === browser;
}

/** The `Set-Cookie` field that removes the cookie of the browser. */
export function endBrowserCookie(as: AuthorizationServer): Fields[number] {
  return ["set-cookie", writeBrowserCookie(as, "", 0)];
}

function nameOf({ secure }: AuthorizationServer): string {
  return secure ? `__Secure-${BROWSER_COOKIE}` : BROWSER_COOKIE;
}

function writeBrowserCookie(as: AuthorizationServer, value: string, maxAge: number): string {
  return writeCookie(nameOf(as), value, { maxAge, secure: as.secure, path: as.base + "/login/sign-up" });
}
