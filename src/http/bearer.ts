/**
 * Bearer tokens on requests (https://www.rfc-editor.org/rfc/rfc6750): reading one, and refusing without one.
 * Also the ports by which a service learns who calls: it never knows how a token is made.
 *
 * @module
 */

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
}

/** Who a bearer token stands for; `undefined` when it is unknown, expired or revoked. */
export type VerifyToken = (token: string) => Promise<Principal | undefined>;

/**
 * Who makes the request: `"none"` without credentials, `"invalid"` when they do not hold.
 * Given to the services by whoever composes them.
 */
export type Authenticate = (request: Request) => Promise<Principal | "none" | "invalid">;

/** The token of the `Authorization` field (RFC 6750 §2.1); `undefined` without the Bearer scheme. */
export function readBearer(request: Request): string | undefined {
  const field = request.headers.get("authorization");
  if (field === null) return undefined;
  return /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(field)?.[1];
}

/** The value of a `WWW-Authenticate` field: RFC 6750 §3. Members that are `undefined` are left out. */
export function bearerChallenge(members: Readonly<Record<string, string | undefined>>): string {
  const parts = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${value!.replace(/[^\x20-\x7e]|["\\]/g, "")}"`);
  return parts.length > 0 ? `Bearer ${parts.join(", ")}` : "Bearer";
}
