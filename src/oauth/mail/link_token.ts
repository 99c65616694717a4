/**
 * The token of a one-time link: 256 random bits, which the store has as a digest only. The page moves it from the URL into a
 * cookie before it shows anything: no referrer and no entry of the browser's history has it (`password_reset_test.ts`,
 * `browser_mail_node_test.ts`). GET never consumes a token: programs that scan mail follow links.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import { parseForm } from "../../http/body/form.ts";
import { readCookie, writeCookie } from "../../http/cookie.ts";
import { type Fields, NO_STORE, respond } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

/** One kind of link: the page that it leads to, and the names of its token. */
export interface LinkKind {
  /** Below the issuer. The cookie is sent to this path only. */
  readonly path: string;
  /** Secret scanners recognize the prefix. */
  readonly prefix: string;
  readonly cookie: string;
  /** The path of the cookie, if more pages than `path` need it. @default `path` */
  readonly cookiePath?: string;
  /** Seconds. */
  readonly lifetime: number;
}

/** A token as it is in the link. `id` names the record that it belongs to, and is no secret. */
export interface LinkToken {
  readonly id: string;
  readonly digest: string;
}

const ID = "[A-Za-z0-9_-]{0,64}";
const SECRET = "[A-Za-z0-9_-]{43}";

/** A new token for the record with this id. */
export function createLinkToken(
  { prefix }: LinkKind,
  id: string,
): { readonly token: string; readonly digest: string } {
  const secret = randomSecret("");
  return { token: `${prefix}${id}.${secret}`, digest: secretDigest(secret) };
}

/** The parts of a token; `undefined` for an invalid one. */
function parseLinkToken({ prefix }: LinkKind, token: string): LinkToken | undefined {
  const match = token.startsWith(prefix)
    ? new RegExp(`^(${ID})\\.(${SECRET})$`).exec(token.slice(prefix.length))
    : null;
  return match ? { id: match[1]!, digest: secretDigest(match[2]!) } : undefined;
}

/** The URL of a link. Built from the issuer, never from a request: the Host field is the visitor's. */
export function linkUrl(issuer: string, { path }: LinkKind, token: string): string {
  return `${issuer.replace(/\/$/, "")}${path}?token=${token}`;
}

/**
 * 303 to the same page without the token, which goes into a cookie; `undefined` when the URL has none. The store is not
 * asked: whether the token is valid says the page.
 * @param more a query for the page, without the question mark
 */
export function moveToCookie(
  as: AuthorizationServer,
  request: Request,
  kind: LinkKind,
  target: string = kind.path,
): Response | undefined {
  const { values } = parseForm(queryOf(request.url));
  const token = values.get("token");
  if (token === undefined) return undefined;
  // A text that is no token must not get into a header field.
  const value = parseLinkToken(kind, token) ? token : "";
  return respond(303, null, [
    ["location", as.base + target],
    ["set-cookie", writeField(as, kind, value, value === "" ? 0 : kind.lifetime)],
    ["referrer-policy", "no-referrer"],
    NO_STORE,
  ]);
}

/** The token in the cookie of the request. */
export function readLinkCookie(
  as: AuthorizationServer,
  request: Request,
  kind: LinkKind,
): LinkToken | undefined {
  const value = readCookie(request, nameOf(as, kind));
  return value === undefined ? undefined : parseLinkToken(kind, value);
}

/** The address of a form for what a link is about. It names the link: the cookie may have become that of another one. */
export function toLinkAction(path: string, token: LinkToken | undefined): string {
  return `${path}${path.includes("?") ? "&" : "?"}link=${tagOf(token)}`;
}

/** Whether the page of the form was about this link. A program that sends the form has seen no page. */
export function isShownLink({ url }: Request, token: LinkToken | undefined): boolean {
  const shown = parseForm(queryOf(url)).values.get("link");
  return shown === undefined || shown === tagOf(token);
}

function tagOf(token: LinkToken | undefined): string {
  return token?.digest.slice(0, 16) ?? "none";
}

/** The `Set-Cookie` field that removes the cookie. */
export function endLinkCookie(as: AuthorizationServer, kind: LinkKind): Fields[number] {
  return ["set-cookie", writeField(as, kind, "", 0)];
}

/** On https a name that only https sets; `__Host-` would require the path "/". */
function nameOf({ secure }: AuthorizationServer, { cookie }: LinkKind): string {
  return secure ? `__Secure-${cookie}` : cookie;
}

function writeField(as: AuthorizationServer, kind: LinkKind, value: string, maxAge: number): string {
  const path = as.base + (kind.cookiePath ?? kind.path);
  return writeCookie(nameOf(as, kind), value, { maxAge, secure: as.secure, path });
}
