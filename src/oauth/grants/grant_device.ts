/**
 * The device authorization grant (https://www.rfc-editor.org/rfc/rfc8628#section-3.4): the device polls until its user
 * has answered in a browser.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { compareAndSet, type Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import type { TokenCall, TokenResponse } from "./token_response.ts";
import { type ApprovedDeviceRequest, type DeviceCode, deviceCodeKey } from "../records/grant_record.ts";
import { findLiveUser, isOfClient } from "../tokens/liveness.ts";
import { findRefreshKey } from "../tokens/refresh_token.ts";
import { grantKeys } from "../users/user_grants.ts";
import { startGrant } from "./grant.ts";

const REFUSED = "The device_code is invalid or already used, or was issued to another client";
/** Added to the polling interval of a device that polls too fast (§3.5). */
const SLOW_DOWN_SECONDS = 5;

/** Access and refresh token, once the user has approved. @throws {OAuthError} the codes of §3.5 */
export async function grantDevice(as: AuthorizationServer, call: TokenCall): Promise<TokenResponse> {
  const { client, form } = call;
  const secret = form.get("device_code");
  if (!secret) throw new OAuthError("invalid_request", "device_code is missing");
  const entry = await as.store.get<DeviceCode>(deviceCodeKey(secretDigest(secret)));
  const device = entry?.value;
  const given = device && "given" in device ? device.given : undefined;
  if (!device || !await isOfClient(as, device, client, given)) throw new OAuthError("invalid_grant", REFUSED);
  if (device.status === "spent") return await refuseReplay(as, device);
  if (device.status === "denied") {
    throw new OAuthError("access_denied", "The user denied the authorization request", { status: 400 });
  }
  if (device.until <= as.now()) {
    throw new OAuthError(
      "expired_token",
      "The device_code has expired. Send a new device authorization request",
    );
  }
  if (device.status === "pending") return await refusePending(as, entry);
  const owner = await findLiveUser(as, device.user, device.given);
  if (!owner) throw new OAuthError("invalid_grant", REFUSED);
  const key = findRefreshKey(as);
  const response = await startGrant(as, call, key instanceof Promise ? await key : key, {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    code: entry,
    consumed: { key: entry.key, value: { ...device, status: "spent" }, expires: entry.expires },
    grant: device.grant,
    user: device.user,
    owner,
    authorization: device,
    authentication: device.authentication,
    given: device.given,
    openid: device.openid,
  });
  return response ?? await refuseReplay(as, device);
}

/** The user has not answered. @throws {OAuthError} authorization_pending or slow_down */
async function refusePending(
  as: AuthorizationServer,
  { key, version, value, expires }: Entry<DeviceCode>,
): Promise<never> {
  const isEarly = as.now() - value.asked < value.interval * 1000;
  const interval = isEarly ? value.interval + SLOW_DOWN_SECONDS : value.interval;
  // When the commit fails, another request was counted or the user has answered: the next poll sees it.
  await compareAndSet(as.store, key, version, { ...value, interval, asked: as.now() }, expires);
  if (isEarly) {
    throw new OAuthError("slow_down", `Polling too fast. Wait ${interval} seconds between requests`);
  }
  throw new OAuthError(
    "authorization_pending",
    "The user has not completed the authorization request yet. Poll again",
  );
}

/** As with authorization codes: a device code that is used twice was stolen, so its tokens are revoked. */
async function refuseReplay(
  as: AuthorizationServer,
  { grant, client_id, user }: ApprovedDeviceRequest,
): Promise<never> {
  await as.store.commit({ remove: grantKeys(user, grant) });
  as.observe({ type: "code_replayed", client: client_id, user });
  throw new OAuthError("invalid_grant", REFUSED);
}
