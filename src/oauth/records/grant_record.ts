/**
 * What is stored of a grant, and of the codes from which it comes.
 *
 * @module
 */
import type { Key } from "../../store/store.ts";
import type {
  Authentication,
  Authorization,
  AuthorizationDetail,
  AuthorizationTransaction,
  GrantedOpenId,
} from "./authorization_record.ts";
import type { Confirmation } from "./token_record.ts";

/** Written at consent. A consumed one is kept for a while, so that a replay is recognized and ends its grant. */
export interface Code {
  readonly client_id: string;
  readonly client_since?: number;
  readonly user: string;
  readonly grant: string;
  /** Of a consumed code, so that a replay without the verifier revokes nothing. */
  readonly code_challenge?: string;
  /** What it can be redeemed for, and until when; absent once the code is consumed. */
  readonly unspent?: Pick<AuthorizationTransaction, "request" | "authentication"> & {
    readonly until: number;
    /** When the user allowed it; absent in codes of earlier versions. */
    readonly given?: number;
  };
}

/** Written by `device_authorization.ts`, answered by `device_consent.ts`; a spent one stays a while, as a code does. */
export type DeviceCode =
  | DeviceRequest & { readonly status: "pending" }
  | DeviceRequest & { readonly status: "denied" }
  | ApprovedDeviceRequest & { readonly status: "approved" }
  | ApprovedDeviceRequest & { readonly status: "spent" };

interface DeviceRequest extends Authorization {
  readonly user_code: string;
  /** Seconds that the client must wait between two questions: RFC 8628 §3.5. */
  readonly interval: number;
  readonly asked: number;
  readonly until: number;
  readonly grant: string;
}

export interface ApprovedDeviceRequest extends DeviceRequest {
  readonly user: string;
  readonly authentication: Authentication;
  readonly openid?: GrantedOpenId;
  /** When the user allowed it; absent in codes of earlier versions. */
  readonly given?: number;
}

/**
 * What a user allowed a client: the root of a family of tokens. Written with the first of them; before, while a device code
 * or a code with authorization details waits to be redeemed, for the user to see and take back. Removing it ends all of
 * them at once, because a token is valid only while its grant exists.
 */
export interface Grant extends Authorization {
  readonly user: string;
  readonly created: number;
  readonly authentication?: Authentication;
  readonly openid?: GrantedOpenId;
  /** RFC 9449 §5, RFC 8705 §4: refresh tokens of a public client are good with this key or certificate only. */
  readonly cnf?: Confirmation;
  /** The client was confidential, and must authenticate even when its metadata later says that it is public. */
  readonly confidential?: true;
  /** When it was last written with new tokens; absent in grants of earlier versions. */
  readonly used?: number;
  /** Until when its index record lives (`user_grants.ts`). */
  readonly listed?: number;
  /** No refresh extends the grant beyond this time. */
  readonly until: number;
  /** The current refresh token; absent when the client may not refresh. */
  readonly refresh?: { readonly digest: string; readonly expires: number };
  readonly previous?: Rotation;
  readonly revoked?: Revocations;
}

/**
 * When a user took back access: what the user allowed up to then is refused, also when no client has redeemed it yet. Written
 * by `end_grants.ts`; ended by its lifetime.
 */
export interface EndedGrants {
  /** Of every client. */
  readonly before: number;
  /** Of one client each, by the digest of its id; oldest first. */
  readonly clients: readonly (readonly [digest: string, ended: number])[];
}

/** Revoked signed access tokens: each by `jti` and time of issue, and all that were issued up to `before`. */
export interface Revocations {
  readonly before: number;
  readonly tokens: readonly (readonly [jti: string, issued: number])[];
}

/**
 * The previous refresh token, and the response that a retry gets until `until`. The tokens are derived from it and the
 * salt, except a signed access token, which is sealed under it.
 */
export interface Rotation {
  readonly digest: string;
  readonly salt: string;
  readonly until: number;
  readonly answer: {
    readonly token_type: "Bearer" | "DPoP";
    readonly expires_in: number;
    readonly scope: string;
    readonly authorization_details?: readonly AuthorizationDetail[];
  };
  readonly sealed?: string;
}

export const codeKey = (digest: string): Key => ["code", digest];
export const deviceCodeKey = (digest: string): Key => ["device_code", digest];
/** Leads from what the user types to the device's code. */
export const userCodeKey = (digest: string): Key => ["user_code", digest];
export const grantKey = (id: string): Key => ["grant", id];
/** The grants of a user (`user_grants.ts`). */
export const userGrantsPrefix = (user: string): Key => ["user_grant", user];
export const endedGrantsKey = (user: string): Key => ["ended_grants", user];
export const userGrantKey = (user: string, id: string): Key => [...userGrantsPrefix(user), id];
