/**
 * Checks the access token of a request to a protected resource (https://www.rfc-editor.org/rfc/rfc6750 and
 * https://www.rfc-editor.org/rfc/rfc9449#section-7).
 *
 * @module
 */
import { JWS_ALGORITHMS } from "../../crypto/jws.ts";
import { type DpopChallenge, parseBearer, TokenRefusal } from "../../http/bearer.ts";
import type { Principal } from "../../http/principal.ts";
import type { RequestContext } from "../../http/service.ts";
import { findAccessToken, type LiveAccessToken } from "./access_token.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { readCertificate } from "../clients/client_certificate.ts";
import { checkDpopProof } from "./dpop.ts";
import { OAuthError } from "../error.ts";
import type { AccessToken } from "../records.ts";
import { isForResource } from "../grants/resource.ts";
import { expandScopes } from "../grants/scope.ts";

/** The one workspace of all users of this server. */
const WORKSPACE = "default";
const DPOP = /^dpop +([A-Za-z0-9\-._~+/]+=*) *$/i;
const UNKNOWN = "The access token is invalid, expired or revoked";
/** The parameters of a challenge with the DPoP scheme. */
const DPOP_CHALLENGE: DpopChallenge = { algs: JWS_ALGORITHMS };
/** Expanded scopes by their text: there are few, and every request needs them. */
const expanded = new WeakMap<AuthorizationServer, Map<string, ReadonlySet<string>>>();
const MAX_CACHED_SCOPES = 1000;

/** Who a token stands for that needs no proof beside it; `undefined` when it is not good for this server. */
export async function verifyAccessToken(
  as: AuthorizationServer,
  presented: string,
): Promise<Principal | undefined> {
  const token = (await findAccessToken(as, presented))?.token;
  return token && !token.cnf && isForResource(as, token.resource, as.issuer)
    ? toPrincipal(as, token, presented)
    : undefined;
}

/** The principal of a request with an access token for `resource`; `"none"` without a token. */
export function identifyCaller(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  resource: string,
): Promise<Principal | "none" | TokenRefusal> {
  return checkRequest(as, request, context, resource, ({ token }, text) => toPrincipal(as, token, text));
}

/** As {@linkcode identifyCaller}, for this server's own endpoints: what `toCaller` makes of a token that is good. */
export async function checkRequest<Caller>(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  resource: string,
  toCaller: (live: LiveAccessToken, presented: string) => Caller,
): Promise<Caller | "none" | TokenRefusal> {
  const field = request.headers.get("authorization");
  if (field === null) return "none";
  const proven = DPOP.exec(field)?.[1];
  const presented = proven ?? parseBearer(field);
  // RFC 6750 §3.1: another scheme counts as a request without authentication.
  if (presented === undefined) return "none";
  const dpop = proven === undefined ? undefined : DPOP_CHALLENGE;
  const refuse = (description: string) => new TokenRefusal("invalid_token", description, dpop);
  const live = await findAccessToken(as, presented);
  if (!live) return refuse(UNKNOWN);
  const { token } = live;
  if (!isForResource(as, token.resource, resource)) {
    return refuse(`The access token was not issued for ${resource}`);
  }
  // RFC 9449 §7.2: a DPoP-bound token must not be used as a bearer token, nor the other way round.
  if ((token.cnf?.jkt !== undefined) !== (proven !== undefined)) {
    return refuse(
      proven === undefined
        ? "The access token is bound to a key. Use the DPoP authorization scheme"
        : "The access token is not bound to a key. Use the Bearer authorization scheme",
    );
  }
  if (token.cnf?.jkt !== undefined) {
    const refusal = await checkProof(as, request, presented, token.cnf.jkt);
    if (refusal) return refusal;
  }
  const thumbprint = token.cnf?.["x5t#S256"];
  if (thumbprint !== undefined && readCertificate(as, request, context)?.thumbprint !== thumbprint) {
    return refuse("The access token is bound to another client certificate");
  }
  return toCaller(live, presented);
}

async function checkProof(
  as: AuthorizationServer,
  request: Request,
  presented: string,
  jkt: string,
): Promise<TokenRefusal | undefined> {
  try {
    const proof = await checkDpopProof(as, request, presented);
    if (!proof) {
      return new TokenRefusal(
        "invalid_dpop_proof",
        "The DPoP proof is missing. Send one with the access token",
        DPOP_CHALLENGE,
      );
    }
    if (proof.jkt === jkt) return undefined;
    return new TokenRefusal("invalid_token", "The access token is bound to another key", DPOP_CHALLENGE);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const nonce = error.fields.find(([name]) => name === "dpop-nonce")?.[1];
    const code = error.code === "use_dpop_nonce" ? "use_dpop_nonce" : "invalid_dpop_proof";
    return new TokenRefusal(code, error.message, { ...DPOP_CHALLENGE, nonce });
  }
}

function toPrincipal(as: AuthorizationServer, token: AccessToken, presented: string): Principal {
  const { client_id, scope, user, resource, expires, authentication, authorization_details } = token;
  const principal: { -readonly [Name in keyof Principal]: Principal[Name] } = {
    client: client_id,
    scopes: scopesOf(as, scope),
    workspace: WORKSPACE,
    expires,
    isStillValid: async () => await findAccessToken(as, presented) !== undefined,
  };
  if (user !== undefined) principal.subject = user;
  if (resource) principal.audience = resource;
  if (authentication) {
    principal.authTime = authentication.auth_time;
    principal.acr = authentication.acr;
  }
  if (authorization_details) principal.authorizationDetails = authorization_details;
  return principal;
}

/** The scopes of a token and all that they imply. */
export function scopesOf(as: AuthorizationServer, scope: string): ReadonlySet<string> {
  let known = expanded.get(as);
  if (!known) expanded.set(as, known = new Map());
  let scopes = known.get(scope);
  if (!scopes) {
    if (known.size >= MAX_CACHED_SCOPES) known.clear();
    known.set(scope, scopes = expandScopes(as, scope.split(" ")));
  }
  return scopes;
}
