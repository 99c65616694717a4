/**
 * The user whose account pages are shown, and what applies to them: a user of this server, a user who signs in only at
 * identity providers, or one of another system (`authenticateUser`).
 *
 * @module
 */
import { pathOf } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { redirectToLogin } from "../endpoints/login_redirect.ts";
import { type User, userKey } from "../records/user_record.ts";
import { type LinkedIdentity, listUserIdentities } from "../sign_in/user_identity.ts";
import { needsRecentLogin, redirectToRecentLogin } from "../users/recent_login.ts";
import { findSession, type SignedIn } from "../users/session.ts";

/** The account that is signed in. */
export interface Account {
  readonly signedIn: SignedIn;
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** The record of a user of this server. */
  readonly own: User | undefined;
  /** Accounts at identity providers with which the user can sign in. */
  readonly identities: readonly LinkedIdentity[];
  /** Whether name and address come from another system, which has the account. */
  readonly isExternal: boolean;
  /** Whether the user signs in here with a password. */
  readonly hasPassword: boolean;
  /** Whether the user can set a password. */
  readonly mayHavePassword: boolean;
}

/** The account of the request; `undefined` when no user is signed in. */
export async function findAccountUser(
  as: AuthorizationServer,
  request: Request,
): Promise<Account | undefined> {
  const signedIn = await findSession(as, request);
  if (!signedIn) return undefined;
  const { id, name, email } = signedIn.user;
  const [entry, identities] = await Promise.all([
    as.store.get<User>(userKey(id)),
    listUserIdentities(as.store, id),
  ]);
  const own = entry?.value;
  const mayHavePassword = own !== undefined && as.passwordLogin && as.authenticateUser === undefined;
  return {
    signedIn,
    id,
    name,
    email,
    own,
    identities,
    isExternal: own === undefined && identities.length === 0 && as.authenticateUser !== undefined,
    mayHavePassword,
    hasPassword: mayHavePassword && own.passwordless !== true,
  };
}

export interface OpenOptions {
  /** Whether the login must be one of the last minutes (`recent_login.ts`). @default false */
  readonly isRecent?: boolean;
  /** The path below the issuer to which the login page leads back. @default that of the request */
  readonly back?: string;
}

/** The account of the request, or the redirect to the login page. */
export async function openAccount(
  as: AuthorizationServer,
  request: Request,
  { isRecent = false, back = pathOf(request.url).slice(as.base.length) }: OpenOptions = {},
): Promise<Account | Response> {
  const account = await findAccountUser(as, request);
  if (!account) return redirectToLogin(as, as.base + back, "");
  if (isRecent && await needsRecentLogin(as, account.signedIn)) return redirectToRecentLogin(as, back);
  return account;
}
