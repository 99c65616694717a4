/**
 * Demonstrating Proof of Possession (https://www.rfc-editor.org/rfc/rfc9449): with a JWT that it signs for one request the
 * client proves that it has the key to which its tokens are bound. A stolen token alone cannot be used.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { algorithmsOf, checkJwk, importPublicJwk, thumbprint } from "../../crypto/jwk.ts";
import { type Claims, readJws, verifyJws } from "../../crypto/jws.ts";
import { equalInConstantTime, secretDigest } from "../../crypto/secret.ts";
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { hmacSha256 } from "../../crypto/sha256.ts";
import { pathOf } from "../../http/router.ts";
import { OAuthError, type OAuthErrorCode } from "../error.ts";
import { type ReplayMemory, useOnce } from "../clients/replay.ts";
import { acceptedAlgorithms, type ProfiledServer } from "../security_profile.ts";

/** By how much `iat` may be in the past or the future (§11.1). */
const MAX_AGE_SECONDS = 60;
/** How long a nonce is the current one; the previous one is still accepted. */
const NONCE_LIFETIME_SECONDS = 120;
const MAX_PROOF_LENGTH = 4096;

/** The server that receives proofs. */
export interface DpopServer extends ReplayMemory, ProfiledServer {
  /** Scheme, host and port of its address, never taken from a request. */
  readonly origin: string;
  /** Whether proofs must contain a nonce. */
  readonly requireDpopNonce: boolean;
  /** What nonces are derived from; absent where the server issues none. */
  readonly secret?: FindSecrets;
}

/** A verified proof. */
export interface DpopProof {
  /** The thumbprint of its key. */
  readonly jkt: string;
  /** A newer nonce than that of the proof, for the DPoP-Nonce field of the response. */
  readonly nonce: string | undefined;
}

/**
 * Verifies the proof of the request by the list of §4.3 and marks it as used; `undefined` when the request has none. The
 * numbers in the comments are those of the list.
 * @param token the access token of the request, at a protected resource
 * @throws {OAuthError} invalid_dpop_proof or use_dpop_nonce
 */
export async function checkDpopProof(
  as: DpopServer,
  request: Request,
  token?: string,
): Promise<DpopProof | undefined> {
  const proof = request.headers.get("dpop");
  if (proof === null) return undefined;
  // 1: several fields are joined by commas, which no JWT contains.
  if (proof.length > MAX_PROOF_LENGTH || proof.includes(",")) {
    throw refusal(`send one DPoP header field with one JWT of at most ${MAX_PROOF_LENGTH} characters`);
  }
  const { header, claims } = readJws(proof) ?? {};
  if (!header || !claims) throw refusal("not a JWT");
  const jkt = await checkSignature(as, header, proof);
  if (claims.htm !== request.method) throw refusal("htm must be the HTTP method of the request");
  const target = as.origin + pathOf(request.url);
  if (!isSameTarget(claims.htu, target)) {
    throw refusal(`htu must be the URI of the request without query and fragment: ${target.slice(0, 200)}`);
  }
  const now = as.now() / 1000;
  const { iat, jti, nonce } = claims;
  if (typeof iat !== "number" || Math.abs(now - iat) > MAX_AGE_SECONDS) {
    throw refusal(`iat must be within ${MAX_AGE_SECONDS} seconds of the server time`);
  }
  if (typeof jti !== "string" || jti === "" || jti.length > 256) {
    throw refusal("jti is required and must be a string of 1 to 256 characters");
  }
  const fresh = await checkNonce(as, nonce);
  if (token !== undefined && claims.ath !== secretDigest(token)) {
    throw refusal("ath must be the base64url SHA-256 hash of the access token");
  }
  if (!await useOnce(as, "dpop", `${jkt}\n${jti}`, (iat + 2 * MAX_AGE_SECONDS) * 1000)) {
    throw refusal("jti was used before");
  }
  return { jkt, nonce: fresh };
}

/** 4, 5, 6: type, algorithm, and signature by the key in the header. */
async function checkSignature(as: DpopServer, header: Claims, proof: string): Promise<string> {
  const algorithms = acceptedAlgorithms(as);
  const alg = algorithms.find((each) => each === header.alg);
  if (!alg) throw refusal(`alg must be one of ${algorithms.join(", ")}`);
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

/** 9: the same URI after the normalization of RFC 3986 §6.2.2 and §6.2.3. */
function isSameTarget(htu: unknown, target: string): boolean {
  const url = typeof htu === "string" ? URL.parse(htu) : null;
  if (!url || url.username !== "" || url.password !== "") return false;
  return url.origin + url.pathname === new URL(target).href;
}

/** The current nonce, when that of the proof is the previous one. */
async function checkNonce(
  { secret, requireDpopNonce, now }: DpopServer,
  nonce: unknown,
): Promise<string | undefined> {
  if (!secret || nonce === undefined && !requireDpopNonce) return undefined;
  const secrets = await secret();
  const window = Math.floor(now() / 1000 / NONCE_LIFETIME_SECONDS);
  const current = makeNonce(secrets.current, window);
  if (typeof nonce === "string") {
    if (equalInConstantTime(nonce, current)) return undefined;
    const isRecent = [window, window - 1].some((each) =>
      secrets.accepted.some((key) => equalInConstantTime(nonce, makeNonce(key, each)))
    );
    if (isRecent) return current;
  }
  throw refusal("nonce must be the value of the DPoP-Nonce header field", "use_dpop_nonce", current);
}

/** Derived from the secret and the time, so that every instance can check it and none is stored. */
function makeNonce(secret: Uint8Array, window: number): string {
  return encodeBase64url(hmacSha256(secret, `dpop nonce:${window}`).subarray(0, 18));
}

function refusal(rule: string, code: OAuthErrorCode = "invalid_dpop_proof", nonce?: string): OAuthError {
  return new OAuthError(code, `Invalid DPoP proof: ${rule}`, {
    ...(nonce !== undefined && { fields: [["dpop-nonce", nonce]] }),
  });
}
