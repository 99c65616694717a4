/**
 * The caller of a request with an access token of another issuer: a JWT that is verified with the issuer's keys
 * (https://www.rfc-editor.org/rfc/rfc9068#section-4), or any token that the issuer introspects (RFC 7662).
 *
 * @module
 */
import { type Claims, hasType, type JwsAlgorithm, readJws } from "../../crypto/jws.ts";
import type { TokenRefusal } from "../../http/bearer.ts";
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import type { IdentifyCaller, Principal } from "../../http/principal.ts";
import type { RequestContext } from "../../http/service.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { type KeySource, verifyBySource } from "../clients/key_set.ts";
import type { RemoteDocuments } from "../clients/remote_document.ts";
import { OAuthError } from "../error.ts";
import type { DpopServer } from "../tokens/dpop.ts";
import {
  checkPossession,
  type PresentedToken,
  readPresentedToken,
  refuseToken,
} from "../tokens/possession.ts";
import { type ClaimRules, confirmationOf, findClaimProblem, toPrincipal } from "./token_claims.ts";

export interface RemoteTokenOptions
  extends ClaimRules, DpopServer, Pick<AuthorizationServer, "certificateProxy"> {
  readonly documents: RemoteDocuments;
  /** Where the keys are; absent where tokens are introspected only. */
  readonly findKeySource?: (() => Promise<Pick<KeySource, "jwks" | "jwks_uri">>) | undefined;
  readonly algorithms: readonly JwsAlgorithm[];
  /** Returns the claims of an active token; absent where only JWTs are accepted. */
  readonly introspect?: ((token: string) => Promise<Claims | undefined>) | undefined;
  /** Called when the issuer cannot be reached. */
  readonly onUnavailable: (error: IssuerUnavailableError) => void;
}

/** The issuer cannot be reached, or does not answer as it should. The caller may retry: its token may be good. */
export class IssuerUnavailableError extends StoreUnavailableError {
  override readonly name = "IssuerUnavailableError";
}

const JWT_TYPE = "at+jwt";
const MAX_TOKEN_CHARACTERS = 16_384;
/** When to retry, where nothing else says it. */
const RETRY_SECONDS = 5;
const INVALID = "The access token is invalid, expired or revoked";
/** Many issuers, such as this server by default, issue opaque tokens: their developers look for an expired one. */
const NO_JWT =
  "The access token is not a JWT. This API accepts opaque tokens only with the option introspection";

/** Creates the function. It throws {@linkcode IssuerUnavailableError}: never 401 for a failure that is not the caller's. */
export function identifyByRemoteToken(options: RemoteTokenOptions): IdentifyCaller {
  const { documents, findKeySource, algorithms, introspect, onUnavailable } = options;

  /** The claims of a JWT, or why it is refused. What needs no key is checked first, so that garbage causes no fetch. */
  async function verify(text: string, find: NonNullable<typeof findKeySource>): Promise<Claims | string> {
    const read = readJws(text);
    if (!read) return introspect ? INVALID : NO_JWT;
    const { header, claims } = read;
    if (!hasType(header.typ, JWT_TYPE)) return `The typ of the access token must be ${JWT_TYPE}`;
    if (!algorithms.some((each) => each === header.alg)) {
      return `The alg of the access token must be one of ${algorithms.join(", ")}`;
    }
    if ("crit" in header) return "The access token has critical header parameters, which are not supported";
    const problem = findClaimProblem(options, claims, true);
    if (problem) return problem;
    const source: KeySource = { ...await find(), network: undefined, isKnown: true };
    const verified = await verifyBySource({ documents }, source, text, JWT_TYPE, read);
    return verified
      ? verified.claims
      : "The signature of the access token does not verify with any key of the issuer";
  }

  async function ask(
    text: string,
    introspect: NonNullable<RemoteTokenOptions["introspect"]>,
  ): Promise<Claims | string> {
    const claims = await introspect(text);
    return claims ? findClaimProblem(options, claims, false) ?? claims : INVALID;
  }

  async function check(
    request: Request,
    context: RequestContext,
    presented: PresentedToken,
  ): Promise<Principal | TokenRefusal> {
    const { text } = presented;
    if (text.length > MAX_TOKEN_CHARACTERS) return refuseToken(presented, "The access token is too long");
    const isSigned = findKeySource && (!introspect || text.split(".", 4).length === 3);
    const claims = isSigned ? await verify(text, findKeySource) : await ask(text, introspect!);
    if (typeof claims === "string") return refuseToken(presented, claims);
    const cnf = confirmationOf(claims);
    if (cnf === "unsupported") {
      return refuseToken(presented, "The access token is bound in a way that is not supported");
    }
    const refusal = await checkPossession(options, request, context, presented, cnf);
    if (refusal) return refusal;
    if (isSigned) return toPrincipal(options, claims);
    const principal = toPrincipal(options, claims, async () => {
      const current = await ask(text, introspect!);
      if (typeof current === "string") return false;
      // The issuer may answer with fewer scopes than at the start of the request.
      const { scopes } = toPrincipal(options, current);
      return [...principal.scopes].every((each) => scopes.has(each));
    });
    return principal;
  }

  return async (request, context = {}) => {
    const presented = readPresentedToken(request);
    if (!presented) return "none";
    try {
      return await check(request, context, presented);
    } catch (cause) {
      if (!(cause instanceof PublicFetchError || cause instanceof OAuthError)) throw cause;
      const wait = cause instanceof OAuthError && cause.fields.find(([name]) => name === "retry-after")?.[1];
      const retryAfter = wait ? Number(wait) : RETRY_SECONDS;
      const error = new IssuerUnavailableError(`The issuer ${options.issuer} is unavailable`, {
        cause,
        retryAfter,
      });
      onUnavailable(error);
      throw error;
    }
  };
}
