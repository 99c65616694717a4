/**
 * Issues identity assertions for other authorization servers by token exchange
 * (draft-ietf-oauth-identity-assertion-authz-grant, section 4.3). `../grants/grant_jwt_bearer.ts` redeems those of others.
 *
 * @module
 */
import { signJws } from "../../crypto/jws.ts";
import { equalInConstantTime, randomId, secretDigest } from "../../crypto/secret.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError, plain } from "../error.ts";
import { isGrantEnded } from "../grants/ended_grants.ts";
import { reportIssued } from "../grants/issue_tokens.ts";
import { canonicalResource } from "../grants/resource.ts";
import { parseScope } from "../grants/scope.ts";
import type { TokenCall, TokenResponse } from "../grants/token_response.ts";
import { type EndedGrants, endedGrantsKey, type Grant, grantKey } from "../records/grant_record.ts";
import { requireConfirmation } from "../tokens/confirmation.ts";
import { clientSince, findLiveUser, isOfClient } from "../tokens/liveness.ts";
import { readRefreshToken } from "../tokens/refresh_token.ts";
import { describeAuthentication, readIdToken } from "./id_token.ts";
import type { IdentityAssertionAudience } from "./options.ts";
import { pairwiseSubject, subjectTypeOf } from "./subject.ts";

export const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const TYPE = "oauth-id-jag+jwt";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const REFRESH_TOKEN = "urn:ietf:params:oauth:token-type:refresh_token";
const LIFETIME_SECONDS = 300;

/** What an identity assertion of this server is for: an authorization server that trusts it, and the client there. */
export interface AssertionRequest {
  /** The issuer of the authorization server. */
  readonly audience: string;
  /** The client id of this server there. */
  readonly client_id: string;
  readonly resource?: string;
  readonly scope?: string;
}

/** The user whom the subject token identifies, and what is known of the login. */
interface Subject {
  readonly user: string;
  /** When the subject token was issued, in milliseconds since the epoch, or the end of that second. */
  readonly given: number;
  readonly authentication: Record<string, unknown>;
}

/**
 * An assertion for the audience, from an ID token or a refresh token of the same client.
 * @throws {OAuthError} invalid_request for an invalid subject token, invalid_target for another audience or resource
 */
export async function issueIdJag(as: AuthorizationServer, call: TokenCall): Promise<TokenResponse> {
  const { client, form, cnf } = call;
  const audience = findAudience(as, form.all("audience"));
  const client_id = (audience.clientId ?? ((id) => id))(client.id);
  if (client_id === undefined) throw target(`This client has no account at ${audience.audience}`);
  const resource = form.all("resource");
  const allowed = audience.resources && new Set(audience.resources.map(canonicalResource));
  const foreign = resource.find((each) =>
    !URL.canParse(each) || each.includes("#") || allowed && !allowed.has(canonicalResource(each))
  );
  if (foreign !== undefined) throw target(`Resource not allowed: ${plain(foreign)}`);
  const scope = form.get("scope") === undefined ? undefined : parseScope(form.get("scope")!).join(" ");
  if (form.has("actor_token") || form.has("actor_token_type")) {
    throw new OAuthError("invalid_request", "actor_token is not supported for identity assertions");
  }
  const { user, given, authentication } = await readSubject(as, call);
  if (!await findLiveUser(as, user, given)) throw invalidSubject();
  const sub = subjectTypeOf(as, client) === "public"
    ? user
    : await pairwiseSubject(as, `audience ${audience.audience}`, user);
  const access_token = await signIdJag(as, sub, {
    audience: audience.audience,
    client_id,
    ...(resource.length > 0 && { resource: resource.length === 1 ? resource[0]! : resource }),
    ...(scope !== undefined && { scope }),
    ...authentication,
    ...(cnf && { cnf }),
  });
  reportIssued(as, client, "urn:ietf:params:oauth:grant-type:token-exchange", user);
  return {
    access_token,
    issued_token_type: ID_JAG,
    token_type: "N_A",
    expires_in: LIFETIME_SECONDS,
    ...(scope !== undefined && { scope }),
  };
}

/**
 * Signs an identity assertion.
 * @param sub the subject, as the audience knows it
 * @param claims its further claims
 */
export async function signIdJag(
  as: Pick<AuthorizationServer, "issuer" | "keys" | "now">,
  sub: string,
  { audience, ...claims }: {
    readonly audience: string;
    readonly client_id: string;
    readonly [claim: string]: unknown;
  },
): Promise<string> {
  const iat = Math.floor(as.now() / 1000);
  const { issuer: iss } = as;
  const exp = iat + LIFETIME_SECONDS;
  return await signJws(await as.keys.current(), TYPE, {
    iss,
    sub,
    aud: audience,
    jti: randomId(""),
    iat,
    exp,
    ...claims,
  });
}

function findAudience(as: AuthorizationServer, names: readonly string[]): IdentityAssertionAudience {
  const [name, ...more] = names;
  if (name === undefined || more.length > 0) {
    throw new OAuthError("invalid_request", "audience must be the issuer of one authorization server");
  }
  const found = as.openid!.identityAssertions.find(({ audience }) => audience === name);
  if (!found) throw target(`No identity assertions are issued for ${plain(name)}`);
  return found;
}

async function readSubject(as: AuthorizationServer, call: TokenCall): Promise<Subject> {
  const token = call.form.get("subject_token");
  if (!token) throw new OAuthError("invalid_request", "subject_token is missing");
  switch (call.form.get("subject_token_type")) {
    case ID_TOKEN:
      return await readIdTokenSubject(as, call, token);
    case REFRESH_TOKEN:
      return await readRefreshSubject(as, call, token);
    default:
      throw new OAuthError("invalid_request", `subject_token_type must be ${ID_TOKEN} or ${REFRESH_TOKEN}`);
  }
}

async function readIdTokenSubject(
  as: AuthorizationServer,
  { client }: TokenCall,
  token: string,
): Promise<Subject> {
  if (subjectTypeOf(as, client) === "pairwise") {
    // Its sub is a digest, from which no user can be found.
    throw new OAuthError(
      "invalid_request",
      `A client with pairwise subjects must send a token of type ${REFRESH_TOKEN}`,
    );
  }
  const claims = await readIdToken(as, token, client);
  if (!claims || claims.exp * 1000 <= as.now()) throw invalidSubject();
  const { iat, auth_time, acr, amr } = claims;
  // An id that was registered again is another client's.
  if (typeof iat !== "number" || (iat + 1) * 1000 <= (clientSince(as, client) ?? 0)) throw invalidSubject();
  const ended = await as.store.get<EndedGrants>(endedGrantsKey(claims.sub));
  if (ended && isGrantEnded(ended.value, client.id, iat * 1000)) throw invalidSubject();
  return {
    user: claims.sub,
    given: iat * 1000 + 999,
    authentication: {
      ...(auth_time !== undefined && { auth_time }),
      ...(acr !== undefined && { acr }),
      ...(amr !== undefined && { amr }),
    },
  };
}

/** The token stays as it is: it is shown, not used. */
async function readRefreshSubject(
  as: AuthorizationServer,
  { client, cnf }: TokenCall,
  token: string,
): Promise<Subject> {
  const id = readRefreshToken(token);
  const grant = id === undefined ? undefined : (await as.store.get<Grant>(grantKey(id)))?.value;
  const isCurrent = grant?.refresh !== undefined && await isOfClient(as, grant, client, grant.created) &&
    equalInConstantTime(secretDigest(token), grant.refresh.digest) && grant.refresh.expires > as.now();
  // Without the scope openid the user has not agreed to be identified.
  if (!isCurrent || !grant.openid) throw invalidSubject();
  requireConfirmation(grant.cnf, cnf, "invalid_request", "subject_token");
  const { user, created, authentication } = grant;
  return {
    user,
    given: created,
    authentication: authentication ? describeAuthentication(authentication) : {},
  };
}

function invalidSubject(): OAuthError {
  return new OAuthError(
    "invalid_request",
    "subject_token is invalid or expired, or was issued to another client",
  );
}

function target(problem: string): OAuthError {
  return new OAuthError("invalid_target", problem);
}
