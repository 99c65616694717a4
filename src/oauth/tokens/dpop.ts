/**
 * Demonstrating Proof of Possession (https://www.rfc-editor.org/rfc/rfc9449): a JWT that the client signs for one request
 * shows that it holds the key which its tokens are bound to. A stolen token alone is then good for nothing.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { algorithmsOf, checkJwk, importPublicJwk, thumbprint } from "../../crypto/jwk.ts";
import { type Claims, JWS_ALGORITHMS, readJws, verifyJws } from "../../crypto/jws.ts";
import { equalInConstantTime } from "../../crypto/secret.ts";
import { hmacSha256, sha256 } from "../../crypto/sha256.ts";
import { pathOf } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError, type OAuthErrorCode } from "../error.ts";
import { useOnce } from "../clients/replay.ts";

/** Seconds by which `iat` may lie in the past or the future (§11.1). */
const WINDOW = 60;
/** Seconds after which a fresh nonce is given; the one before it is still taken. */
const NONCE_LIFETIME = 120;
const LONGEST = 4096;

/** What a proof showed. */
export interface DpopProof {
  /** The thumbprint of its key. */
  readonly jkt: string;
  /** A newer nonce than it came with, to be told. */
  readonly nonce: string | undefined;
}

/**
 * The proof of the request, checked by the list of §4.3 and used up; `undefined` when there is none.
 * @param token the access token that it must go with, at a protected resource
 * @throws {OAuthError} invalid_dpop_proof or use_dpop_nonce
 */
export async function checkDpopProof(
  as: AuthorizationServer,
  request: Request,
  token?: string,
): Promise<DpopProof | undefined> {
  const proof = request.headers.get("dpop");
  if (proof === null) return undefined;
  // 1: fields that came twice are joined by commas, which no JWT has.
  if (proof.length > LONGEST || proof.includes(",")) {
    throw refusal(`send one DPoP header field with one JWT of at most ${LONGEST} characters`);
  }
  const { header, claims } = readJws(proof) ?? {};
  if (!header || !claims) throw refusal("not a JWT");
  const jkt = await checkSignature(header, proof);
  if (claims.htm !== request.method) throw refusal("htm must be the HTTP method of the request");
  if (!isSameTarget(claims.htu, as.origin + pathOf(request.url))) {
    throw refusal("htu must be the URI of the request without query and fragment");
  }
  const now = as.now() / 1000;
  const { iat, jti, nonce } = claims;
  if (typeof iat !== "number" || Math.abs(now - iat) > WINDOW) {
    throw refusal(`iat must be within ${WINDOW} seconds of the server time`);
  }
  if (typeof jti !== "string" || jti === "" || jti.length > 256) {
    throw refusal("jti is required and must be a string of 1 to 256 characters");
  }
  const fresh = await checkNonce(as, nonce);
  if (token !== undefined && claims.ath !== encodeBase64url(sha256(token))) {
    throw refusal("ath must be the base64url SHA-256 hash of the access token");
  }
  if (!await useOnce(as, "dpop", `${jkt}\n${jti}`, (iat + 2 * WINDOW) * 1000)) {
    throw refusal("jti was used before");
  }
  return { jkt, nonce: fresh };
}

/** 4, 5, 6: the type, the algorithm, and the key that the proof brings itself. */
async function checkSignature(header: Claims, proof: string): Promise<string> {
  const alg = JWS_ALGORITHMS.find((each) => each === header.alg);
  if (!alg) throw refusal(`alg must be one of ${JWS_ALGORITHMS.join(", ")}`);
  const jwk = checkJwk(header.jwk);
  if (typeof jwk === "string") throw refusal(`jwk: ${jwk}`);
  if (!algorithmsOf(jwk).includes(alg)) throw refusal("jwk does not match alg");
  const verified = await importPublicJwk(jwk, alg).then(
    (key) => verifyJws(key, "dpop+jwt", proof),
    () => undefined,
  );
  if (!verified) throw refusal("typ must be dpop+jwt, and the signature must verify with jwk");
  return thumbprint(jwk);
}

/** 9: the same address, by the normalisation of RFC 3986 §6.2.2 and §6.2.3; the server's own name is configuration. */
function isSameTarget(htu: unknown, target: string): boolean {
  const url = typeof htu === "string" ? URL.parse(htu) : null;
  if (!url || url.username !== "" || url.password !== "") return false;
  return url.origin + url.pathname === new URL(target).href;
}

/** A nonce to tell when the one that came will soon be too old. */
async function checkNonce(as: AuthorizationServer, nonce: unknown): Promise<string | undefined> {
  if (nonce === undefined && !as.requireDpopNonce) return undefined;
  const window = Math.floor(as.now() / 1000 / NONCE_LIFETIME);
  const current = await makeNonce(as, window);
  if (typeof nonce === "string") {
    if (equalInConstantTime(nonce, current)) return undefined;
    if (equalInConstantTime(nonce, await makeNonce(as, window - 1))) return current;
  }
  throw refusal("nonce must be the value of the DPoP-Nonce header field", "use_dpop_nonce", current);
}

/** Nothing is stored: every instance can make and check the nonce of a time. */
async function makeNonce(as: AuthorizationServer, window: number): Promise<string> {
  return encodeBase64url(hmacSha256(await as.secret(), `dpop nonce:${window}`).subarray(0, 18));
}

function refusal(rule: string, code: OAuthErrorCode = "invalid_dpop_proof", nonce?: string): OAuthError {
  return new OAuthError(code, `Invalid DPoP proof: ${rule}`, {
    ...(nonce !== undefined && { fields: [["dpop-nonce", nonce]] }),
  });
}
