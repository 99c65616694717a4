/**
 * Challenges for passkeys (WebAuthn section 13.4.3): each is valid once, for five minutes, for one purpose, and in the
 * browser that got it. They are sealed in a cookie, so that strangers store nothing here; a used one is stored.
 *
 * @module
 */
import { decodeBase64url } from "../../crypto/base64url.ts";
import { seal, unseal } from "../../crypto/seal.ts";
import { randomSecret } from "../../crypto/secret.ts";
import { readCookie, toHostCookieName, writeCookie } from "../../http/cookie.ts";
import type { Fields } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { useOnce } from "../clients/replay.ts";

/** What a challenge is for: one for a second step signs no one in alone. */
export type ChallengePurpose = "login" | "factor" | "registration";

export const CHALLENGE_LIFETIME_MS: number = 5 * 60 * 1000;
/** In one browser, for forms in several tabs. */
const MAX_CHALLENGES = 3;
const MAX_COOKIE_CHARACTERS = 1024;

/** A challenge and when it was issued, in milliseconds since the epoch. */
type Issued = readonly (readonly [challenge: string, at: number])[];

/** A new challenge and the `Set-Cookie` field that binds it to the browser. */
export async function issueChallenge(
  as: AuthorizationServer,
  request: Request,
  purpose: ChallengePurpose,
): Promise<{ readonly challenge: string; readonly fields: Fields }> {
  const challenge = randomSecret("");
  const others = (await readChallenges(as, request, purpose)).slice(0, MAX_CHALLENGES - 1);
  const issued: Issued = [[challenge, as.now()], ...others];
  const value = await seal(await as.secret(), purposeOf(purpose), JSON.stringify(issued));
  return { challenge, fields: [writeField(as, purpose, value)] };
}

/** The challenge of a WebAuthn response, if this browser has it; otherwise `undefined`. */
export async function findChallenge(
  as: AuthorizationServer,
  request: Request,
  purpose: ChallengePurpose,
  clientDataJSON: string,
): Promise<string | undefined> {
  const claimed = readClaimedChallenge(clientDataJSON);
  const found = (await readChallenges(as, request, purpose)).find(([challenge]) => challenge === claimed);
  return found?.[0];
}

/** Marks the challenge as used. `false` when it was used before. */
export function consumeChallenge(as: AuthorizationServer, challenge: string): Promise<boolean> {
  return useOnce(as, "assertion", "passkey " + challenge, as.now() + CHALLENGE_LIFETIME_MS);
}

async function readChallenges(
  as: AuthorizationServer,
  request: Request,
  purpose: ChallengePurpose,
): Promise<Issued> {
  const value = readCookie(request, nameOf(as, purpose));
  if (value === undefined || value.length > MAX_COOKIE_CHARACTERS) return [];
  const text = await unseal(await as.secret(), purposeOf(purpose), value);
  const issued = text === undefined ? [] : JSON.parse(text) as Issued;
  return issued.filter(([, at]) => at + CHALLENGE_LIFETIME_MS > as.now());
}

/** `challenge` of the client data (WebAuthn section 5.8.1); `undefined` when it cannot be read. */
function readClaimedChallenge(clientDataJSON: string): string | undefined {
  try {
    const { challenge } = JSON.parse(new TextDecoder().decode(decodeBase64url(clientDataJSON)));
    return typeof challenge === "string" ? challenge : undefined;
  } catch {
    return undefined;
  }
}

function purposeOf(purpose: ChallengePurpose): string {
  return "passkey challenge for " + purpose;
}

function nameOf(as: AuthorizationServer, purpose: ChallengePurpose): string {
  return toHostCookieName(as, `passkey_${purpose}`);
}

/** On http the path keeps the cookie from other ports of this host; on https the prefix requires the path "/". */
function writeField(
  as: AuthorizationServer,
  purpose: ChallengePurpose,
  value: string,
): readonly [string, string] {
  const path = as.secure ? "/" : as.base + (purpose === "registration" ? "/account" : "/login");
  const maxAge = CHALLENGE_LIFETIME_MS / 1000;
  return ["set-cookie", writeCookie(nameOf(as, purpose), value, { maxAge, secure: as.secure, path })];
}
