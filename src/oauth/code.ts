/**
 * Authorization codes (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2): made when the user has answered, in one
 * commit with whatever that answer uses up.
 *
 * @module
 */
import { randomId, randomSecret, secretDigest } from "../crypto/secret.ts";
import type { Commit } from "../store/store.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { refuseOnPage, respondToClient } from "./authorize_response.ts";
import { keepClient } from "./client.ts";
import { rememberConsent } from "./consent_memory.ts";
import { type Client, type Code, codeKey, pushedRequestKey, type Transaction } from "./records.ts";

/** How long a code is remembered after it was made, in milliseconds, so that a late replay is still seen. */
const MEMORY = 10 * 60 * 1000;

/** 302 to the client with a code. `used` is the question that was answered; none when it need not be asked. */
export async function issueCode(
  as: AuthorizationServer,
  client: Client,
  { user, authentication, request, pushed }: Transaction,
  used: Commit = {},
): Promise<Response> {
  if (!request) return refuseOnPage("It is no authorization request.");
  const secret = randomSecret("trivet_ac_");
  const code: Code = {
    client_id: client.id,
    user,
    grant: randomId(""),
    unspent: { request, authentication, until: as.now() + as.codeLifetime * 1000 },
  };
  const done = await as.store.commit({
    ...used,
    set: [
      { key: codeKey(secretDigest(secret)), value: code, expires: as.now() + MEMORY },
      ...(used.check ? [await rememberConsent(as, client, user, request)] : []),
    ],
    remove: [...(used.remove ?? []), ...(pushed === undefined ? [] : [pushedRequestKey(pushed)])],
  });
  if (!done) return refuseOnPage("It has been answered already.");
  await keepClient(as, client);
  if (used.check) as.observe({ type: "consent_given", user, client: client.id, scope: request.scope });
  return respondToClient(as, { redirect_uri: request.redirect_uri, state: request.state }, { code: secret });
}
