/**
 * A sign-in at a provider that has begun: sealed in a cookie, so that only the browser that began it can end it (RFC 9700
 * section 4.7.1), and strangers store nothing here. Its name has the beginning of the state: sign-ins in two tabs do not
 * disturb each other.
 *
 * @module
 */
import { randomSecret } from "../../crypto/secret.ts";
import { seal, unseal } from "../../crypto/seal.ts";
import { readCookie, writeCookie } from "../../http/cookie.ts";
import type { Fields } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { LinkToken } from "../mail/link_token.ts";

/** What the cookie holds. */
export interface PendingSignIn {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  readonly code_verifier: string;
  readonly isNewLogin: boolean;
  /** The invitation that the browser had. */
  readonly invitation?: LinkToken;
  /** The path of this server to which the browser goes then, or "". */
  readonly redirect: string;
  /** When it began, in milliseconds since the epoch. */
  readonly began: number;
  /** Present when it links an identity to the account of a session instead of signing in. */
  readonly link?: LinkTarget | undefined;
}

/** The session that began to link an identity: no other one can end it. */
export interface LinkTarget {
  readonly user: string;
  /** The digest of its secret. */
  readonly session: string;
}

const PURPOSE = "pending sign-in";
const LIFETIME_SECONDS = 600;
/** The part of the state in the name of the cookie. */
const NAME_CHARACTERS = 8;
/** Sign-ins that one browser can have begun: header fields are limited. */
const MAX_PENDING = 3;
/** Browsers keep cookies of 4096 bytes. */
export const MAX_REDIRECT_CHARACTERS = 2000;

/** A new sign-in and the `Set-Cookie` fields of its cookie. */
export async function beginPending(
  as: AuthorizationServer,
  request: Request,
  given: Pick<PendingSignIn, "provider" | "isNewLogin" | "redirect" | "link" | "invitation">,
): Promise<{ readonly pending: PendingSignIn; readonly fields: Fields }> {
  const pending: PendingSignIn = {
    ...given,
    state: randomSecret(""),
    nonce: randomSecret(""),
    code_verifier: randomSecret(""),
    began: as.now(),
  };
  const value = await seal(await as.secret(), PURPOSE, JSON.stringify(pending));
  const others = namesOf(as, request);
  return {
    pending,
    fields: [
      ...others.length >= MAX_PENDING ? others.map((name) => writeField(as, name, "", 0)) : [],
      writeField(as, nameOf(as, pending.state), value, LIFETIME_SECONDS),
    ],
  };
}

/** The sign-in with this state at this provider that this browser began; `undefined` if there is none or it has expired. */
export async function findPending(
  as: AuthorizationServer,
  request: Request,
  provider: string,
  state: string,
): Promise<PendingSignIn | undefined> {
  const value = readCookie(request, nameOf(as, state));
  const text = value === undefined ? undefined : await unseal(await as.secret(), PURPOSE, value);
  if (text === undefined) return undefined;
  const pending = JSON.parse(text) as PendingSignIn;
  const isThis = pending.state === state && pending.provider === provider &&
    as.now() - pending.began < LIFETIME_SECONDS * 1000;
  return isThis ? pending : undefined;
}

/** The `Set-Cookie` fields that end a sign-in. */
export function endPending(as: AuthorizationServer, { state }: PendingSignIn): Fields {
  return [writeField(as, nameOf(as, state), "", 0)];
}

/** On https a name that other hosts cannot set; on http a path, which keeps it from other ports of this host. */
function nameOf(as: AuthorizationServer, state: string): string {
  return `${prefixOf(as)}${state.replace(/[^A-Za-z0-9_-]/g, "").slice(0, NAME_CHARACTERS)}`;
}

function prefixOf({ secure }: AuthorizationServer): string {
  return secure ? "__Host-sign_in_" : "sign_in_";
}

function namesOf(as: AuthorizationServer, request: Request): string[] {
  const prefix = prefixOf(as);
  return (request.headers.get("cookie") ?? "").split(";")
    .map((pair) => pair.split("=", 1)[0]!.trim())
    .filter((name) => name.startsWith(prefix) && /^[A-Za-z0-9_-]+$/.test(name));
}

function writeField(
  as: AuthorizationServer,
  name: string,
  value: string,
  maxAge: number,
): readonly [string, string] {
  const path = as.secure ? "/" : as.base + "/login";
  return ["set-cookie", writeCookie(name, value, { maxAge, secure: as.secure, path })];
}
