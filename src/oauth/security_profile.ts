/**
 * The FAPI 2.0 Security Profile (https://openid.net/specs/fapi-security-profile-2_0-final.html): what a server with
 * `securityProfile` requires beyond the RFCs.
 *
 * @module
 */
import { JWS_ALGORITHMS, type JwsAlgorithm } from "../crypto/jws.ts";
import type { Client, ClientAuthMethod } from "./records/client_record.ts";

export type SecurityProfile = "fapi-2.0";

/** A server whose profile may be left open. */
export interface ProfiledServer {
  readonly securityProfile?: SecurityProfile | undefined;
}

interface ProfiledOptions extends ProfiledServer {
  readonly clients: readonly Client[];
  readonly codeLifetime: number;
  readonly pushedRequestLifetime: number;
  readonly signingAlgorithms: readonly JwsAlgorithm[];
}

/** §5.4.1 */
const FAPI_ALGORITHMS: readonly JwsAlgorithm[] = JWS_ALGORITHMS.filter((alg) => alg !== "RS256");
/** §5.3.2.2: less than this. */
const PUSHED_REQUEST_LIMIT_SECONDS = 600;
const MAX_CODE_LIFETIME_SECONDS = 60;

/** The members of a client that name the algorithm of a response. */
const SIGNED_RESPONSES = [
  "id_token_signed_response_alg",
  "userinfo_signed_response_alg",
  "authorization_signed_response_alg",
  "introspection_signed_response_alg",
] as const;

/** The algorithms of JWTs that the server accepts, the preferred first. */
export function acceptedAlgorithms({ securityProfile }: ProfiledServer): readonly JwsAlgorithm[] {
  return securityProfile === undefined ? JWS_ALGORITHMS : FAPI_ALGORITHMS;
}

/** The algorithm that a client chose for a signed response; the first of the server where the profile forbids that one. */
export function allowedAlgorithm(
  server: ProfiledServer & Pick<ProfiledOptions, "signingAlgorithms">,
  alg: JwsAlgorithm,
): JwsAlgorithm {
  return acceptedAlgorithms(server).includes(alg) ? alg : server.signingAlgorithms[0]!;
}

/** §5.3.2.1: clients are confidential, and authenticate with a key or a certificate. */
export function isMethodAllowed({ securityProfile }: ProfiledServer, method: ClientAuthMethod): boolean {
  return securityProfile === undefined || method === "private_key_jwt" || method.endsWith("tls_client_auth");
}

/** Checks options against the profile that they name. @throws {TypeError | RangeError} naming the option and the rule */
export function checkSecurityProfile(options: ProfiledOptions): void {
  if (options.securityProfile === undefined) return;
  const fail = (problem: string): string => `Invalid options: FAPI 2.0 requires ${problem}`;
  for (const client of options.clients) {
    const { id, token_endpoint_auth_method: method } = client;
    if (!isMethodAllowed(options, method)) {
      throw new TypeError(fail(`keys or certificates: the client "${id}" has ${method}`));
    }
    if (SIGNED_RESPONSES.some((name) => client[name] === "RS256")) {
      throw new TypeError(fail(`responses without RS256: change the algorithms of the client "${id}"`));
    }
  }
  if (options.codeLifetime > MAX_CODE_LIFETIME_SECONDS) {
    throw new RangeError(fail(`"oauth.codeLifetime" of at most ${MAX_CODE_LIFETIME_SECONDS}`));
  }
  if (options.pushedRequestLifetime >= PUSHED_REQUEST_LIMIT_SECONDS) {
    throw new RangeError(fail(`"oauth.pushedRequestLifetime" of less than ${PUSHED_REQUEST_LIMIT_SECONDS}`));
  }
  if (options.signingAlgorithms.includes("RS256")) {
    throw new TypeError(fail('"oauth.signingAlgorithms" without RS256'));
  }
}
