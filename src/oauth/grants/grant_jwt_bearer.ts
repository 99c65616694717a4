/**
 * The JWT bearer grant (https://www.rfc-editor.org/rfc/rfc7523#section-2.1): an identity provider that the operator trusts
 * says who the user is. With `typ` `oauth-id-jag+jwt` it is the identity assertion of enterprise-managed authorization
 * (draft-ietf-oauth-identity-assertion-authz-grant), which names client, resource and scope as well.
 *
 * @module
 */
import { readJws } from "../../crypto/jws.ts";
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import { mintAccessToken } from "../tokens/access_token.ts";
import { parseAuthorizationDetails } from "./authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { checkTimes, isJti } from "../clients/client_assertion.ts";
import { OAuthError, plain } from "../error.ts";
import { verifyBySource } from "../clients/key_set.ts";
import { canonicalResource, findResources, scopeFor } from "./resource.ts";
import { grantScope, narrowScope } from "./scope.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "../endpoints/token_response.ts";
import { useOnce } from "../clients/replay.ts";
import { findUser, keepProfile } from "../users/user.ts";
import { requireRole } from "../users/user_role.ts";

const ID_JAG = "oauth-id-jag+jwt";
/** Seconds. */
const LONGEST = 3600;

/** An access token for the user of the assertion; no refresh token: there is the identity provider to ask again. */
export async function grantJwtBearer(
  as: AuthorizationServer,
  { client, form, cnf }: TokenCall,
): Promise<TokenResponse> {
  const assertion = form.get("assertion");
  if (!assertion) throw new OAuthError("invalid_request", "assertion is missing");
  const { claims, issuer, isIdJag } = await checkAssertion(as, assertion, client.id);
  const user = issuer.user
    ? await issuer.user(claims)
    : typeof claims.sub === "string"
    ? await findUser(as.store, claims.sub)
    : undefined;
  if (!user) throw refusal("the subject is not a user of this server");
  if (issuer.user) await keepProfile(as.store, user);

  const allowed = isIdJag ? scopeOf(claims) : undefined;
  const asked = form.get("scope");
  // The assertion's scope is the most that there is; what the client may have limits it further.
  const named = allowed === undefined ? asked : narrowScope(as, allowed, asked);
  const resource = findResources(as, targetsOf(claims, isIdJag, form.all("resource")));
  const granted = requireRole(as, user, grantScope(as, client, named), "invalid_scope");
  const scope = scopeFor(as, resource, granted);
  const authorization_details = parseAuthorizationDetails(as, client, form.get("authorization_details"));
  const { access_token, put, expires_in } = await mintAccessToken(as, client, {
    user: user.id,
    scope,
    ...(resource && { resource }),
    ...(authorization_details && { authorization_details }),
    ...(cnf && { cnf }),
  });
  if (put) await as.store.commit({ set: [put] });
  as.observe({
    type: "token_issued",
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    client: client.id,
    user: user.id,
  });
  return {
    access_token,
    token_type: tokenTypeOf(cnf),
    expires_in,
    scope,
    ...(authorization_details && { authorization_details }),
  };
}

/** Its claims come first: only what could be good makes us fetch keys. */
async function checkAssertion(
  as: AuthorizationServer,
  assertion: string,
  client_id: string,
) {
  const { header, claims } = readJws(assertion) ?? { header: {}, claims: {} };
  const issuer = as.trustedIssuers.find((each) => each.issuer === claims.iss);
  if (!issuer) throw refusal("iss is not a trusted issuer");
  const typ = typeof header.typ === "string"
    ? header.typ.toLowerCase().replace(/^application\//, "")
    : undefined;
  // RFC 8725 §3.11: a token of another kind that the issuer signed, such as an ID token, is no assertion for us.
  if (typ !== undefined && typ !== "jwt" && typ !== ID_JAG) throw refusal(`typ must be JWT or ${ID_JAG}`);
  const isIdJag = typ === ID_JAG;
  const { aud } = claims;
  if (aud !== as.issuer && !(Array.isArray(aud) && aud.length === 1 && aud[0] === as.issuer)) {
    throw refusal(`aud must be ${as.issuer} and no other value`);
  }
  if (isIdJag && claims.client_id !== client_id) {
    throw refusal("client_id must identify the authenticated client");
  }
  const expires = checkTimes(as, claims, LONGEST);
  if (expires === undefined) {
    throw refusal(`exp must be in the next ${LONGEST} seconds, and nbf and iat must not be in the future`);
  }
  if (!isJti(claims.jti)) throw refusal("jti is required and must be a string of 1 to 512 characters");
  const verified = await verifyBySource(as, { ...issuer, network: undefined, isKnown: true }, assertion)
    .catch(
      (error) => {
        if (!(error instanceof PublicFetchError)) throw error;
        throw refusal(`the issuer's keys could not be fetched: ${plain(error.message)}`);
      },
    );
  if (!verified) throw refusal("the signature does not verify with any key of the issuer");
  if (!await useOnce(as, "assertion", `${issuer.issuer}\n${claims.jti}`, expires)) {
    throw refusal("jti was used before");
  }
  return { claims, issuer, isIdJag };
}

/** What the assertion allows at most; `undefined` when it sets no limit. */
function scopeOf({ scope }: Readonly<Record<string, unknown>>): string | undefined {
  if (scope !== undefined && typeof scope !== "string") throw refusal("scope must be a string");
  return scope;
}

/** What the assertion is for limits what may be asked. */
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
