/**
 * `POST /oauth/device_authorization` (https://www.rfc-editor.org/rfc/rfc8628#section-3.1): gives a device a
 * device code, with which it polls the token endpoint, and a user code, which its user enters at `/device`.
 *
 * @module
 */
import { randomBytes, randomId, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { parseAuthorizationDetails } from "../grants/authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { authenticateClient } from "../clients/client_auth.ts";
import { OAuthError } from "../error.ts";
import { clientSince } from "../tokens/liveness.ts";
import { readParameters } from "../parameters.ts";
import { type DeviceCode, deviceCodeKey, userCodeKey } from "../records/grant_record.ts";
import { findResources } from "../grants/resource.ts";
import { RECORD_OVERHEAD_BYTES, STORAGE_LIMITS } from "../storage_quota.ts";
import { NO_STORE_JSON } from "./no_store.ts";
import { grantScope } from "../grants/scope.ts";

/** §6.1: letters that look different from each other and form no words. Eight of them have 34 bits. */
const USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const POLL_INTERVAL_SECONDS = 5;
/** How long a device code stays stored after its lifetime, so that the device learns how it ended (§3.5). */
const ENDED_CODE_RETENTION_MS = 10 * 60 * 1000;
/** Attempts to find a user code that is not in use. */
const MAX_USER_CODE_TRIES = 5;

/**
 * 200 with `{ device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval }` (§3.2).
 * @throws {OAuthError}
 */
export async function authorizeDevice(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await readParameters(request);
  const client = await authenticateClient(as, request, context, form);
  if (!client.grant_types.includes("urn:ietf:params:oauth:grant-type:device_code")) {
    throw new OAuthError(
      "unauthorized_client",
      "The client is not authorized to use the device authorization grant",
    );
  }
  const resource = findResources(as, form.all("resource"));
  const authorization_details = parseAuthorizationDetails(as, client, form.get("authorization_details"));
  const device_code = randomSecret("trivet_dc_");
  const key = deviceCodeKey(secretDigest(device_code));
  const now = as.now();
  const since = clientSince(as, client);
  const expires = now + as.deviceCodeLifetime * 1000 + ENDED_CODE_RETENTION_MS;
  const deviceRequest = {
    client_id: client.id,
    ...(since !== undefined && { client_since: since }),
    scope: grantScope(as, client, form.get("scope")),
    ...(resource && { resource }),
    ...(authorization_details && { authorization_details }),
    interval: POLL_INTERVAL_SECONDS,
    asked: 0,
    until: now + as.deviceCodeLifetime * 1000,
    status: "pending",
    grant: randomId(""),
  } as const;
  const { length } = JSON.stringify(deviceRequest);
  if (length > STORAGE_LIMITS.device_code.record) {
    const problem = `Request too large: the limit is ${STORAGE_LIMITS.device_code.record} bytes`;
    throw new OAuthError("invalid_request", problem, { status: 413 });
  }
  as.storageQuota.reserve("device_code", length + RECORD_OVERHEAD_BYTES, client, context);
  for (let attempt = 0; attempt < MAX_USER_CODE_TRIES; attempt++) {
    const letters = randomLetters(8);
    const user_code = letters.slice(0, 4) + "-" + letters.slice(4);
    const index = userCodeKey(secretDigest(letters));
    const value: DeviceCode = { ...deviceRequest, user_code };
    const isStored = await as.store.commit({
      check: [{ key: index, version: null }],
      set: [
        { key, value, expires },
        { key: index, value: key[1], expires: deviceRequest.until },
      ],
    });
    if (!isStored) continue;
    const verification_uri = as.origin + as.base + "/device";
    return respondJson(200, {
      device_code,
      user_code,
      verification_uri,
      verification_uri_complete: `${verification_uri}?user_code=${user_code}`,
      expires_in: as.deviceCodeLifetime,
      interval: POLL_INTERVAL_SECONDS,
    }, NO_STORE_JSON);
  }
  throw new OAuthError("temporarily_unavailable", "No free user code was found: try again");
}

/** The form in which user codes are compared: upper-case letters only (§6.1). */
export function canonicalUserCode(typed: string): string {
  return typed.toUpperCase().replace(/[^A-Z]/g, "");
}

/** Letters of {@linkcode USER_CODE_LETTERS}, uniformly distributed. */
function randomLetters(count: number): string {
  let letters = "";
  // 240 is the largest multiple of 20 in a byte: higher values would make some letters more likely.
  while (letters.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < 240 && letters.length < count) letters += USER_CODE_LETTERS[byte % USER_CODE_LETTERS.length];
    }
  }
  return letters;
}
