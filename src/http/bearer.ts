/**
 * Bearer tokens on requests (https://www.rfc-editor.org/rfc/rfc6750): reading one, and refusing without one.
 * Also the ports by which a service learns who calls: it never knows how a token is made.
 *
 * @module
 */
import type { Fields } from "./response.ts";
import type { RequestContext } from "./service.ts";

/** Who is calling, and what they may do. */
export interface Principal {
  /** The user for whom the call is made; absent when a client or a key acts for itself. */
  readonly subject?: string;
  /** The OAuth client or API key that makes the call. */
  readonly client?: string;
  readonly scopes: ReadonlySet<string>;
  /** Whose skills and data the call may touch. */
  readonly workspace: string;
  /** What the token was issued for (RFC 8707); absent when it is good for the whole server. */
  readonly audience?: readonly string[];
  /** When the token ends, in milliseconds since the epoch. */
  readonly expires?: number;
  /** When the user signed in, in seconds since the epoch, and how (RFC 9470 §6). */
  readonly authTime?: number;
  readonly acr?: string;
  /** RFC 9396: what the user allowed beyond scopes. */
  readonly authorizationDetails?: readonly Readonly<Record<string, unknown>>[];
  /** Whether the token or key is still good: asked now and then by what stays open longer than a request. */
  readonly isStillValid?: () => Promise<boolean>;
}

/** What a DPoP challenge tells beside the error (RFC 9449 §7.1 and §9). */
export interface DpopChallenge {
  /** The algorithms of proofs that are taken. */
  readonly algs: readonly string[];
  /** What the next proof must hold. */
  readonly nonce?: string | undefined;
}

/** Credentials that do not hold, and what to say of them (RFC 6750 §3.1, RFC 9449 §7.1). */
export class TokenRefusal {
  readonly error: "invalid_token" | "invalid_dpop_proof" | "use_dpop_nonce";
  readonly description: string;
  /** What the next proof must be, where the token came with one or should have. */
  readonly dpop: DpopChallenge | undefined;

  constructor(error: TokenRefusal["error"], description: string, dpop?: DpopChallenge) {
    this.error = error;
    this.description = description;
    this.dpop = dpop;
  }

  /** The `WWW-Authenticate` field and what comes with it. */
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

/** Who a bearer token stands for; `undefined` when it is unknown, expired or revoked. */
export type VerifyToken = (token: string) => Promise<Principal | undefined>;

/** Who makes the request: `"none"` without credentials. Given to the services by whoever composes them. */
export type Authenticate = (
  request: Request,
  context?: RequestContext,
) => Promise<Principal | "none" | TokenRefusal>;

/** The token of the `Authorization` field (RFC 6750 §2.1); `undefined` without the Bearer scheme. */
export function readBearer(request: Request): string | undefined {
  const field = request.headers.get("authorization");
  if (field === null) return undefined;
  return parseBearer(field);
}

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** The token of this `Authorization` field. */
export function parseBearer(field: string): string | undefined {
  return BEARER.exec(field)?.[1];
}

/**
 * The value of a `WWW-Authenticate` field. Members that are `undefined` are left out; where none is left there is a realm,
 * since RFC 6750 §3 has one parameter at least.
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
