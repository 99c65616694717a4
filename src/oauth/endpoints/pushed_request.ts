/**
 * Authorization requests that are stored under a `request_uri`: those that clients push
 * (https://www.rfc-editor.org/rfc/rfc9126#section-2.2), those that wait for a new login, and those of request objects that
 * wait for any login.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import { queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Put } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { type Parameters, parseParameters } from "../parameters.ts";
import { type PushedRequest, pushedRequestKey } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import { STORAGE_LIMITS } from "../storage_quota.ts";

const REQUEST_URI_PREFIX = "urn:ietf:params:oauth:request_uri:";

export interface StoredRequest {
  readonly parameters: Parameters;
  readonly dpop_jkt: string | undefined;
  /** Milliseconds since the epoch: the user must have signed in at this time or later. */
  readonly min_auth_time: number | undefined;
  /** The digest of the `request_uri` that the client sent. The record of this digest is removed with the user's answer. */
  readonly pushed: string;
  /** The parameters are those of a request object that the client signed (RFC 9101). */
  readonly signed: true | undefined;
}

/** Whether it is a `request_uri` of this server, and not the URL of a request object (RFC 9101). */
export function isPushedUri(request_uri: string): boolean {
  return request_uri.startsWith(REQUEST_URI_PREFIX);
}

/** Stores a request. @returns its `request_uri` */
export async function storeRequest(as: AuthorizationServer, request: PushedRequest): Promise<string> {
  const secret = randomSecret("");
  const key = pushedRequestKey(secretDigest(secret));
  const expires = as.now() + as.pushedRequestLifetime * 1000;
  await storeWithPushed(as, request.pushed, { key, value: request, expires });
  return REQUEST_URI_PREFIX + secret;
}

/**
 * Stores what a pushed request led to: the page that asks the user, or the copy that waits for a login. The record of the
 * pushed request is kept as long, since the request is answered once (RFC 9126 section 4); it cannot be presented longer.
 */
export async function storeWithPushed(
  { store }: AuthorizationServer,
  pushed: string | undefined,
  put: Put & { readonly expires: number },
): Promise<void> {
  await retryLostRaces(async () => {
    const kept = pushed === undefined ? undefined : await store.get<PushedRequest>(pushedRequestKey(pushed));
    if (!kept?.expires || kept.expires >= put.expires) return await store.commit({ set: [put] });
    const { key, version, value, expires: until } = kept;
    const longer = { key, value: { until, ...value }, expires: put.expires };
    return await store.commit({ check: [{ key, version }], set: [put, longer] }) || LOST_RACE;
  });
}

/**
 * The request of this `request_uri`. It stays stored until the user answers, so that the page can be reloaded.
 * @throws {OAuthError} invalid_request_uri when it is unknown, answered, expired or of another client
 */
export async function getStoredRequest(
  as: AuthorizationServer,
  client: Client,
  request_uri: string,
): Promise<StoredRequest> {
  const digest = secretDigest(request_uri.slice(REQUEST_URI_PREFIX.length));
  const stored = isPushedUri(request_uri) ? await readRequest(as, digest) : undefined;
  if (!stored || stored.client_id !== client.id) {
    throw new OAuthError(
      "invalid_request_uri",
      "request_uri is unknown, already used or expired: push the request again",
    );
  }
  const { parameters, dpop_jkt, min_auth_time, pushed = digest, signed } = stored;
  return { parameters: parseParameters(parameters), dpop_jkt, min_auth_time, pushed, signed };
}

/**
 * The query with which the user comes back to a request after the login page. The parameters of a request object are stored,
 * because by then it may have expired, and its URL may have been for one use (RFC 9101 section 5.2).
 */
export async function toReturnQuery(
  as: AuthorizationServer,
  browser: Request,
  context: RequestContext,
  { client, parameters, pushed, signed }: {
    readonly client: Client;
    readonly parameters: Parameters;
    readonly pushed?: string | undefined;
    readonly signed?: true | undefined;
  },
): Promise<string> {
  const query = queryOf(browser.url);
  // A stored request counts as pushed.
  if (!signed || pushed !== undefined || mustPush(as, client)) return query;
  const request: PushedRequest = { client_id: client.id, parameters: parameters.text, signed };
  const { length } = JSON.stringify(request);
  if (length > STORAGE_LIMITS.pushed_request.record) return query;
  try {
    // Anyone can repeat the request of any client.
    as.storageQuota.reserve("pushed_request", length, undefined, context);
  } catch (error) {
    if (error instanceof OAuthError) return query;
    throw error;
  }
  return toQuery(client, await storeRequest(as, request));
}

/** The query of a stored request. */
export function toQuery({ id: client_id }: Client, request_uri: string): string {
  return new URLSearchParams({ client_id, request_uri }).toString();
}

/** Whether the client must push its requests (RFC 9126 section 6). */
export function mustPush({ requirePushedRequests }: AuthorizationServer, client: Client): boolean {
  return requirePushedRequests || client.require_pushed_authorization_requests === true;
}

/** Whether this request waits for a new login: one that was made after it was stored. */
export async function waitsForNewLogin(as: AuthorizationServer, request_uri: string): Promise<boolean> {
  const digest = secretDigest(request_uri.slice(REQUEST_URI_PREFIX.length));
  return (await readRequest(as, digest))?.min_auth_time !== undefined;
}

/** A request that may be presented. */
async function readRequest(as: AuthorizationServer, digest: string): Promise<PushedRequest | undefined> {
  const stored = await as.store.get<PushedRequest>(pushedRequestKey(digest));
  return stored && (stored.value.until ?? Infinity) > as.now() ? stored.value : undefined;
}
