/**
 * Token exchange (https://www.rfc-editor.org/rfc/rfc8693): a service that was called with a token gets one of its own for
 * the next service, never good for more, or longer, than the one that it had.
 *
 * @module
 */
import { findAccessToken, mintAccessToken } from "./access_token.ts";
import { narrowAuthorizationDetails } from "./authorization_details.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { OAuthError } from "./error.ts";
import type { Parameters } from "./parameters.ts";
import type { AccessToken, Actor, Client } from "./records.ts";
import { findResources, scopeFor } from "./resource.ts";
import { allowedScopes, expandScopes, narrowScope } from "./scope.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "./token_response.ts";

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
  checkMayAct(as, call, subject);
  const targets = [...form.all("resource"), ...form.all("audience")];
  const resource = findResources(as, targets) ?? subject.resource;
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
  const { access_token, put, expires_in } = await mintAccessToken(as, client, {
    scope,
    until: subject.expires,
    // RFC 8693 §1.1: delegation says who acts; the subject stays the subject.
    act: actorOf(client, actor, subject.act),
    ...(subject.user !== undefined && { user: subject.user }),
    // Ends with what it came from.
    ...(subject.grant !== undefined && { grant: subject.grant }),
    ...(resource && { resource }),
    ...(authorization_details && { authorization_details }),
    ...(subject.authentication && { authentication: subject.authentication }),
    ...(cnf && { cnf }),
  });
  if (put) await as.store.commit({ set: [put] });
  as.observe({
    type: "token_issued",
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    client: client.id,
    ...(subject.user !== undefined && { user: subject.user }),
  });
  return { access_token, issued_token_type: ACCESS_TOKEN, token_type: tokenTypeOf(cnf), expires_in, scope };
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
  if (!token) throw new OAuthError("invalid_request", `${role}_token is unknown, expired or revoked`);
  return token;
}

/**
 * A client may trade tokens that were issued to it, and tokens that were meant for a resource that it serves: never one
 * that it merely came by. Its own bound token it trades with the key that it is bound to.
 */
function checkMayAct(
  as: AuthorizationServer,
  { client, cnf }: TokenCall,
  subject: AccessToken,
): void {
  const own = subject.client_id === client.id;
  const audience = subject.resource ?? [as.issuer];
  const serves = client.source === "operator" &&
    (client.introspects === undefined || audience.some((each) => client.introspects!.includes(each)));
  if (own && subject.cnf && (subject.cnf.jkt !== cnf?.jkt || subject.cnf["x5t#S256"] !== cnf?.["x5t#S256"])) {
    throw new OAuthError("invalid_request", "subject_token is bound to a key: show that key");
  }
  if (!own && !serves) {
    throw new OAuthError(
      "invalid_request",
      "subject_token was neither issued to this client nor meant for what it serves",
    );
  }
}

function actorOf(client: Client, actor: AccessToken | undefined, before: Actor | undefined): Actor {
  const act: Actor = {
    sub: actor ? actor.user ?? actor.client_id : client.id,
    ...(before && { act: before }),
  };
  let depth = 0;
  for (let each: Actor | undefined = act; each; each = each.act) depth++;
  if (depth > DEEPEST) {
    throw new OAuthError("invalid_request", `subject_token went through ${DEEPEST} exchanges already`);
  }
  return act;
}

/** The client's own limits hold as well. */
function narrowToClient(as: AuthorizationServer, client: Client, scope: string): string {
  const reach = expandScopes(as, allowedScopes(as, client));
  const kept = scope.split(" ").filter((each) => reach.has(each));
  if (kept.length === 0) {
    throw new OAuthError("invalid_scope", "This client may have none of the token's scopes");
  }
  return kept.join(" ");
}
