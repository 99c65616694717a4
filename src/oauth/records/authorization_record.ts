/**
 * What a client asks for and a user allows, and the requests that wait for an answer.
 *
 * @module
 */
import type { JwsAlgorithm } from "../../crypto/jws.ts";
import type { Key } from "../../store/store.ts";

/** How the authorization response is sent, where it is not in the query: `response_modes/response_mode.ts`. */
export type ResponseMode = "form_post" | "query.jwt" | "fragment.jwt" | "form_post.jwt";

/** What an authorization request asks for, checked. What it and the grant have in common is named alike in both. */
export interface AuthorizationRequest extends Authorization {
  readonly redirect_uri: string;
  /** Whether the client sent `redirect_uri`, and must send it again (RFC 6749 §4.1.3). */
  readonly redirect_uri_sent: boolean;
  readonly state?: string;
  /** Absent for `query`. */
  readonly response_mode?: ResponseMode;
  /** The algorithm of a signed response (JARM). */
  readonly response_alg?: JwsAlgorithm;
  readonly code_challenge?: string;
  /** RFC 9449 §10: the only key that may redeem the code. */
  readonly dpop_jkt?: string;
  /** Present for a request with the scope `openid`. */
  readonly openid?: OpenIdRequest;
}

/** What lasts of an OpenID Connect authentication: its grant gets ID tokens. */
export interface GrantedOpenId {
  readonly claims?: ClaimsRequest;
  /**
   * The scopes that were allowed for `claims` only, beside the scope of the grant: a claim is released with the scope that it
   * belongs to. Space-separated; absent when there are none, and in records of earlier versions.
   */
  readonly claim_scope?: string;
  /** The login session, named for this client. */
  readonly sid?: string;
}

/** OpenID Connect Core §3.1.2.1 */
export interface OpenIdRequest extends GrantedOpenId {
  readonly nonce?: string;
}

/** The parameter `claims` (OpenID Connect Core §5.5), as far as this server knows the claims. */
export interface ClaimsRequest {
  readonly userinfo?: ClaimRequests;
  readonly id_token?: ClaimRequests;
}

export type ClaimRequests = Readonly<Record<string, ClaimRequest>>;

export interface ClaimRequest {
  readonly essential?: boolean;
  /** `value` and `values` of the request. */
  readonly values?: readonly string[];
}

/** What a user allows a client. */
export interface Authorization {
  readonly client_id: string;
  /** When a client of the store was registered, in milliseconds: an id that is registered again is another client's. */
  readonly client_since?: number;
  readonly scope: string;
  /** RFC 8707: the resources of its tokens; absent means this server. */
  readonly resource?: readonly string[];
  /** RFC 9396 */
  readonly authorization_details?: readonly AuthorizationDetail[];
}

/** RFC 9396 §2: an object whose `type` defines its other members. */
export interface AuthorizationDetail {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** When and how the user signed in: RFC 9470 §6. */
export interface Authentication {
  /** Seconds since the epoch. */
  readonly auth_time: number;
  readonly acr: string;
  readonly amr?: readonly string[];
}

/** Parameters that a client pushed (RFC 9126), or that wait for a login. Written by `par.ts`; ended by the user's answer. */
export interface PushedRequest {
  readonly client_id: string;
  /** As a query. */
  readonly parameters: string;
  /** RFC 9449 §10.1 */
  readonly dpop_jkt?: string;
  /** Milliseconds since the epoch: the user must have signed in at this time or later. */
  readonly min_auth_time?: number;
  /** The digest of the name that the client was given for it, when it waits for a login under another one. */
  readonly pushed?: string;
  /** Until when it may be presented, in milliseconds since the epoch: what it led to keeps the record longer. */
  readonly until?: number;
  /** The parameters are those of a request object that the client signed (RFC 9101). */
  readonly signed?: true;
}

/** A request that waits for the user's decision. Written by `consent/transaction.ts`; ended by the decision. */
export type Transaction = TransactionByKind[keyof TransactionByKind];

export interface TransactionByKind {
  readonly authorization: AuthorizationTransaction;
  readonly device: DeviceTransaction;
}

interface SessionTransaction {
  /** The origin of the session to which the page was shown. */
  readonly session: string;
  readonly user: string;
  readonly authentication: Authentication;
}

export interface AuthorizationTransaction extends SessionTransaction {
  readonly kind: "authorization";
  readonly request: AuthorizationRequest;
  /** The digest of the pushed request, which ends with the transaction. */
  readonly pushed?: string;
  /** Of the client that the page showed, as in {@linkcode Consent}; absent before there is a page, and in earlier versions. */
  readonly fingerprint?: string;
}

export interface DeviceTransaction extends SessionTransaction {
  readonly kind: "device";
  /** The digest of the device code. */
  readonly device: string;
  /** What the page showed; absent in transactions of earlier versions. */
  readonly scope?: string;
}

/** What a user allowed a client before at one resource, so that only what is new is asked. Written at consent; ended by its lifetime. */
export interface Consent {
  readonly scope: string;
  /** Of what the client said of itself then: another redirect URI or key is another client. */
  readonly fingerprint: string;
  readonly given: number;
}

export const pushedRequestKey = (digest: string): Key => ["pushed_request", digest];
export const transactionKey = (digest: string): Key => ["transaction", digest];
export const consentsPrefix = (user: string, client: string): Key => ["consent", user, client];
/** Of one resource: a scope that was allowed at one is not allowed at another. */
export const consentKey = (user: string, client: string, resource: string): Key => [
  ...consentsPrefix(user, client),
  resource,
];
