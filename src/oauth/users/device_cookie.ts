/**
 * Browsers that signed in before, after the device cookies of OWASP: a cookie that only this server can make says to
 * which accounts. Such a browser has its own limit, whatever strangers do to the account. It proves nothing else.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { randomId } from "../../crypto/secret.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { readSignedText, signText } from "../../crypto/signed_text.ts";
import { readCookie, writeCookie } from "../../http/cookie.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const COOKIE = "login_device";
const PURPOSE = "login device";
/** Accounts of one browser that are remembered. */
const MAX_ACCOUNTS = 4;
const MAX_COOKIE_CHARACTERS = 1024;
/** Browsers keep a cookie no longer (RFC 6265bis section 5.6.2). Seconds. */
const LIFETIME = 400 * 86_400;

/** `<digest of the account> <id of the browser for it>`; the one that signed in last is first. */
type Devices = readonly (readonly [account: string, id: string])[];

/** The id of the browser for this account; `undefined` for one that never signed in to it. */
export async function findDevice(
  as: AuthorizationServer,
  request: Request,
  account: string,
): Promise<string | undefined> {
  const digest = digestOf(account);
  return (await readDevices(as, request)).find(([each]) => each === digest)?.[1];
}

/** The `Set-Cookie` value after a login to the account. Each login makes a new id, whose limit is untouched. */
export async function writeDevice(
  as: AuthorizationServer,
  request: Request,
  account: string,
): Promise<string> {
  const digest = digestOf(account);
  const others = (await readDevices(as, request)).filter(([each]) => each !== digest);
  const devices: Devices = [[digest, randomId("")] as const, ...others].slice(0, MAX_ACCOUNTS);
  const value = signText(await as.secret(), PURPOSE, devices.map((device) => device.join(" ")).join(","));
  // Cookies know no ports: on loopback no redirect URI on another one is to get it. The prefix wants the whole host.
  const path = as.secure ? "/" : as.base + "/login";
  return writeCookie(cookieName(as), value, { maxAge: LIFETIME, secure: as.secure, path });
}

async function readDevices(as: AuthorizationServer, request: Request): Promise<Devices> {
  const value = readCookie(request, cookieName(as));
  if (value === undefined || value.length > MAX_COOKIE_CHARACTERS) return [];
  const text = readSignedText(await as.secret(), PURPOSE, value);
  return text?.split(",").map((device) => device.split(" ") as [string, string]) ?? [];
}

function cookieName({ secure }: AuthorizationServer): string {
  return secure ? `__Host-${COOKIE}` : COOKIE;
}

/** The cookie does not say whose browser it is. */
function digestOf(account: string): string {
  return encodeBase64url(sha256(account).subarray(0, 16));
}
