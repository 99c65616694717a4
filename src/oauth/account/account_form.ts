/**
 * The forms of the account pages: where they come from, their fields, and the redirect after them.
 *
 * @module
 */
import { derivedSecret } from "../../crypto/secret.ts";
import { parseForm, readForm } from "../../http/body/form.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { NO_STORE, respond } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { Fields } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { refuseRepeatedFields } from "../consent/decision.ts";
import { refuse, refuseForeignForm } from "../pages/page.ts";
import { type KeptTokens, revokeProviderTokens } from "../sign_in/provider_tokens.ts";
import { toSessionStore } from "../users/session_store.ts";
import { type Account, openAccount, type OpenOptions } from "./account_user.ts";

const MAX_FORM_BYTES = 16 * 1024;

/** A form of the user who is signed in. */
export interface AccountForm {
  readonly account: Account;
  readonly values: ReadonlyMap<string, string>;
  /** For all that the form changes: nothing is changed once the session has ended. */
  readonly store: Store;
}

/**
 * The form that the user sent. A form of another site is refused with 403, signed in or not; without a session, or
 * without a recent login where one is needed, the user signs in first and sends it again.
 * @throws {OAuthError} invalid_request for a repeated field
 * @throws {BodyError} for a body that is no form or too large
 */
export async function openForm(
  as: AuthorizationServer,
  request: Request,
  options: OpenOptions = {},
): Promise<AccountForm | Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request, `${as.base}/account`);
  // Before the session: a client that holds the body back must not keep the powers of a session that ends meanwhile.
  const { values, repeated } = await readForm(request, MAX_FORM_BYTES);
  const account = await openAccount(as, request, options);
  if (account instanceof Response) return account;
  refuseRepeatedFields(repeated);
  return { account, values, store: toSessionStore(as, account.signedIn) };
}

/**
 * 303 to a page of the account, which says what was done.
 * @param session the digest of the session: what another site links says nothing
 */
export function redirectDone(
  { base }: Pick<AuthorizationServer, "base">,
  path: string,
  done: string,
  session: string,
  fields: Fields = [],
): Response {
  const location = `${base}${path}?done=${done}.${tagOf(session, done)}`;
  return respond(303, null, [["location", location], ...fields, NO_STORE]);
}

/** What {@linkcode redirectDone} said was done in this session. */
export function readDone<Done extends string>(
  request: Request,
  { signedIn: { session } }: Pick<Account, "signedIn">,
  known: readonly Done[],
): Done | undefined {
  const given = parseForm(queryOf(request.url)).values.get("done");
  return given === undefined ? undefined : known.find((done) => given === `${done}.${tagOf(session, done)}`);
}

function tagOf(session: string, done: string): string {
  return derivedSecret(session, `done ${done}`).slice(0, 16);
}

/** Revokes tokens of providers after the response. */
export function revokeLater(
  as: AuthorizationServer,
  context: RequestContext,
  user: string,
  kept: KeptTokens,
): void {
  if (kept.length === 0) return;
  const work = revokeProviderTokens(as, user, kept);
  context.waitUntil?.(work);
}

/** The same answer for what does not exist and what is another user's. */
export function notFound(as: AuthorizationServer, request: Request): Promise<Response> {
  return refuse(as, request, {
    code: "not_found",
    status: 404,
    text: "Not found.",
    link: `${as.base}/account`,
  });
}
