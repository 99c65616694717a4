/**
 * Authorization codes (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2). A code is issued when the user has
 * consented, in one commit that also removes the answered transaction and the pushed request.
 *
 * @module
 */
import { randomId, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { isDoneDespite, MAX_COMMIT_TRIES, pauseBefore } from "../../store/retry.ts";
import type { Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { respondToClient } from "../endpoints/authorize_response.ts";
import { showErrorPage } from "../endpoints/error_page.ts";
import { OAuthError } from "../error.ts";
import { extendRegistration } from "../clients/client.ts";
import { askedScopes, fingerprintClient, toConsentChanges } from "../consent/consent_memory.ts";
import { toSessionClient } from "../openid/session_client.ts";
import { sessionIdOf } from "../openid/subject.ts";
import { clientSince } from "../tokens/liveness.ts";
import {
  type AuthorizationRequest,
  type AuthorizationTransaction,
  pushedRequestKey,
} from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import { type Code, codeKey, type EndedGrants, endedGrantsKey } from "../records/grant_record.ts";
import type { Mutable } from "../records/token_record.ts";
import { type SignedIn, toSessionCheck } from "../users/session.ts";
import { toPendingGrant } from "../users/user_grants.ts";
import { findRedirectUri } from "../clients/redirect_uri.ts";
import { isGrantEnded } from "./ended_grants.ts";

/** How long the record of a code is kept after it was issued or consumed, so that a late replay is recognized. */
export const REPLAY_RETENTION_MS: number = 10 * 60 * 1000;

/**
 * 302 to the client with a code. A session that ends at the same time gives no code and remembers no consent; nor does an
 * answer while the user takes the access back. Without a question the code is refused when it is redeemed
 * (`access_ends_meanwhile_test.ts`).
 * @param signedIn the session, as the request read it
 * @param browser the request that this answers
 * @param question the transaction that the user answered; absent when a remembered consent answers it
 */
export async function issueCode(
  as: AuthorizationServer,
  client: Client,
  { user, authentication, request: asked, pushed }: AuthorizationTransaction,
  signedIn: SignedIn,
  browser: Request,
  question?: Entry<AuthorizationTransaction>,
): Promise<Response> {
  const { session, origin } = signedIn;
  const openid = asked.openid && { ...asked.openid, sid: sessionIdOf(origin, client.id) };
  const request: AuthorizationRequest = openid ? { ...asked, openid } : asked;
  if (question) {
    // The client may have changed between the question and the answer.
    if (findRedirectUri(client, request.redirect_uri) === undefined) {
      return await refuse(as, browser, "redirect_uri is no longer registered for this client");
    }
    const { fingerprint } = question.value;
    if (fingerprint !== undefined && fingerprint !== fingerprintClient(client)) {
      return await refuse(as, browser, "The application has changed since the question. Start again there");
    }
  }
  const secret = randomSecret("trivet_ac_");
  const until = as.now() + as.codeLifetime * 1000;
  const grant = randomId("");
  const code: Mutable<Code> = {
    client_id: client.id,
    user,
    grant,
    unspent: { request, authentication, until, given: signedIn.read },
  };
  const since = clientSince(as, client);
  if (since !== undefined) code.client_since = since;
  const put = { key: codeKey(secretDigest(secret)), value: code, expires: as.now() + REPLAY_RETENTION_MS };
  // Before the commit: what it signs may need a key from the store.
  const response = await respondToClient(as, browser, request, { code: secret });
  const notices = request.openid ? toSessionClient(as, client, { origin, user }) : [];
  /** Of the record that says what the user took back, which few have: read only when a commit failed. */
  let ended: string | null = null;
  for (let attempt = 0; attempt < MAX_COMMIT_TRIES; attempt++) {
    if (attempt > 0) {
      await pauseBefore(attempt);
      const entry = question && await as.store.get<EndedGrants>(endedGrantsKey(user));
      if (entry && isGrantEnded(entry.value, client.id, signedIn.read)) break;
      ended = entry?.version ?? null;
    }
    const login = await toSessionCheck(as, session, attempt > 0 ? undefined : signedIn.version);
    // RFC 9126 section 4: a pushed request is answered once.
    const kept = pushed === undefined ? undefined : await as.store.get(pushedRequestKey(pushed));
    if (!login || pushed !== undefined && !kept) break;
    // The last try leaves the consent out: when it lost every race it is not remembered, and the user is asked again.
    const consents = question && attempt < MAX_COMMIT_TRIES - 1
      ? await toConsentChanges(as, client, user, request)
      : [];
    const pending = question && consents.length === 0
      ? toPendingGrant(grant, user, request, signedIn.read, until)
      : [];
    const used = [question, kept].filter((each) => each !== undefined);
    const unless = question ? [{ key: endedGrantsKey(user), version: ended }] : [];
    const storing = as.store.commit({
      check: [login, ...used, ...unless, ...consents].map(({ key, version }) => ({ key, version })),
      set: [
        put,
        ...notices,
        ...pending,
        ...consents.map(({ key, value, expires }) => ({ key, value, expires })),
      ],
      remove: used.map(({ key }) => key),
    });
    const isStored = await storing.catch(async (error) => {
      // Otherwise the page would say that the request was answered already.
      if (await isDoneDespite(error, as.store, put.key)) return true;
      throw error;
    });
    if (isStored) {
      if (client.source !== "operator") await extendRegistration(as, client);
      if (question) {
        as.observe({ type: "consent_given", user, client: client.id, scope: askedScopes(request).join(" ") });
      }
      return response;
    }
    if (question && !await as.store.get(question.key)) break;
  }
  return await refuse(as, browser, "This request was already answered or has expired", true);
}

/** A page, not a redirect: the redirect URI may belong to another client by now, or got its code already. */
function refuse(
  as: AuthorizationServer,
  browser: Request,
  problem: string,
  isEnded = false,
): Promise<Response> {
  return showErrorPage(as, browser, new OAuthError("invalid_request", problem, { isEnded }));
}
