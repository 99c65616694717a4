/**
 * Token exchange (https://www.rfc-editor.org/rfc/rfc8693): a service that was called with a token gets one of its own for
 * the next service, never good for more, or longer, than the one that it had.
 *
 * @module
 */
import { findAccessToken, mintAccessToken } from "../tokens/access_token.ts";
import { narrowAuthorizationDetails } from "./authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { isConfirmed } from "../tokens/confirmation.ts";
import { OAuthError } from "../error.ts";
import type { Parameters } from "../parameters.ts";
import type { AccessToken, Actor, Client } from "../records.ts";
import { canonicalResource, findResources, narrowResources, scopeFor } from "./resource.ts";
import { narrowScope, narrowToClient } from "./scope.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "../endpoints/token_response.ts";

const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const JWT = "urn:ietf:params:oauth:token-type:jwt";
/** Who acts for whom acts for whom: more steps than this are a loop. */
const DEEPEST = 10;

/**
 * An access token for the same subject at another resource.
 * @throws {OAuthError} invalid_request for a token that is not good (RFC 8693 §2.2.2), invalid_target, invalid_scope
 */
export async function grantTokenExchange(
  as: AuthorizationServer,
  call: TokenCall,
): Promise<TokenResponse> {
  const { client, form, cnf } = call;
  const subject = await readToken(as, form, "subject");
  // A type alone is refused too (RFC 8693 §2.1): who sends it believes that it named an actor.
  const hasActor = form.has("actor_token") || form.has("actor_token_type");
  const actor = hasActor ? await readToken(as, form, "actor") : undefined;
  const wanted = form.get("requested_token_type");
  if (wanted !== undefined && wanted !== ACCESS_TOKEN) {
    throw new OAuthError("invalid_request", `requested_token_type must be ${ACCESS_TOKEN}`);
  }
  checkMayTrade(as, call, subject);
  if (actor) checkIsActor(call, actor);
  const targets = [...form.all("resource"), ...form.all("audience")];
  const resource = chooseResources(as, client, subject.resource, targets);
  const scope = scopeFor(
    as,
    resource,
    narrowToClient(as, client, narrowScope(as, subject.scope, form.get("scope"))),
  );
  const authorization_details = narrowAuthorizationDetails(
    as,
    client,
    subject.authorization_details,
    form.get("authorization_details"),
  );
  const { access_token, put, expires_in } = await mintAccessToken(
    as,
    client,
    {
      scope,
      // RFC 8693 §1.1: delegation says who acts; the subject stays the subject.
      act: actorOf(client, actor, subject.act),
      ...(subject.user !== undefined && { user: subject.user }),
      // Ends with what it came from.
      ...(subject.grant !== undefined && { grant: subject.grant }),
      ...(resource && { resource }),
      ...(authorization_details && { authorization_details }),
      ...(subject.authentication && { authentication: subject.authentication }),
      ...(cnf && { cnf }),
    },
    undefined,
    subject.expires,
  );
  if (put) await as.store.commit({ set: [put] });
  as.observe({
    type: "token_issued",
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    client: client.id,
    ...(subject.user !== undefined && { user: subject.user }),
  });
  return {
    access_token,
    issued_token_type: ACCESS_TOKEN,
    token_type: tokenTypeOf(cnf),
    expires_in,
    scope,
    ...(authorization_details && { authorization_details }),
  };
}

async function readToken(
  as: AuthorizationServer,
  form: Parameters,
  role: "subject" | "actor",
): Promise<AccessToken> {
  const presented = form.get(`${role}_token`);
  const type = form.get(`${role}_token_type`);
  if (!presented) throw new OAuthError("invalid_request", `${role}_token is missing`);
  if (type !== ACCESS_TOKEN && type !== JWT) {
    throw new OAuthError("invalid_request", `${role}_token_type must be ${ACCESS_TOKEN}`);
  }
  const token = (await findAccessToken(as, presented))?.token;
  if (!token) throw new OAuthError("invalid_request", `${role}_token is invalid, expired or revoked`);
  return token;
}

/**
 * A client may trade tokens that were issued to it, and tokens that were meant for a resource that it serves: never one
 * that it merely came by. Its own bound token it trades with the key that it is bound to.
 */
function checkMayTrade(
  as: AuthorizationServer,
  { client, cnf }: TokenCall,
  subject: AccessToken,
): void {
  const own = subject.client_id === client.id;
  const audience = subject.resource ?? [as.issuer];
  const serves = client.source === "operator" &&
    (client.introspects === undefined || audience.some((each) => client.introspects!.includes(each)));
  if (own && !isConfirmed(subject.cnf, cnf)) {
    throw new OAuthError(
      "invalid_request",
      "subject_token is bound to a DPoP key or a client certificate. Prove possession of it",
    );
  }
  if (!own && !serves) {
    throw new OAuthError(
      "invalid_request",
      "subject_token was not issued to this client, and its audience is not a resource that this client serves",
    );
  }
  // A new token would name this client as its subject, and outlive the client that it came from.
  if (!own && subject.user === undefined) {
    throw new OAuthError("invalid_request", "subject_token identifies another client and no user");
  }
}

/**
 * RFC 8693 §1.1: the acting party is the one that will use the new token, so its token is one of this client's own. Tokens
 * of this server have no `may_act` (§4.4): nobody else is named who could act.
 */
function checkIsActor({ client, cnf }: TokenCall, actor: AccessToken): void {
  if (actor.client_id !== client.id) {
    throw new OAuthError("invalid_request", "actor_token was not issued to this client");
  }
  if (!isConfirmed(actor.cnf, cnf)) {
    throw new OAuthError(
      "invalid_request",
      "actor_token is bound to a DPoP key or a client certificate. Prove possession of it",
    );
  }
}

/**
 * What the new token is for: resources of the subject's token, or those that the operator lets this client go on to.
 * @throws {OAuthError} invalid_target for any other
 */
function chooseResources(
  as: AuthorizationServer,
  { token_exchange_resources = [] }: Client,
  granted: readonly string[] | undefined,
  targets: readonly string[],
): readonly string[] | undefined {
  const asked = findResources(as, targets);
  if (!asked) return granted;
  const further = new Set(token_exchange_resources.map(canonicalResource));
  narrowResources(as, granted, asked.filter((each) => !further.has(canonicalResource(each))));
  return asked;
}

function actorOf(client: Client, actor: AccessToken | undefined, before: Actor | undefined): Actor {
  const act: Actor = {
    sub: actor ? actor.user ?? actor.client_id : client.id,
    ...(before && { act: before }),
  };
  let depth = 0;
  for (let each: Actor | undefined = act; each; each = each.act) depth++;
  if (depth > DEEPEST) {
    throw new OAuthError(
      "invalid_request",
      `subject_token was already exchanged ${DEEPEST} times, which is the limit`,
    );
  }
  return act;
}
