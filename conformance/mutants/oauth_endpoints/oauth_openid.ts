/**
 * Faults in OpenID Connect: ID tokens and authentication requests.
 *
 * @module
 */
import { fromBase64url, toBase64url, toText, utf8 } from "../../runner/exchange/bytes.ts";
import { AUTHORIZE, changeJson, changeQueries, onPath, readForm, TOKEN } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

type Members = Record<string, unknown>;

const token = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_token/${id}`);
const request = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_request/${id}`);

const decode = (part: string): Members => JSON.parse(toText(fromBase64url(part)));
const encode = (members: Members): string => toBase64url(utf8(JSON.stringify(members)));

/** Changes the header or claims of ID tokens and keeps their signature. */
export const changeIdToken = (change: (claims: Members, header: Members) => unknown): Wrap =>
  changeJson(TOKEN, (body) => {
    if (typeof body["id_token"] !== "string") return;
    const parts = body["id_token"].split(".");
    const [header, claims] = [decode(parts[0]!), decode(parts[1]!)];
    change(claims, header);
    body["id_token"] = `${encode(header)}.${encode(claims)}.${parts[2]}`;
  });

const UNSIGNED = {
  "The signature does not match the changed bytes": [
    "oauth/openid_token/",
    "oauth/openid_userinfo/sub",
    "oauth/openid_userinfo/id-token",
    ...request("hint-of-the-user", "hint-of-another-user", "hint-altered"),
    "oauth/openid_logout/",
  ],
};

const changed = (
  name: string,
  fault: string,
  killedBy: readonly string[],
  change: (claims: Members, header: Members) => unknown,
): Mutant => ({
  name: `oauth/id-token-${name}`,
  fault,
  wrap: changeIdToken(change),
  killedBy,
  mayFail: UNSIGNED,
});

const parameter = (
  name: string,
  fault: string,
  killedBy: readonly string[],
  change: (query: URLSearchParams) => void,
  mayFail: readonly string[] = [],
): Mutant => ({
  name: `oauth/openid-${name}`,
  fault,
  wrap: changeQueries(change),
  killedBy,
  ...(mayFail.length > 0 && { mayFail: { "The request means something else": mayFail } }),
});

/** Sets a parameter that is there. */
const replace = (name: string, value: string) => (query: URLSearchParams): void => {
  if (query.has(name)) query.set(name, value);
};

export const OPENID: readonly Mutant[] = [
  {
    name: "oauth/id-token-omitted",
    fault: "Issues no ID token",
    wrap: changeJson(TOKEN, (body) => delete body["id_token"]),
    killedBy: token(
      "required-claims",
      "signed",
      "issuer",
      "audience",
      "nonce",
      "auth-time",
      "subject-length",
    ),
    mayFail: {
      "It needs an ID token": [
        ...token("refresh", "refresh-without-nonce", "refresh-auth-time"),
        "oauth/openid_userinfo/",
        ...request("hint-of-another-user", "hint-of-the-user", "hint-altered"),
        "oauth/openid_logout/",
      ],
    },
    preventsSetup: "Vectors capture the ID token",
  },
  {
    name: "oauth/id-token-without-openid",
    fault: "Issues an ID token without the scope openid",
    wrap: changeJson(TOKEN, (body) => body["id_token"] ??= "a.b.c"),
    killedBy: token("without-openid"),
  },
  changed(
    "without-exp",
    "Leaves exp out of the ID token",
    token("required-claims"),
    (claims) => delete claims["exp"],
  ),
  changed("none", "Names the algorithm none", token("signed"), (_, header) => header["alg"] = "none"),
  changed("other-issuer", "Adds a slash to iss", token("issuer"), (claims) => claims["iss"] += "/"),
  changed(
    "other-audience",
    "Names another audience",
    token("audience"),
    (claims) => claims["aud"] = "another",
  ),
  changed("other-nonce", "Names another nonce", token("nonce"), (claims) => claims["nonce"] = "another"),
  changed(
    "without-auth-time",
    "Leaves auth_time out",
    token("auth-time", "refresh-auth-time"),
    (claims) => delete claims["auth_time"],
  ),
  changed(
    "long-subject",
    "Has a sub of 300 characters",
    token("subject-length"),
    (claims) => claims["sub"] = "s".repeat(300),
  ),
  changed(
    "nonce-when-refreshed",
    "Adds a nonce to a refreshed ID token",
    token("refresh-without-nonce"),
    (claims) => claims["nonce"] ??= "again",
  ),
  parameter(
    "none-shows-pages",
    "Ignores prompt=none",
    request("none-signed-out", "none-without-consent"),
    (query) => query.get("prompt") === "none" && query.delete("prompt"),
    ["oauth/openid_request/", "oauth/step_up/"],
  ),
  parameter(
    "none-refused",
    "Asks for consent again in place of prompt=none",
    request("none-with-consent"),
    replace("prompt", "consent"),
    ["oauth/openid_request/", "oauth/openid_logout/", "oauth/step_up/"],
  ),
  parameter(
    "none-with-login",
    "Accepts prompt=none with another value",
    request("none-and-login"),
    (query) => query.get("prompt") === "none login" && query.set("prompt", "none"),
  ),
  parameter(
    "login-ignored",
    "Ignores prompt=login",
    request("login"),
    (query) => query.get("prompt") === "login" && query.delete("prompt"),
  ),
  parameter("max-age-ignored", "Ignores max_age", request("max-age"), (query) => query.delete("max_age"), [
    "oauth/step_up/",
  ]),
  parameter(
    "max-age-of-zero",
    "Takes each login for too old",
    request("max-age-young"),
    (query) => query.get("max_age") === "2000" && query.set("max_age", "0"),
  ),
  parameter(
    "hint-ignored",
    "Ignores id_token_hint",
    request("hint-of-another-user", "hint-altered"),
    (query) => query.delete("id_token_hint"),
  ),
  parameter(
    "hint-refused",
    "Refuses each id_token_hint",
    request("hint-of-the-user"),
    replace("id_token_hint", "a.b.c"),
  ),
  parameter(
    "claims-ignored",
    "Ignores the parameter claims",
    request("claims-malformed"),
    (query) => query.delete("claims"),
  ),
  {
    name: "oauth/openid-get-only",
    fault: "Refuses an authorization request by POST",
    wrap: onPath(
      AUTHORIZE,
      (next) => async (request) =>
        (await readForm(request))?.has("client_id")
          ? new Response(null, { status: 405 })
          : await next(request),
    ),
    killedBy: request("none-post"),
    mayFail: { "It posts the authorization request": ["oauth/authorize/post"] },
  },
];
