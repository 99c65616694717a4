/**
 * The authorization response as a signed JWT (https://openid.net/specs/oauth-v2-jarm.html#section-2.1).
 *
 * @module
 */
import { type JwsAlgorithm, signJws } from "../../crypto/jws.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { allowedAlgorithm } from "../security_profile.ts";

/** JARM §2.1: at most ten minutes. */
const LIFETIME_SECONDS = 600;

/** The value of `response`: a JWT for this client with the parameters of the response. */
export async function signResponse(
  as: AuthorizationServer,
  client_id: string,
  alg: JwsAlgorithm | undefined,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const iat = Math.floor(as.now() / 1000);
  const claims = { ...parameters, iss: as.issuer, aud: client_id, iat, exp: iat + LIFETIME_SECONDS };
  return await signJws(await as.keys.current(alg && allowedAlgorithm(as, alg)), "JWT", claims);
}
