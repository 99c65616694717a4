/**
 * The end of a sign-in at a provider that links the identity to an account. It ends only in the session that began it: else an
 * attacker could have the own identity linked to the account of another user (linking CSRF).
 *
 * @module
 */
import type { Fields } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { redirectDone } from "../account/account_form.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findSession, type SignedIn } from "../users/session.ts";
import { toSessionStore } from "../users/session_store.ts";
import type { LinkTarget } from "./pending_sign_in.ts";
import type { FoundProvider, Identity } from "./provider.ts";
import { keepProviderTokens, revokeTokens } from "./provider_tokens.ts";
import { linkIdentity } from "./user_identity.ts";

/** The session that began to link; `undefined` when the request comes from another one. */
export async function findLinkingSession(
  as: AuthorizationServer,
  request: Request,
  { user, session }: LinkTarget,
): Promise<SignedIn | undefined> {
  const signedIn = await findSession(as, request);
  return signedIn?.session === session && signedIn.user.id === user ? signedIn : undefined;
}

/**
 * Links the identity. 303 to the account page, which says what came of it.
 * @throws {SessionEndedError} when the session ended while the provider was asked
 */
export async function finishLink(
  as: AuthorizationServer,
  context: RequestContext,
  provider: FoundProvider,
  identity: Identity,
  signedIn: SignedIn,
  fields: Fields,
): Promise<Response> {
  const { session, user: { id: user } } = signedIn;
  const store = toSessionStore(as, signedIn);
  const outcome = await linkIdentity(store, user, identity, { provider: provider.id, now: as.now() });
  if (outcome === "linked") {
    await keepTokens(as, provider, user, identity);
    as.observe({ type: "identity_linked", user, provider: provider.id, ip: context.ip });
  }
  return redirectDone(as, "/account/providers", outcome, session, fields);
}

/** Keeps the tokens of the provider, if the operator wants it; revokes those that no user can have any more. */
export async function keepTokens(
  as: AuthorizationServer,
  provider: FoundProvider,
  user: string,
  identity: Identity,
): Promise<void> {
  const { tokens } = identity;
  if (!provider.keepTokens || !tokens) return;
  if (await keepProviderTokens(as, user, provider.id, identity, tokens, provider.settings)) return;
  await revokeTokens(as, provider, user, tokens);
}
