/**
 * Token exchange (https://www.rfc-editor.org/rfc/rfc8693): a service that was called with an access token gets one for the
 * next service. The new token never has more scope and never lives longer than the one that was exchanged.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { type AccessTokenRequest, findAccessToken } from "../tokens/access_token.ts";
import { narrowAuthorizationDetails } from "./authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { requireConfirmation } from "../tokens/confirmation.ts";
import { OAuthError } from "../error.ts";
import type { Parameters } from "../parameters.ts";
import type { Client } from "../records/client_record.ts";
import type { AccessToken, Actor, Mutable } from "../records/token_record.ts";
import { issueTokens } from "./issue_tokens.ts";
import {
  canonicalResource,
  findResources,
  isServedBy,
  limitToResources,
  narrowResources,
} from "./resource.ts";
import { limitToClient, narrowScope } from "./scope.ts";
import type { TokenCall, TokenResponse } from "./token_response.ts";

const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const JWT = "urn:ietf:params:oauth:token-type:jwt";
/** Nested `act` claims: a longer chain of exchanges is a loop. */
const MAX_ACTORS = 10;

const issueIdJag = loadOnDemand(async () => (await import("../openid/id_jag.ts")).issueIdJag);

/**
 * An access token for the same subject at another resource.
 * @throws {OAuthError} invalid_request for an invalid token (RFC 8693 §2.2.2), invalid_target, invalid_scope
 */
export async function grantTokenExchange(
  as: AuthorizationServer,
  call: TokenCall,
): Promise<TokenResponse> {
  const { client, form, cnf } = call;
  if (as.openid && form.get("requested_token_type") === ID_JAG) return await issueIdJag(as, call);
  const subject = await readToken(as, form, "subject");
  // RFC 8693 §2.1: actor_token_type without actor_token is refused too.
  const hasActor = form.has("actor_token") || form.has("actor_token_type");
  const actor = hasActor ? await readToken(as, form, "actor") : undefined;
  const wanted = form.get("requested_token_type");
  if (wanted !== undefined && wanted !== ACCESS_TOKEN) {
    throw new OAuthError("invalid_request", `requested_token_type must be ${ACCESS_TOKEN}`);
  }
  checkMayExchange(as, call, subject);
  if (actor) checkIsActor(call, actor);
  const targets = [...form.all("resource"), ...form.all("audience")];
  const resource = chooseResources(as, client, subject.resource, targets);
  const scope = limitToClient(as, client, narrowScope(as, subject.scope, form.get("scope")));
  const authorization_details = narrowAuthorizationDetails(
    as,
    client,
    subject.authorization_details,
    form.get("authorization_details"),
  );
  const request: Mutable<AccessTokenRequest> = {
    scope: limitToResources(as, resource, scope),
    // RFC 8693 §1.1: with delegation the subject stays the same, and act names who acts for it.
    act: actorOf(client, actor, subject.act),
  };
  if (subject.user !== undefined) request.user = subject.user;
  // The new token ends with the grant of the subject token.
  if (subject.grant !== undefined) request.grant = subject.grant;
  if (resource) request.resource = resource;
  if (authorization_details) request.authorization_details = authorization_details;
  if (subject.authentication) request.authentication = subject.authentication;
  if (cnf) request.cnf = cnf;
  const grant_type = "urn:ietf:params:oauth:grant-type:token-exchange";
  const response: Mutable<TokenResponse> = await issueTokens(
    as,
    call,
    grant_type,
    request,
    undefined,
    subject.expires,
  );
  response.issued_token_type = ACCESS_TOKEN;
  return response;
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
 * A client may exchange tokens that were issued to it and tokens whose audience is a resource that it serves. For its own
 * token that is bound to a key or certificate it must prove possession of that.
 */
function checkMayExchange(
  as: AuthorizationServer,
  { client, cnf }: TokenCall,
  subject: AccessToken,
): void {
  const own = subject.client_id === client.id;
  const serves = client.source === "operator" && isServedBy(as, client, subject);
  if (own) requireConfirmation(subject.cnf, cnf, "invalid_request", "subject_token");
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
 * RFC 8693 §1.1: the acting party is the one that uses the new token, so actor_token must be one of this client's own.
 * Tokens of this server have no `may_act` claim (§4.4), which could name another party.
 */
function checkIsActor({ client, cnf }: TokenCall, actor: AccessToken): void {
  if (actor.client_id !== client.id) {
    throw new OAuthError("invalid_request", "actor_token was not issued to this client");
  }
  requireConfirmation(actor.cnf, cnf, "invalid_request", "actor_token");
}

/**
 * The resources of the new token: those of the subject token, or `token_exchange_resources` of the client.
 * @throws {OAuthError} invalid_target for any other
 */
function chooseResources(
  as: AuthorizationServer,
  { token_exchange_resources = [] }: Client,
  granted: readonly string[] | undefined,
  targets: readonly string[],
): readonly string[] | undefined {
  const asked = findResources(as, targets);
  // Without those that the server has no more.
  if (!asked) return narrowResources(as, granted, targets);
  const further = new Set(token_exchange_resources.map(canonicalResource));
  const own = asked.filter((each) => !further.has(canonicalResource(each)));
  if (own.length > 0) narrowResources(as, granted, own);
  return asked;
}

function actorOf(client: Client, actor: AccessToken | undefined, before: Actor | undefined): Actor {
  const act: Actor = {
    sub: actor ? actor.user ?? actor.client_id : client.id,
    ...(before && { act: before }),
  };
  let depth = 0;
  for (let each: Actor | undefined = act; each; each = each.act) depth++;
  if (depth > MAX_ACTORS) {
    throw new OAuthError(
      "invalid_request",
      `subject_token was already exchanged ${MAX_ACTORS} times, which is the limit`,
    );
  }
  return act;
}
