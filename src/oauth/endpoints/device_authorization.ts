/**
 * `POST /oauth/device_authorization` (https://www.rfc-editor.org/rfc/rfc8628#section-3.1): a device without a browser gets
 * a code for itself, and a short one for its user to type elsewhere.
 *
 * @module
 */
import { randomBytes, randomId, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { jsonFields, respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { parseAuthorizationDetails } from "../grants/authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { authenticateClient } from "../clients/client_auth.ts";
import { OAuthError } from "../error.ts";
import { clientSince } from "../tokens/liveness.ts";
import { readParameters } from "../parameters.ts";
import { type DeviceCode, deviceCodeKey, userCodeKey } from "../records.ts";
import { findResources } from "../grants/resource.ts";
import { RECORD_OVERHEAD_BYTES, STORAGE_LIMITS } from "../room.ts";
import { grantScope } from "../grants/scope.ts";

/** Letters that nobody takes for another, and that make no words (§6.1): eight of them are 34 bits. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
/** Seconds between two questions of the device, to begin with. */
const INTERVAL = 5;
/** How long an ended code is remembered, in milliseconds, so that the device hears how it ended. */
const MEMORY = 10 * 60 * 1000;
/** Fresh codes tried when one is taken. */
const TRIES = 5;
const FIELDS = jsonFields(["cache-control", "no-store"], ["pragma", "no-cache"]);

/** `{ device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval }`. @throws {OAuthError} */
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
  const expires = now + as.deviceCodeLifetime * 1000 + MEMORY;
  const asked = {
    client_id: client.id,
    ...(since !== undefined && { client_since: since }),
    scope: grantScope(as, client, form.get("scope")),
    ...(resource && { resource }),
    ...(authorization_details && { authorization_details }),
    interval: INTERVAL,
    asked: 0,
    until: now + as.deviceCodeLifetime * 1000,
    status: "pending",
    grant: randomId(""),
  } as const;
  const { length } = JSON.stringify(asked);
  if (length > STORAGE_LIMITS.device_code.record) {
    const problem = `Request too large: the limit is ${STORAGE_LIMITS.device_code.record} bytes`;
    throw new OAuthError("invalid_request", problem, { status: 413 });
  }
  as.room.take("device_code", length + RECORD_OVERHEAD_BYTES, client, context);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const letters = randomLetters(8);
    const user_code = letters.slice(0, 4) + "-" + letters.slice(4);
    const index = userCodeKey(secretDigest(letters));
    const value: DeviceCode = { ...asked, user_code };
    const made = await as.store.commit({
      check: [{ key: index, version: null }],
      set: [
        { key, value, expires },
        { key: index, value: key[1], expires: asked.until },
      ],
    });
    if (!made) continue;
    const verification_uri = as.origin + as.base + "/device";
    return respondJson(200, {
      device_code,
      user_code,
      verification_uri,
      verification_uri_complete: `${verification_uri}?user_code=${user_code}`,
      expires_in: as.deviceCodeLifetime,
      interval: INTERVAL,
    }, FIELDS);
  }
  throw new OAuthError("temporarily_unavailable", "No free user code was found: try again");
}

/** What a person typed, as the code is kept: without case, hyphens and blanks. */
export function canonicalUserCode(typed: string): string {
  return typed.toUpperCase().replace(/[^A-Z]/g, "");
}

/** Letters, each as likely as the others. */
function randomLetters(count: number): string {
  let letters = "";
  // 240 is the largest multiple of 20 in a byte: higher ones would favour some letters.
  while (letters.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < 240 && letters.length < count) letters += LETTERS[byte % LETTERS.length];
    }
  }
  return letters;
}
