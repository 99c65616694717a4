/**
 * Large requests to the authorization server: long and many parameters, metadata, assertions and header fields.
 *
 * @module
 */
import { encodeBase64url } from "../../src/crypto/base64url.ts";
import type { Heavy, HeavyKind } from "./heavy_kind.ts";
import { createArray, createBody, createText } from "./heavy_text.ts";
import { GRANT_TYPE_PREFIX, NAMES } from "./oauth_values.ts";
import type { Random } from "./random.ts";

const PATHS: readonly string[] = [
  "/oauth/token",
  "/oauth/token",
  "/oauth/par",
  "/oauth/authorize",
  "/oauth/introspect",
  "/oauth/revoke",
  "/oauth/device_authorization",
  "/oauth/register",
  "/oauth/register",
  "/login",
  "/device",
  "/logout",
];
const GRANTS: readonly string[] = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  GRANT_TYPE_PREFIX + "device_code",
  GRANT_TYPE_PREFIX + "token-exchange",
  GRANT_TYPE_PREFIX + "jwt-bearer",
];
const URI = "https://app.example/cb";

const base64url = (text: string): string => encodeBase64url(new TextEncoder().encode(text));

/** A JWT with an invalid signature. */
function createAssertion(random: Random, size: number): string {
  const header = { alg: "ES256", typ: "JWT", kid: random.oneIn(2) ? createText(random, size / 2) : "k" };
  const claims = { iss: "app", sub: "app", aud: "x", exp: 4e9, jti: createText(random, size / 2) };
  return `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}.AAAA`;
}

function createValue(random: Random, name: string, size: number): string {
  if (/assertion|token$|^request$/.test(name) && random.oneIn(2)) return createAssertion(random, size);
  if (name === "authorization_details") {
    return random.pick([
      () => createArray(size, '{"type":"x"}'),
      () => "[".repeat(size),
      () => `[{"type":"x","a":${"[".repeat(size / 2)}${"]".repeat(size / 2)}}]`,
    ])();
  }
  if (name === "redirect_uri" || name === "resource" || name === "client_id") {
    return random.pick(["https://app.example/", "http://127.0.0.1/", "com.example:/", ""]) +
      createText(random, size);
  }
  if (name === "scope") return random.pick([createText(random, size), createScope(size)]);
  return createText(random, size);
}

function createScope(size: number): string {
  return createArray(size, (i) => `s${i}`, "").replaceAll(",", " ");
}

function createForm(random: Random, size: number): string {
  const secret: [string, string][] = [["client_id", "app"], ["client_secret", "secret"]];
  const fields: [string, string][] = [
    ...(random.oneIn(4) ? [] : secret),
    ["grant_type", random.pick(GRANTS)],
    ["response_type", "code"],
    ["redirect_uri", URI],
    ["code", "x"],
    ["username", "alice"],
    ["password", "x"],
  ];
  switch (random.below(4)) {
    case 0: {
      const name = random.pick(NAMES);
      return new URLSearchParams([
        ...fields.filter(([each]) => each !== name),
        [name, createValue(random, name, size)],
      ]).toString();
    }
    case 1:
      return new URLSearchParams(fields).toString() + `&${random.pick(["a", "resource=x", "=", "%00=1"])}`
        .repeat(size / 10);
    case 2:
      return new URLSearchParams(fields).toString() + "&" + createArray(size, (i) => `x${i}=${i}`, "")
        .replaceAll(",", "&");
    default:
      return createText(random, size);
  }
}

function createRegistration(random: Random, size: number): string {
  const member = random.pick<() => [string, unknown]>([
    () => ["redirect_uris", createList(size, (i) => `https://app.example/${i}`)],
    () => ["redirect_uris", [URI + createText(random, size)]],
    () => ["redirect_uris", createList(size, () => URI)],
    () => ["contacts", createList(size, (i) => `${i}@a.example`)],
    () => ["client_name", createText(random, size)],
    () => ["scope", createScope(size)],
    () => ["jwks", { keys: createList(size, (i) => i).map((kid) => ({ kty: "EC", crv: "P-256", kid })) }],
    () => ["grant_types", createList(size, () => "authorization_code")],
    () => ["software_statement", createAssertion(random, size)],
    () => [createText(random, Math.min(size, 5000)), createText(random, size)],
    () => ["logo_uri", "https://a.example/" + createText(random, size)],
  ])();
  if (random.oneIn(12)) return "[".repeat(size);
  if (random.oneIn(12)) return '{"a":'.repeat(size / 5);
  return JSON.stringify({ redirect_uris: [URI], [member[0]]: member[1] });
}

function createList<Item>(size: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: Math.ceil(size / (String(make(1)).length + 3)) }, (_, i) => make(i));
}

function createHeaders(random: Random, size: number): Headers {
  const headers = new Headers();
  if (random.oneIn(2)) return headers;
  const text = createText(random, Math.min(size, 16_000)).replace(/[^\x20-\x7e]/g, "?").trim();
  const [name, value] = random.pick<[string, string]>([
    ["cookie", createArray(16_000, (i) => `a${i}=1`, "").replaceAll(",", "; ")],
    ["cookie", "session_id=" + text.replace(/[;,]/g, "")],
    ["authorization", "Bearer " + text],
    ["authorization", "Bearer " + createAssertion(random, 12_000)],
    ["authorization", "Basic " + text],
    ["dpop", createAssertion(random, 12_000)],
    ["dpop", text],
    ["accept", text],
    ["origin", text],
    ["forwarded", text],
    ["accept-language", text],
  ]);
  headers.set(name, value);
  return headers;
}

export const heavyOAuth: HeavyKind = {
  next(random, { origin }): Promise<Heavy> {
    const size = random.pick([500, 5000, 20_000, 60_000, 300_000]);
    const path = random.pick(PATHS);
    const isJson = path === "/oauth/register";
    const text = isJson ? createRegistration(random, size) : createForm(random, size);
    const fields = createHeaders(random, size);
    fields.set("content-type", isJson ? "application/json" : "application/x-www-form-urlencoded");
    const isGet = !isJson && random.oneIn(6);
    const shown = `${isGet ? "GET" : "POST"} ${text.slice(0, 120)}… ${[...fields].map(([name]) => name)}`;
    return Promise.resolve({
      endpoint: path,
      label: `${shown}, ${text.length} bytes`,
      bytes: text.length,
      request: () =>
        isGet ? new Request(`${origin}${path}?${text.slice(0, 60_000)}`, { headers: fields }) : new Request(
          origin + path,
          { method: "POST", headers: fields, ...createBody(random, text) } as RequestInit,
        ),
    });
  },
};
