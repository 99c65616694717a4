/**
 * Authorization requests that the server keeps under a name: those that clients push
 * (https://www.rfc-editor.org/rfc/rfc9126#section-2.2), and those that wait for the user to sign in again.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { type Parameters, parseParameters } from "../parameters.ts";
import { type Client, type PushedRequest, pushedRequestKey } from "../records.ts";

const PREFIX = "urn:ietf:params:oauth:request_uri:";

/** A request that was kept. */
export interface KeptRequest {
  readonly parameters: Parameters;
  readonly dpop_jkt: string | undefined;
  readonly login_after: number | undefined;
  /** The digest of the name by which it came first: what a code uses up. */
  readonly pushed: string;
}

/** Keeps a request; its name is the value of `request_uri`. */
export async function keepRequest(as: AuthorizationServer, request: PushedRequest): Promise<string> {
  const secret = randomSecret("");
  const key = pushedRequestKey(secretDigest(secret));
  await as.store.commit({
    set: [{ key, value: request, expires: as.now() + as.pushedRequestLifetime * 1000 }],
  });
  return PREFIX + secret;
}

/**
 * The request of this name. It stays until the user has answered, so that a page may be reloaded.
 * @throws {OAuthError} invalid_request_uri when there is none, or it is another client's
 */
export async function findRequest(
  as: AuthorizationServer,
  client: Client,
  request_uri: string,
): Promise<KeptRequest> {
  const pushed = request_uri.startsWith(PREFIX) ? secretDigest(request_uri.slice(PREFIX.length)) : undefined;
  const kept = pushed === undefined
    ? undefined
    : (await as.store.get<PushedRequest>(pushedRequestKey(pushed)))?.value;
  if (!kept || kept.client_id !== client.id) {
    throw new OAuthError(
      "invalid_request_uri",
      "request_uri is unknown, already used or expired: push the request again",
    );
  }
  const { parameters, dpop_jkt, login_after } = kept;
  return { parameters: parseParameters(parameters), dpop_jkt, login_after, pushed: kept.pushed ?? pushed! };
}
