/**
 * The device grant (https://www.rfc-editor.org/rfc/rfc8628#section-3.4): the device asks again and again until its user has
 * answered elsewhere.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { compareAndSet, type Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { startGrant } from "./grant.ts";
import { findLiveUser, isOfClient } from "../tokens/liveness.ts";
import { type ApprovedDeviceRequest, type DeviceCode, deviceCodeKey, grantKey } from "../records.ts";
import type { TokenCall, TokenResponse } from "../endpoints/token_response.ts";

const REFUSED = "The device_code is invalid or already used, or was issued to another client";
/** Seconds that a device which asks too soon must wait longer from then on (§3.5). */
const SLOWER = 5;

/** Access and refresh token, once the user allowed it. @throws {OAuthError} the codes of §3.5 */
export async function grantDevice(as: AuthorizationServer, call: TokenCall): Promise<TokenResponse> {
  const { client, form } = call;
  const secret = form.get("device_code");
  if (!secret) throw new OAuthError("invalid_request", "device_code is missing");
  const entry = await as.store.get<DeviceCode>(deviceCodeKey(secretDigest(secret)));
  if (!entry || !isOfClient(as, entry.value, client)) throw new OAuthError("invalid_grant", REFUSED);
  const device = entry.value;
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
  if (device.status === "pending") return await wait(as, entry);
  const owner = await findLiveUser(as, device.user);
  if (!owner) throw new OAuthError("invalid_grant", REFUSED);
  const { response, set } = await startGrant(as, call, {
    grant: device.grant,
    user: device.user,
    owner,
    authorization: device,
    authentication: device.authentication,
  });
  const spent = { key: entry.key, value: { ...device, status: "spent" }, expires: entry.expires };
  if (!await as.store.commit({ check: [{ key: entry.key, version: entry.version }], set: [spent, ...set] })) {
    return await refuseReplay(as, device);
  }
  as.observe({
    type: "token_issued",
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    client: client.id,
    user: device.user,
  });
  return response;
}

async function wait(
  as: AuthorizationServer,
  { key, version, value, expires }: Entry<DeviceCode>,
): Promise<never> {
  const isEarly = as.now() - value.asked < value.interval * 1000;
  const interval = isEarly ? value.interval + SLOWER : value.interval;
  // Of devices that ask at once one is counted, and of a race with the user the user's answer wins.
  await compareAndSet(as.store, key, version, { ...value, interval, asked: as.now() }, expires);
  if (isEarly) {
    throw new OAuthError("slow_down", `Polling too fast. Wait ${interval} seconds between requests`);
  }
  throw new OAuthError(
    "authorization_pending",
    "The user has not completed the authorization request yet. Poll again",
  );
}

/** As with codes: what comes twice has been seen by somebody else. */
async function refuseReplay(
  as: AuthorizationServer,
  { grant, client_id, user }: ApprovedDeviceRequest,
): Promise<never> {
  await as.store.commit({ remove: [grantKey(grant)] });
  as.observe({ type: "code_replayed", client: client_id, user });
  throw new OAuthError("invalid_grant", REFUSED);
}
