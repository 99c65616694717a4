/**
 * The last step of every grant: mint the access token, store it, report it, and build the answer
 * (https://www.rfc-editor.org/rfc/rfc6749#section-5.1).
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { isDoneDespite } from "../../store/retry.ts";
import type { Check, Entry, Put } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "./token_response.ts";
import type { Client, GrantType } from "../records/client_record.ts";
import { type Grant, grantKey } from "../records/grant_record.ts";
import type { Mutable } from "../records/token_record.ts";
import { type AccessTokenRequest, mintAccessToken, type MintedAccessToken } from "../tokens/access_token.ts";

/** What a grant with a family of tokens adds to the commit that stores the access token. */
export interface FamilyChange {
  /** The record that the request uses. The commit fails when it has changed since it was read. */
  readonly used: Entry<unknown>;
  /** When the grant ends, in milliseconds since the epoch: no access token lives longer. */
  readonly until: number;
  /** A further check of the commit. */
  readonly check?: Check | undefined;
  /** The grant that the commit starts, and when; absent for one that exists. */
  readonly starts?: { readonly grant: string; readonly created: number } | undefined;
  /** Absent when the client may not refresh. */
  readonly refresh_token: string | undefined;
  /** The value of an opaque access token. @default a random one */
  readonly access_token?: string;
  /** Makes the ID token to be issued with this access token (OpenID Connect); absent when there is none. */
  readonly toIdToken?: ((access_token: string) => Promise<string>) | undefined;
  /** The records of the family after this request. Returns a promise only where one is needed. */
  toRecords(minted: MintedAccessToken): Put[] | Promise<Put[]>;
}

/**
 * Issues an access token, and a refresh token where `family` has one. All records are stored in one commit.
 * @param until the latest time at which the access token may expire, in milliseconds since the epoch
 * @returns `undefined` when the record that `family` uses has changed: then nothing was issued
 * @throws {OAuthError} invalid_target for resources whose access tokens differ in format
 */
export function issueTokens(
  as: AuthorizationServer,
  call: TokenCall,
  grant_type: GrantType,
  request: AccessTokenRequest,
  family?: undefined,
  until?: number,
): Promise<TokenResponse>;
export function issueTokens(
  as: AuthorizationServer,
  call: TokenCall,
  grant_type: GrantType,
  request: AccessTokenRequest,
  family: FamilyChange,
): Promise<TokenResponse | undefined>;
export async function issueTokens(
  as: AuthorizationServer,
  { client }: TokenCall,
  grant_type: GrantType,
  request: AccessTokenRequest,
  family?: FamilyChange,
  until?: number,
): Promise<TokenResponse | undefined> {
  const minting = mintAccessToken(as, client, request, family?.access_token, family?.until ?? until);
  const minted = minting instanceof Promise ? await minting : minting;
  const { access_token, put, expires_in } = minted;
  // Before the commit, so that a failure leaves the code or token unused.
  const id_token = family?.toIdToken && await family.toIdToken(access_token);
  if (family) {
    const { used: { key, version }, check } = family;
    const records = family.toRecords(minted);
    const set = records instanceof Promise ? await records : records;
    if (put) set.push(put);
    const checks = check ? [{ key, version }, check] : [{ key, version }];
    try {
      if (!await as.store.commit({ check: checks, set })) return undefined;
    } catch (error) {
      // Otherwise the retry of the client is a replay of the code.
      if (!await isStored(as, error, put, family)) throw error;
    }
  } else if (put) {
    await as.store.commit({ set: [put] });
  }
  reportIssued(as, client, grant_type, request.user);
  const { cnf, scope, authorization_details } = request;
  const token_type = tokenTypeOf(cnf);
  const refresh_token = family?.refresh_token;
  const response: Mutable<TokenResponse> = refresh_token === undefined
    ? { access_token, token_type, expires_in, scope }
    : { access_token, token_type, expires_in, refresh_token, scope };
  if (id_token !== undefined) response.id_token = id_token;
  if (authorization_details) response.authorization_details = authorization_details;
  return response;
}

/** Whether the tokens are stored, though the commit failed. */
async function isStored(
  { store }: AuthorizationServer,
  error: unknown,
  put: Put | undefined,
  { starts, refresh_token }: FamilyChange,
): Promise<boolean> {
  if (put) return await isDoneDespite(error, store, put.key);
  if (starts === undefined) return false;
  // A signed access token is no record, and a pending grant, which was not used, has the key of the new one.
  const digest = refresh_token && secretDigest(refresh_token);
  return await isDoneDespite<Grant>(
    error,
    store,
    grantKey(starts.grant),
    ({ refresh, used }) => refresh?.digest === digest && used === starts.created,
  );
}

/** Tells the observer that tokens were given to the client. */
export function reportIssued(
  { observe }: AuthorizationServer,
  { id: client }: Client,
  grant_type: GrantType,
  user: string | undefined,
): void {
  if (user === undefined) observe({ type: "token_issued", grant_type, client });
  else observe({ type: "token_issued", grant_type, client, user });
}
