/**
 * Password reset by a one-time link. A user has at most one: a newer link, a login and a change of the password end it, and
 * one commit decides which request consumes it.
 *
 * @module
 */
import { randomSecret } from "../../crypto/secret.ts";
import { networkOf } from "../../http/network/network.ts";
import type { RequestContext } from "../../http/service.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Language } from "../pages/languages.ts";
import {
  accountDigest,
  type PasswordReset,
  passwordResetKey,
  type User,
  userKey,
  usernameKey,
  verifiedEmailKey,
} from "../records/user_record.ts";
import { canonicalEmail, isVerifiedAs } from "../users/email_address.ts";
import { checkNewPassword, type PasswordProblem } from "../users/password_policy.ts";
import { NOT_VERIFIED } from "../users/password_queue.ts";
import { endUserGrants } from "../grants/end_grants.ts";
import { withPassword } from "../users/user_changes.ts";
import { endUserSessions } from "../users/user_sessions.ts";
import { canonicalUsername } from "../users/username.ts";
import { createLinkToken, type LinkKind, type LinkToken, linkUrl } from "./link_token.ts";
import { sendLater } from "./mail.ts";
import { countMail } from "./mail_limit.ts";
import { writeMail } from "./message.ts";

export const RESET_LINK: LinkKind = {
  path: "/login/reset",
  prefix: "trivet_pr_",
  cookie: "password_reset",
  lifetime: 30 * 60,
};

/** Takes the place of an unknown user: what is done for the visitor is then the same. */
const NO_USER = "user_" + "0".repeat(22);
export const MAX_IDENTIFIER_CHARACTERS = 254;

/**
 * Sends a link to the user with this user name or verified e-mail address. For the caller an unknown one is the same: the
 * same store calls, the same bytes written, and the mail is written and sent later (`password_reset_test.ts`).
 * @returns 0, or the seconds to wait after too many requests
 */
export async function requestPasswordReset(
  as: AuthorizationServer,
  context: RequestContext,
  identifier: string,
  language: Language,
): Promise<number> {
  const wait = await countMail(as, context, identifier);
  if (wait > 0) return wait;
  const [byName, byEmail] = await Promise.all([
    as.store.get<string>(usernameKey(canonicalUsername(identifier))),
    as.store.get<string>(verifiedEmailKey(canonicalEmail(identifier))),
  ]);
  const [named, owner] = await Promise.all(
    [byName, byEmail].map((index) => as.store.get<User>(userKey(index?.value ?? NO_USER))),
  );
  // The owner of an address comes first: anyone can have it as their user name.
  const found = owner && isVerifiedAs(owner.value, identifier) ? owner : named;
  const user = found && isReachable(found.value) ? found.value : undefined;
  const id = user?.id ?? NO_USER;
  const { token, digest } = createLinkToken(RESET_LINK, id.slice("user_".length));
  const account = accountDigest(user ?? { password: randomSecret(""), email: "" });
  const value: PasswordReset = { digest, account };
  await as.store.commit({
    set: [{ key: passwordResetKey(id), value, expires: as.now() + RESET_LINK.lifetime * 1000 }],
  });
  sendLater(
    as,
    context,
    user && (() => {
      as.observe({ type: "password_reset_requested", user: user.id, ip: context.ip });
      const values = { user: user.username, link: linkUrl(as.issuer, RESET_LINK, token) };
      return writeMail(as, { kind: "password_reset", to: user.email, language }, values);
    }),
  );
  return 0;
}

/** The user of a link; `undefined` when it was used, has expired, or was ended. Consumes nothing. */
export async function findPasswordReset(
  as: AuthorizationServer,
  token: LinkToken | undefined,
): Promise<User | undefined> {
  return token && (await readReset(as, token))?.user.value;
}

/** What became of a reset: the user, what is wrong with the password, or `ended` for a link that is no longer valid. */
export type ResetOutcome = { readonly user: User } | { readonly problem: PasswordProblem | "ended" | "busy" };

/**
 * Consumes a link and sets the password. Ends every session of the user, and with `endGrants` also what the user allowed
 * applications. A refused password leaves the link valid.
 */
export async function resetPassword(
  as: AuthorizationServer,
  context: RequestContext,
  token: LinkToken | undefined,
  { password, endGrants, language }: {
    readonly password: string;
    readonly endGrants: boolean;
    readonly language: Language;
  },
): Promise<ResetOutcome> {
  const before = await findPasswordReset(as, token);
  if (!token || !before) return { problem: "ended" };
  const problem = await checkNewPassword(as.passwordPolicy, password, before);
  if (problem !== undefined) return { problem };
  const attempt = {
    account: canonicalUsername(before.username),
    network: networkOf(context),
    trusted: false,
  };
  const hash = await as.passwordQueue.run(
    attempt,
    () => as.passwords.hash(password, as.passwordIterations),
  );
  if (hash === NOT_VERIFIED) return { problem: "busy" };
  // First, so that an interruption leaves either a valid link or no session.
  await endUserSessions(as.store, before.id);
  if (endGrants) await endUserGrants(as.store, before.id);
  const user = await retryLostRaces(async () => {
    const found = await readReset(as, token);
    if (!found) return undefined;
    const value = withPassword(found.user.value, hash, as.now());
    const done = await as.store.commit({
      check: [found.reset, found.user].map(({ key, version }) => ({ key, version })),
      set: [{ key: found.user.key, value }],
      remove: [found.reset.key],
    });
    return done ? value : LOST_RACE;
  });
  if (!user) return { problem: "ended" };
  as.observe({ type: "password_reset", user: user.id, ip: context.ip });
  const values = { user: user.username };
  sendLater(as, context, () => writeMail(as, { kind: "password_changed", to: user.email, language }, values));
  // What began with the old password meanwhile.
  await endUserSessions(as.store, user.id);
  if (endGrants) await endUserGrants(as.store, user.id);
  return { user };
}

/** The records of a valid link. */
async function readReset(
  { store }: AuthorizationServer,
  { id, digest }: LinkToken,
): Promise<{ readonly reset: Entry<PasswordReset>; readonly user: Entry<User> } | undefined> {
  const [reset, user] = await Promise.all([
    store.get<PasswordReset>(passwordResetKey("user_" + id)),
    store.get<User>(userKey("user_" + id)),
  ]);
  if (!reset || !user || !isReachable(user.value)) return undefined;
  const isValid = reset.value.digest === digest &&
    reset.value.account === accountDigest(user.value);
  return isValid ? { reset, user } : undefined;
}

function isReachable({ email, locked }: User): boolean {
  return email !== "" && locked === undefined;
}
