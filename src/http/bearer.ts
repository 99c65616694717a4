/**
 * Bearer tokens on requests (RFC 6750): reading the token, and the challenge for a request without a valid one.
 *
 * @module
 */
import type { Fields } from "./response.ts";

/** What a DPoP challenge has beside the error (RFC 9449 sections 7.1 and 9). */
export interface DpopChallenge {
  /** The signature algorithms that are accepted in proofs. */
  readonly algs: readonly string[];
  /** The nonce that the next proof must contain. */
  readonly nonce?: string | undefined;
}

/** The error of credentials that are not valid (RFC 6750 section 3.1, RFC 9449 section 7.1). */
export class TokenRefusal {
  readonly error: "invalid_token" | "invalid_dpop_proof" | "use_dpop_nonce";
  readonly description: string;
  /** What the next proof must be; absent where the token needs none. */
  readonly dpop: DpopChallenge | undefined;

  constructor(error: TokenRefusal["error"], description: string, dpop?: DpopChallenge) {
    this.error = error;
    this.description = description;
    this.dpop = dpop;
  }

  /** The `WWW-Authenticate` field, and `DPoP-Nonce` where there is a nonce. */
  challenge(members: Readonly<Record<string, string | undefined>> = {}): Fields {
    const value = bearerChallenge(
      {
        error: this.error,
        error_description: this.description,
        ...members,
        algs: this.dpop?.algs.join(" "),
      },
      this.dpop ? "DPoP" : "Bearer",
    );
    return [
      ["www-authenticate", value],
      ...(this.dpop?.nonce === undefined ? [] : [["dpop-nonce", this.dpop.nonce] as const]),
    ];
  }
}

/** The token of the `Authorization` field (RFC 6750 section 2.1); `undefined` without the Bearer scheme. */
export function readBearer(request: Request): string | undefined {
  const field = request.headers.get("authorization");
  if (field === null) return undefined;
  return parseBearer(field);
}

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** The token in this value of the `Authorization` field; `undefined` without the Bearer scheme. */
export function parseBearer(field: string): string | undefined {
  return BEARER.exec(field)?.[1];
}

/**
 * The value of a `WWW-Authenticate` field. Parameters that are `undefined` are left out. If none remains, `realm` is sent,
 * because RFC 6750 section 3 requires at least one parameter.
 */
export function bearerChallenge(
  members: Readonly<Record<string, string | undefined>>,
  scheme: "Bearer" | "DPoP" = "Bearer",
): string {
  const parts = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${value!.replace(/[^\x20-\x7e]|["\\]/g, "")}"`);
  return `${scheme} ${parts.length > 0 ? parts.join(", ") : 'realm="trivet"'}`;
}
