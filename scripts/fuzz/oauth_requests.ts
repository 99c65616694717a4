/**
 * Generates requests to the authorization server: most are valid requests with current codes, tokens and cookies, mutated
 * one to four times.
 *
 * @module
 */
import { ACCESS_TOKEN_TYPE, GRANT_TYPE_PREFIX, METADATA, NAMES, VALUES } from "./oauth_values.ts";
import type { Random } from "./random.ts";

/** Values that are or were valid, to reuse in requests. */
export interface Corpus {
  readonly values: string[];
  readonly cookies: string[];
  /** A client that the fuzzer registered, and its registration access token. */
  registration?: { readonly client_id: string; readonly token: string };
}

/** Placeholder of the path of the fuzzer's client. */
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
/** Returns the fields of a valid request to the path. */
function createValidFields(random: Random, path: string, corpus: Corpus): [string, string][] {
  const pickValue = (): string => corpus.values.length > 0 ? random.pick(corpus.values) : "x";
  const app: [string, string][] = [["client_id", "app"], ["client_secret", "secret"]];
  if (path === "/oauth/token") {
    const grant_type = random.pick([
      "authorization_code",
      "refresh_token",
      "client_credentials",
      GRANT_TYPE_PREFIX + "device_code",
      GRANT_TYPE_PREFIX + "token-exchange",
      GRANT_TYPE_PREFIX + "jwt-bearer",
    ]);
    return [
      ...app,
      ["grant_type", grant_type],
      ["code", pickValue()],
      ["redirect_uri", "https://app.example/cb"],
      ["refresh_token", pickValue()],
      ["device_code", pickValue()],
      ["subject_token", pickValue()],
      ["subject_token_type", ACCESS_TOKEN_TYPE],
      ["assertion", pickValue()],
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
      ...(random.oneIn(4) ? [["request_uri", pickValue()] as [string, string]] : []),
      ...(random.oneIn(3)
        ? [["transaction", pickValue()], ["decision", "approve"]] as [string, string][]
        : []),
    ];
  }
  if (path === "/login") return [["username", "alice"], ["password", random.pick(["wonderland", "x"])]];
  if (path === "/device") {
    return [["user_code", pickValue()], ["transaction", pickValue()], ["decision", "approve"]];
  }
  if (path === "/oauth/device_authorization") return [["client_id", "tv"], ["scope", "read"]];
  return [...app, ["token", pickValue()]];
}

function pickText(random: Random, corpus: Corpus): string {
  if (corpus.values.length > 0 && random.oneIn(4)) return random.pick(corpus.values);
  const one = random.pick(VALUES);
  return random.oneIn(6) ? one + random.pick(VALUES) : one;
}

function mutate(random: Random, fields: [string, string][], corpus: Corpus): void {
  const at = random.below(Math.max(1, fields.length));
  switch (random.below(6)) {
    case 0:
      fields.splice(at, 1);
      break;
    case 1:
      fields.push([random.pick(NAMES), pickText(random, corpus)]);
      break;
    case 2:
      if (fields[at]) fields.push([fields[at][0], pickText(random, corpus)]);
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
      if (fields[at]) fields[at] = [fields[at][0], pickText(random, corpus)];
  }
}

function createHeaders(random: Random, corpus: Corpus): Record<string, string> {
  const headers: Record<string, string> = {};
  const ascii = (text: string) => text.replace(/[^\x20-\x7e]/g, "?").trim();
  if (corpus.cookies.length > 0 && random.oneIn(2)) headers.cookie = random.pick(corpus.cookies);
  if (random.oneIn(8)) headers.cookie = "session_id=" + ascii(pickText(random, corpus)).replace(/[;,]/g, "");
  if (random.oneIn(5)) {
    const scheme = random.pick(["Bearer", "DPoP", "Basic", "bearer", "Digest", ""]);
    headers.authorization = `${scheme} ${
      scheme === "Basic"
        ? btoa(ascii(pickText(random, corpus)) + random.pick([":secret", ":", ""]))
        : ascii(pickText(random, corpus))
    }`;
  }
  if (random.oneIn(8)) headers.dpop = ascii(pickText(random, corpus));
  if (random.oneIn(8)) {
    headers.accept = random.pick(["text/html", "application/token-introspection+jwt", "*/*", "x"]);
  }
  if (random.oneIn(8)) headers.origin = random.pick(["https://as.example", "https://evil.example", "null"]);
  if (random.oneIn(10)) headers["sec-fetch-site"] = random.pick(["same-origin", "cross-site", "none", "x"]);
  return headers;
}

function createMetadata(random: Random, corpus: Corpus): string {
  const value = (depth: number): unknown =>
    random.pick<() => unknown>([
      () => pickText(random, corpus),
      () => ["https://app.example/cb"],
      () => [pickText(random, corpus), pickText(random, corpus)],
      () => random.below(1000),
      () => null,
      () => true,
      () => depth > 2 ? {} : { [random.pick(METADATA)]: value(depth + 1) },
      () => depth > 2 ? [] : [value(depth + 1)],
    ])();
  const { client_id } = corpus.registration ?? {};
  const document: Record<string, unknown> = random.oneIn(8)
    ? {}
    : { redirect_uris: ["https://app.example/cb"], client_id };
  for (let i = random.below(4); i > 0; i--) document[random.pick(METADATA)] = value(0);
  const text = JSON.stringify(random.oneIn(20) ? value(0) : document) ?? "";
  return random.oneIn(15) ? text.slice(0, random.below(text.length + 1)) : text;
}

/** Returns the next request. */
export function nextRequest(random: Random, origin: string, corpus: Corpus): Request {
  const [method, template] = random.pick(PATHS);
  const own = template === OWN ? corpus.registration : undefined;
  const path = own ? `/oauth/register/${own.client_id}` : template;
  const fields = createValidFields(random, path, corpus);
  if (!random.oneIn(5)) { for (let i = 1 + random.below(4); i > 0; i--) mutate(random, fields, corpus); }
  const query = new URLSearchParams(fields).toString();
  const headers = createHeaders(random, corpus);
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
  const text = isJson ? createMetadata(random, corpus) : random.oneIn(20) ? pickText(random, corpus) : query;
  // A lone surrogate has no UTF-8; random bytes may be invalid UTF-8 too.
  const body = random.oneIn(25)
    ? Uint8Array.from({ length: random.below(200) }, () => random.below(256))
    : text;
  const target = random.oneIn(10)
    ? `${path}?${new URLSearchParams([[random.pick(NAMES), pickText(random, corpus)]])}`
    : path;
  return new Request(origin + target, { method: verb, headers, body });
}
