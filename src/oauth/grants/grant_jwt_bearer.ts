/**
 * The JWT bearer grant (https://www.rfc-editor.org/rfc/rfc7523#section-2.1): an identity provider that the operator trusts
 * identifies the user. With `typ` `oauth-id-jag+jwt` it is the identity assertion of enterprise-managed authorization
 * (draft-ietf-oauth-identity-assertion-authz-grant), which names client, resource and scope as well.
 *
 * @module
 */
import { readJws } from "../../crypto/jws.ts";
import type { AccessTokenRequest } from "../tokens/access_token.ts";
import { narrowAuthorizationDetails, parseAuthorizationDetails } from "./authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { verifyAssertion } from "../clients/assertion.ts";
import { OAuthError } from "../error.ts";
import type { AuthorizationDetail } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import type { Confirmation, Mutable } from "../records/token_record.ts";
import { requireConfirmation } from "../tokens/confirmation.ts";
import { issueTokens } from "./issue_tokens.ts";
import { canonicalResource, findResources, limitToResources } from "./resource.ts";
import { grantScope, narrowScope } from "./scope.ts";
import type { TokenCall, TokenResponse } from "./token_response.ts";
import { findUser, saveProfile } from "../users/user.ts";
import { requireRole } from "../users/user_role.ts";

const ID_JAG = "oauth-id-jag+jwt";
const MAX_LIFETIME_SECONDS = 3600;

/** An access token for the user of the assertion. No refresh token: the client gets a new assertion instead. */
export async function grantJwtBearer(as: AuthorizationServer, call: TokenCall): Promise<TokenResponse> {
  const { client, form, cnf } = call;
  const assertion = form.get("assertion");
  if (!assertion) throw new OAuthError("invalid_request", "assertion is missing");
  const { claims, issuer, isIdJag } = await checkAssertion(as, assertion, call);
  const user = issuer.user
    ? await issuer.user(claims)
    : typeof claims.sub === "string"
    ? await findUser(as.store, claims.sub)
    : undefined;
  if (!user) throw refusal("the subject is not a user of this server");
  // RFC 9068 §5: such a token without a grant would be one of the client without a user.
  if (user.id === client.id) throw refusal("the subject has the id of the client");
  if (issuer.user && !await saveProfile(as.store, user, as.now())) {
    throw refusal("the subject is not a user of this server");
  }
  // With what the issuer does not know: the role that the operator gave, and that the account is locked.
  const owner = issuer.user ? await findUser(as.store, user.id) : user;
  if (!owner) throw refusal("the subject is not a user of this server");

  const allowed = isIdJag ? scopeOf(claims) : undefined;
  const asked = form.get("scope");
  // The scope of the assertion is the upper limit; the scopes allowed for the client limit it further.
  const named = allowed === undefined ? asked : narrowScope(as, allowed, asked);
  const resource = findResources(as, targetsOf(claims, isIdJag, form.all("resource")));
  const granted = requireRole(as, owner, grantScope(as, client, named), "invalid_scope");
  const details = isIdJag ? detailsOf(as, client, claims) : undefined;
  const askedDetails = form.get("authorization_details");
  const authorization_details = details
    ? narrowAuthorizationDetails(as, client, details, askedDetails)
    : parseAuthorizationDetails(as, client, askedDetails);
  const request: Mutable<AccessTokenRequest> = {
    user: user.id,
    scope: limitToResources(as, resource, granted),
  };
  if (resource) request.resource = resource;
  if (authorization_details) request.authorization_details = authorization_details;
  if (cnf) request.cnf = cnf;
  const response = await issueTokens(as, call, "urn:ietf:params:oauth:grant-type:jwt-bearer", request);
  if (!isIdJag || !resource) return response;
  // Section 4.4.1 of the draft: the response says which resource was granted.
  return { ...response, resource: resource.length === 1 ? resource[0]! : resource };
}

/** The issuer and the claims of the assertion, once it is verified and marked as used. */
async function checkAssertion(
  as: AuthorizationServer,
  assertion: string,
  { client, cnf }: TokenCall,
) {
  const { header, claims } = readJws(assertion) ?? { header: {}, claims: {} };
  const issuer = as.trustedIssuers.find((each) => each.issuer === claims.iss);
  if (!issuer) throw refusal("iss is not a trusted issuer");
  const typ = typeof header.typ === "string"
    ? header.typ.toLowerCase().replace(/^application\//, "")
    : undefined;
  // RFC 8725 §3.11: another kind of token that the issuer signed, such as an ID token, must not pass for an assertion.
  if (typ !== undefined && typ !== "jwt" && typ !== ID_JAG) throw refusal(`typ must be JWT or ${ID_JAG}`);
  const isIdJag = typ === ID_JAG;
  if (issuer.requireIdJag && !isIdJag) throw refusal(`typ must be ${ID_JAG}`);
  const { aud } = claims;
  if (aud !== as.issuer && !(Array.isArray(aud) && aud.length === 1 && aud[0] === as.issuer)) {
    throw refusal(`aud must be ${as.issuer} and no other value`);
  }
  if (isIdJag && claims.client_id !== client.id) {
    throw refusal("client_id must identify the authenticated client");
  }
  // Before jti is marked as used: a client that forgot its proof can repeat the request with it.
  requireConfirmation(boundTo(claims), cnf, "invalid_grant", "The assertion");
  await verifyAssertion(as, assertion, claims, {
    issuer: issuer.issuer,
    keys: { ...issuer, network: undefined, isKnown: true },
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    refusal,
  });
  return { claims, issuer, isIdJag };
}

/** The key or certificate that the assertion is bound to (RFC 7800 §3.1). */
function boundTo({ cnf }: Readonly<Record<string, unknown>>): Confirmation | undefined {
  if (cnf === undefined) return undefined;
  const { jkt, "x5t#S256": x5t, ...others } = Object(cnf) as Record<string, unknown>;
  const members = [jkt, x5t].filter((each) => each !== undefined);
  const isKnown = members.length > 0 && members.every((each) => typeof each === "string") &&
    Object.keys(others).length === 0;
  if (!isKnown) throw refusal("cnf must have jkt or x5t#S256, and no other member");
  return cnf as Confirmation;
}

/** The authorization details that the assertion allows; `undefined` when it sets no limit. */
function detailsOf(
  as: AuthorizationServer,
  client: Client,
  { authorization_details }: Readonly<Record<string, unknown>>,
): readonly AuthorizationDetail[] | undefined {
  return authorization_details === undefined
    ? undefined
    : parseAuthorizationDetails(as, client, JSON.stringify(authorization_details));
}

/** The scope that the assertion allows; `undefined` when it sets no limit. */
function scopeOf({ scope }: Readonly<Record<string, unknown>>): string | undefined {
  if (scope !== undefined && typeof scope !== "string") throw refusal("scope must be a string");
  return scope;
}

/** The resources that are requested, of those that the assertion allows. */
function targetsOf(
  { resource }: Readonly<Record<string, unknown>>,
  isIdJag: boolean,
  requested: readonly string[],
): readonly string[] {
  if (!isIdJag || resource === undefined) return requested;
  const allowed: unknown[] = Array.isArray(resource) ? resource : [resource];
  if (allowed.length === 0 || !allowed.every((each) => typeof each === "string")) {
    throw refusal("resource must be a string or a non-empty array of strings");
  }
  if (requested.length === 0) return allowed;
  const known = new Set(allowed.map(canonicalResource));
  if (requested.some((each) => !known.has(canonicalResource(each)))) {
    throw new OAuthError("invalid_target", "resource must be one of the resources in the assertion");
  }
  return requested;
}

function refusal(rule: string): OAuthError {
  return new OAuthError("invalid_grant", `Invalid assertion: ${rule}`);
}
