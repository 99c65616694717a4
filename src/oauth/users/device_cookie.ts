/**
 * Device cookies (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies): a signed cookie
 * names the accounts to which a browser signed in before. Such a browser has its own login limit, which others cannot
 * use up. The cookie authenticates no user.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { randomId } from "../../crypto/secret.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { readSignedText, signText } from "../../crypto/signed_text.ts";
import { readCookie, toHostCookieName, writeCookie } from "../../http/cookie.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const COOKIE_NAME = "login_device";
const PURPOSE = "login device";
/** Accounts in one cookie. */
const MAX_ACCOUNTS = 4;
const MAX_COOKIE_CHARACTERS = 1024;
/** The maximum in browsers (RFC 6265bis section 5.6.2). */
const LIFETIME_SECONDS = 400 * 86_400;

/** The digest of each account and the id of the browser for it; the latest login is first. */
type Devices = readonly (readonly [account: string, id: string])[];

/** The id of the browser for this account; `undefined` when it never signed in to it. */
export async function findDeviceId(
  as: AuthorizationServer,
  request: Request,
  account: string,
): Promise<string | undefined> {
  const digest = digestOf(account);
  return (await readDevices(as, request)).find(([each]) => each === digest)?.[1];
}

/** The `Set-Cookie` value after a login. Each login has a new id, and so a new limit. */
export async function createDeviceCookie(
  as: AuthorizationServer,
  request: Request,
  account: string,
): Promise<string> {
  const digest = digestOf(account);
  const others = (await readDevices(as, request)).filter(([each]) => each !== digest);
  const devices: Devices = [[digest, randomId("")] as const, ...others].slice(0, MAX_ACCOUNTS);
  const value = signText(await as.secret(), PURPOSE, devices.map((device) => device.join(" ")).join(","));
  // Cookies do not distinguish ports: on loopback the path keeps the cookie from redirect URIs on other ports. On https
  // the prefix __Host- requires the path "/".
  const path = as.secure ? "/" : as.base + "/login";
  return writeCookie(toHostCookieName(as, COOKIE_NAME), value, {
    maxAge: LIFETIME_SECONDS,
    secure: as.secure,
    path,
  });
}

async function readDevices(as: AuthorizationServer, request: Request): Promise<Devices> {
  const value = readCookie(request, toHostCookieName(as, COOKIE_NAME));
  if (value === undefined || value.length > MAX_COOKIE_CHARACTERS) return [];
  const text = readSignedText(await as.secret(), PURPOSE, value);
  return text?.split(",").map((device) => device.split(" ") as [string, string]) ?? [];
}

/** A digest, so that the cookie does not reveal the account. */
function digestOf(account: string): string {
  return encodeBase64url(sha256(account).subarray(0, 16));
}
