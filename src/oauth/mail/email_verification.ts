/**
 * E-mail verification by a one-time link. A changed address replaces the earlier one when it is verified, so that a slip of
 * the pen takes no account away. Of a user only the newest link is valid.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Check, Entry, Put, Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Language } from "../pages/languages.ts";
import {
  accountDigest,
  type EmailVerification,
  emailVerificationKey,
  type User,
  userKey,
  verifiedEmailKey,
} from "../records/user_record.ts";
import { canonicalEmail, isVerifiedAs } from "../users/email_address.ts";
import { createLinkToken, type LinkKind, type LinkToken, linkUrl } from "./link_token.ts";
import { sendLater } from "./mail.ts";
import { countMail } from "./mail_limit.ts";
import { writeMail } from "./message.ts";

export const VERIFICATION_LINK: LinkKind = {
  path: "/login/verify-email",
  prefix: "trivet_ev_",
  cookie: "email_verification",
  lifetime: 24 * 3600,
};

/**
 * Sends a link to an address of the user: a new one, or the one that is not verified yet. The address in the account stays
 * until the link is followed. Call it for the signed-in user only, after `isEmailAddress`.
 * @returns 0, or the seconds to wait after too many mails
 */
export async function requestEmailVerification(
  as: AuthorizationServer,
  context: RequestContext,
  { store = as.store, user, email, language }: {
    /** For the commit. @default the one of the server */
    readonly store?: Store;
    readonly user: Pick<User, "id" | "username" | "password" | "email">;
    readonly email: string;
    readonly language: Language;
  },
): Promise<number> {
  const wait = await countMail(as, context, email);
  if (wait > 0) return wait;
  const { token, digest } = createLinkToken(VERIFICATION_LINK, user.id.slice("user_".length));
  const value: EmailVerification = { digest, email, account: accountDigest(user) };
  const expires = as.now() + VERIFICATION_LINK.lifetime * 1000;
  await store.commit({ set: [{ key: emailVerificationKey(user.id), value, expires }] });
  // Without the name that the user chose: the recipient may be another person.
  const values = { email, link: linkUrl(as.issuer, VERIFICATION_LINK, token) };
  sendLater(as, context, () => writeMail(as, { kind: "email_verification", to: email, language }, values));
  return 0;
}

/** The user and the address of a link; `undefined` when it was used, has expired, or was replaced. Consumes nothing. */
export async function findEmailVerification(
  as: AuthorizationServer,
  token: LinkToken | undefined,
): Promise<{ readonly user: User; readonly email: string } | undefined> {
  const found = token && await readVerification(as, token);
  return found && { user: found.user.value, email: found.verification.value.email };
}

/** What became of a verification: the user, `ended` for an invalid link, `in_use` when another account verified the address. */
export type VerificationOutcome = { readonly user: User } | { readonly problem: "ended" | "in_use" };

/** Consumes a link: the address is the user's, verified. The earlier address gets a notice. */
export async function verifyEmail(
  as: AuthorizationServer,
  context: RequestContext,
  token: LinkToken | undefined,
  language: Language,
): Promise<VerificationOutcome> {
  let earlier = "";
  const outcome = await retryLostRaces<VerificationOutcome>(async () => {
    const found = token && await readVerification(as, token);
    if (!found) return { problem: "ended" };
    const { verification, user: { key, version, value: before } } = found;
    const { email } = verification.value;
    const claim = await claimEmail(as.store, before.id, email);
    if (!claim) return { problem: "in_use" };
    const now = as.now();
    const user: User = {
      ...before,
      email,
      email_verified: now,
      ...(before.email !== email && { updated: now }),
    };
    earlier = canonicalEmail(before.email) === canonicalEmail(email) ? "" : before.email;
    const done = await as.store.commit({
      check: [{ key, version }, { key: verification.key, version: verification.version }, ...claim.check],
      set: [{ key, value: user }, ...claim.set],
      // An earlier address that was not verified may be another user's.
      remove: [
        verification.key,
        ...earlier === "" || before.email_verified === undefined
          ? []
          : [verifiedEmailKey(canonicalEmail(earlier))],
      ],
    });
    return done ? { user } : LOST_RACE;
  });
  if ("user" in outcome) {
    const { id, username, email } = outcome.user;
    as.observe({ type: "email_verified", user: id });
    const to = earlier;
    if (to !== "") {
      sendLater(
        as,
        context,
        () => writeMail(as, { kind: "email_changed", to, language }, { user: username, email }),
      );
    }
  }
  return outcome;
}

/**
 * The part of a commit that makes a verified address the user's; `undefined` when another account verified it. An entry of
 * a user who is gone, or who has another address now, is no obstacle.
 */
export async function claimEmail(
  store: Store,
  user: string,
  email: string,
): Promise<{ readonly check: readonly Check[]; readonly set: readonly Put[] } | undefined> {
  const key = verifiedEmailKey(canonicalEmail(email));
  const index = await store.get<string>(key);
  const owner = (await store.get<User>(userKey(index?.value ?? user)))?.value;
  if (index && index.value !== user && owner && isVerifiedAs(owner, email)) return undefined;
  return { check: [{ key, version: index?.version ?? null }], set: [{ key, value: user }] };
}

async function readVerification(
  { store }: AuthorizationServer,
  { id, digest }: LinkToken,
): Promise<{ readonly verification: Entry<EmailVerification>; readonly user: Entry<User> } | undefined> {
  const [verification, user] = await Promise.all([
    store.get<EmailVerification>(emailVerificationKey("user_" + id)),
    store.get<User>(userKey("user_" + id)),
  ]);
  if (!verification || !user || user.value.locked !== undefined) return undefined;
  const isValid = verification.value.digest === digest &&
    verification.value.account === accountDigest(user.value);
  return isValid ? { verification, user } : undefined;
}
