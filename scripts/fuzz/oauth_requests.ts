/**
 * Generated requests to the authorization server: most begin as ones that a client could send, with live codes, tokens and
 * cookies among their values, and are then spoilt in one to four ways.
 *
 * @module
 */
import { GRANT, METADATA, NAMES, TYPE, WORDS } from "./oauth_words.ts";
import type { Random } from "./random.ts";

/** Values that were good at some time: what a stranger may have found. */
export interface Loot {
  readonly values: string[];
  readonly cookies: string[];
  /** A client that the stranger registered itself, and the token to manage it with. */
  registration?: { readonly client_id: string; readonly token: string };
}

/** Stands for the registration of the stranger's own client. */
const OWN = "/oauth/register/own";
const PATHS: readonly (readonly [method: string, path: string])[] = [
  ["POST", "/oauth/token"],
  ["POST", "/oauth/token"],
  ["POST", "/oauth/token"],
  ["GET", "/oauth/authorize"],
  ["GET", "/oauth/authorize"],
  ["POST", "/oauth/authorize"],
  ["POST", "/oauth/par"],
  ["POST", "/oauth/introspect"],
  ["POST", "/oauth/revoke"],
  ["POST", "/oauth/device_authorization"],
  ["POST", "/oauth/register"],
  ["GET", "/oauth/register/app"],
  ["PUT", "/oauth/register/app"],
  ["GET", OWN],
  ["PUT", OWN],
  ["DELETE", OWN],
  ["DELETE", "/oauth/register/%00"],
  ["GET", "/device"],
  ["POST", "/device"],
  ["GET", "/login"],
  ["POST", "/login"],
  ["POST", "/logout"],
  ["GET", "/api/user"],
  ["GET", "/.well-known/oauth-authorization-server"],
  ["GET", "/.well-known/oauth-protected-resource/mcp"],
  ["GET", "/.well-known/jwks.json"],
];
/** What a good request to the path would hold. */
function goodFields(random: Random, path: string, loot: Loot): [string, string][] {
  const found = (): string => loot.values.length > 0 ? random.pick(loot.values) : "x";
  const app: [string, string][] = [["client_id", "app"], ["client_secret", "secret"]];
  if (path === "/oauth/token") {
    const grant_type = random.pick([
      "authorization_code",
      "refresh_token",
      "client_credentials",
      GRANT + "device_code",
      GRANT + "token-exchange",
      GRANT + "jwt-bearer",
    ]);
    return [
      ...app,
      ["grant_type", grant_type],
      ["code", found()],
      ["redirect_uri", "https://app.example/cb"],
      ["refresh_token", found()],
      ["device_code", found()],
      ["subject_token", found()],
      ["subject_token_type", TYPE],
      ["assertion", found()],
    ];
  }
  if (path.startsWith("/oauth/authorize") || path === "/oauth/par") {
    return [
      ["client_id", "app"],
      ["response_type", "code"],
      ["redirect_uri", "https://app.example/cb"],
      ["scope", "read"],
      ["state", "s"],
      ...(path === "/oauth/par" ? app.slice(1) : []),
      ...(random.oneIn(4) ? [["request_uri", found()] as [string, string]] : []),
      ...(random.oneIn(3) ? [["transaction", found()], ["decision", "approve"]] as [string, string][] : []),
    ];
  }
  if (path === "/login") return [["username", "alice"], ["password", random.pick(["wonderland", "x"])]];
  if (path === "/device") return [["user_code", found()], ["transaction", found()], ["decision", "approve"]];
  if (path === "/oauth/device_authorization") return [["client_id", "tv"], ["scope", "read"]];
  return [...app, ["token", found()]];
}

function word(random: Random, loot: Loot): string {
  if (loot.values.length > 0 && random.oneIn(4)) return random.pick(loot.values);
  const one = random.pick(WORDS);
  return random.oneIn(6) ? one + random.pick(WORDS) : one;
}

function spoil(random: Random, fields: [string, string][], loot: Loot): void {
  const at = random.below(Math.max(1, fields.length));
  switch (random.below(6)) {
    case 0:
      fields.splice(at, 1);
      break;
    case 1:
      fields.push([random.pick(NAMES), word(random, loot)]);
      break;
    case 2:
      if (fields[at]) fields.push([fields[at][0], word(random, loot)]);
      break;
    case 3:
      if (fields[at]) {
        fields[at] = [fields[at][0] + random.pick(["[]", "[a]", " ", "\u0000", "%"]), fields[at][1]];
      }
      break;
    case 4: {
      const value = fields[at]?.[1] ?? "";
      const i = random.below(value.length + 1);
      if (fields[at]) {
        fields[at] = [
          fields[at][0],
          value.slice(0, i) + random.pick(["", "A", "\u00e4", "."]) + value.slice(i + 1),
        ];
      }
      break;
    }
    default:
      if (fields[at]) fields[at] = [fields[at][0], word(random, loot)];
  }
}

function headersFor(random: Random, loot: Loot): Record<string, string> {
  const headers: Record<string, string> = {};
  const ascii = (text: string) => text.replace(/[^\x20-\x7e]/g, "?").trim();
  if (loot.cookies.length > 0 && random.oneIn(2)) headers.cookie = random.pick(loot.cookies);
  if (random.oneIn(8)) headers.cookie = "session_id=" + ascii(word(random, loot)).replace(/[;,]/g, "");
  if (random.oneIn(5)) {
    const scheme = random.pick(["Bearer", "DPoP", "Basic", "bearer", "Digest", ""]);
    headers.authorization = `${scheme} ${
      scheme === "Basic"
        ? btoa(ascii(word(random, loot)) + random.pick([":secret", ":", ""]))
        : ascii(word(random, loot))
    }`;
  }
  if (random.oneIn(8)) headers.dpop = ascii(word(random, loot));
  if (random.oneIn(8)) {
    headers.accept = random.pick(["text/html", "application/token-introspection+jwt", "*/*", "x"]);
  }
  if (random.oneIn(8)) headers.origin = random.pick(["https://as.example", "https://evil.example", "null"]);
  if (random.oneIn(10)) headers["sec-fetch-site"] = random.pick(["same-origin", "cross-site", "none", "x"]);
  return headers;
}

function metadata(random: Random, loot: Loot): string {
  const value = (depth: number): unknown =>
    random.pick<() => unknown>([
      () => word(random, loot),
      () => ["https://app.example/cb"],
      () => [word(random, loot), word(random, loot)],
      () => random.below(1000),
      () => null,
      () => true,
      () => depth > 2 ? {} : { [random.pick(METADATA)]: value(depth + 1) },
      () => depth > 2 ? [] : [value(depth + 1)],
    ])();
  const { client_id } = loot.registration ?? {};
  const document: Record<string, unknown> = random.oneIn(8)
    ? {}
    : { redirect_uris: ["https://app.example/cb"], client_id };
  for (let i = random.below(4); i > 0; i--) document[random.pick(METADATA)] = value(0);
  const text = JSON.stringify(random.oneIn(20) ? value(0) : document) ?? "";
  return random.oneIn(15) ? text.slice(0, random.below(text.length + 1)) : text;
}

/** The next request. */
export function nextRequest(random: Random, origin: string, loot: Loot): Request {
  const [method, named] = random.pick(PATHS);
  const own = named === OWN ? loot.registration : undefined;
  const path = own ? `/oauth/register/${own.client_id}` : named;
  const fields = goodFields(random, path, loot);
  if (!random.oneIn(5)) { for (let i = 1 + random.below(4); i > 0; i--) spoil(random, fields, loot); }
  const query = new URLSearchParams(fields).toString();
  const headers = headersFor(random, loot);
  if (own && !random.oneIn(10)) headers.authorization = `Bearer ${own.token}`;
  const verb = random.oneIn(30)
    ? random.pick(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
    : method;
  if (verb === "GET" || verb === "HEAD" || verb === "OPTIONS" || verb === "DELETE") {
    return new Request(`${origin}${path}?${query}`, { method: verb, headers });
  }
  const isJson = path.startsWith("/oauth/register");
  const type = isJson ? "application/json" : "application/x-www-form-urlencoded";
  headers["content-type"] = random.oneIn(25)
    ? random.pick(["text/plain", "application/json", "multipart/form-data", "x"])
    : type;
  const text = isJson ? metadata(random, loot) : random.oneIn(20) ? word(random, loot) : query;
  // A lone surrogate has no UTF-8; bytes may be anything.
  const body = random.oneIn(25)
    ? Uint8Array.from({ length: random.below(200) }, () => random.below(256))
    : text;
  const target = random.oneIn(10)
    ? `${path}?${new URLSearchParams([[random.pick(NAMES), word(random, loot)]])}`
    : path;
  return new Request(origin + target, { method: verb, headers, body });
}
