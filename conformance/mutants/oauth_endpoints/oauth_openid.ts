/**
 * Faults in OpenID Connect: ID tokens, UserInfo, authentication requests, discovery and logout.
 *
 * @module
 */
import { fromBase64url, toBase64url, toText, utf8 } from "../../runner/exchange/bytes.ts";
import { acceptRefused } from "../accept_refused.ts";
import {
  AUTHORIZE,
  changeJson,
  changeQueries,
  changeRedirects,
  changeResponses,
  onPath,
  readForm,
  TOKEN,
  withHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const USERINFO = "/oauth/userinfo";
const LOGOUT = "/oauth/logout";
const DISCOVERY = "/.well-known/openid-configuration";
type Members = Record<string, unknown>;

const token = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_token/${id}`);
const userinfo = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_userinfo/${id}`);
const request = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_request/${id}`);
const discovery = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_discovery/${id}`);
const logout = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_logout/${id}`);

const decode = (part: string): Members => JSON.parse(toText(fromBase64url(part)));
const encode = (members: Members): string => toBase64url(utf8(JSON.stringify(members)));

/** Changes the header or claims of ID tokens and keeps their signature. */
const changeIdToken = (change: (claims: Members, header: Members) => unknown): Wrap =>
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

const member = (
  name: string,
  fault: string,
  killedBy: readonly string[],
  change: (json: Members) => unknown,
): Mutant => ({
  name: `oauth/openid-configuration-${name}`,
  fault,
  wrap: changeJson(DISCOVERY, change),
  killedBy,
});

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
  {
    name: "oauth/userinfo-other-sub",
    fault: "Returns another sub than in the ID token",
    wrap: changeJson(USERINFO, (body) => "sub" in body && (body["sub"] += "x")),
    killedBy: userinfo("sub"),
    mayFail: { "It compares the sub": token("refresh") },
  },
  {
    name: "oauth/userinfo-get-only",
    fault: "Refuses POST at the UserInfo endpoint",
    wrap: onPath(
      USERINFO,
      (next) => async (request) =>
        request.method === "POST" ? new Response(null, { status: 405 }) : await next(request),
    ),
    killedBy: userinfo("post"),
  },
  {
    name: "oauth/userinfo-without-cors",
    fault: "Allows no other origin to read UserInfo",
    wrap: changeResponses(
      USERINFO,
      (answer) => withHeaders(answer, { "access-control-allow-origin": undefined }),
    ),
    killedBy: userinfo("cors"),
  },
  {
    name: "oauth/userinfo-always-name",
    fault: "Returns the name without the scope profile",
    wrap: changeJson(USERINFO, (body) => "sub" in body && (body["name"] ??= "Alice")),
    killedBy: userinfo("no-name-without-profile"),
  },
  {
    name: "oauth/userinfo-for-any-token",
    fault: "Returns a user for refused tokens",
    wrap: acceptRefused(USERINFO, () => true, () => Response.json({ sub: "alice" })),
    killedBy: userinfo("altered", "none", "id-token", "without-openid"),
  },
  parameter(
    "none-shows-pages",
    "Ignores prompt=none",
    request("none-signed-out", "none-without-consent"),
    (query) => query.get("prompt") === "none" && query.delete("prompt"),
    request("max-age", "hint-of-another-user", "claims-malformed"),
  ),
  parameter(
    "none-refused",
    "Asks for consent again in place of prompt=none",
    request("none-with-consent"),
    replace("prompt", "consent"),
    ["oauth/openid_request/", "oauth/openid_logout/"],
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
  parameter("max-age-ignored", "Ignores max_age", request("max-age"), (query) => query.delete("max_age")),
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
  },
  member(
    "without-members",
    "Leaves jwks_uri out",
    discovery("required-members"),
    (json) => delete json["jwks_uri"],
  ),
  member(
    "without-rs256",
    "Does not name RS256",
    discovery("rs256"),
    (json) => json["id_token_signing_alg_values_supported"] = ["ES256"],
  ),
  member(
    "other-subject-type",
    "Names an unknown subject type",
    discovery("subject-types"),
    (json) => json["subject_types_supported"] = ["private"],
  ),
  member("other-issuer", "Adds a slash to the issuer", discovery("issuer"), (json) => json["issuer"] += "/"),
  member(
    "without-userinfo",
    "Does not name the UserInfo endpoint",
    discovery("userinfo"),
    (json) => delete json["userinfo_endpoint"],
  ),
  member(
    "without-openid",
    "Does not name the scope openid",
    discovery("openid-scope"),
    (json) => json["scopes_supported"] = ["profile"],
  ),
  member(
    "without-logout",
    "Does not name the end session endpoint",
    discovery("end-session"),
    (json) => delete json["end_session_endpoint"],
  ),
  member(
    "without-backchannel",
    "Does not name back-channel logout",
    discovery("backchannel"),
    (json) => delete json["backchannel_logout_supported"],
  ),
  {
    name: "oauth/openid-configuration-as-text",
    fault: "Serves the metadata as plain text",
    wrap: changeResponses(DISCOVERY, (answer) => withHeaders(answer, { "content-type": "text/plain" })),
    killedBy: discovery("media-type"),
  },
  {
    name: "oauth/logout-redirects-anywhere",
    fault: "Sends the user to any post_logout_redirect_uri",
    wrap: onPath(LOGOUT, (next) => async (request) => {
      const uri = new URL(request.url).searchParams.get("post_logout_redirect_uri");
      return uri === null
        ? await next(request)
        : new Response(null, { status: 303, headers: { location: uri } });
    }),
    killedBy: logout(
      "unregistered",
      "longer",
      "with-query",
      "redirect-uri",
      "no-client",
      "other-client",
      "altered-hint",
    ),
    mayFail: { "state is lost": logout("get") },
  },
  {
    name: "oauth/logout-without-question",
    fault: "Ends the session without a hint and without a question",
    wrap: onPath(LOGOUT, (next) => async (request) => {
      const { searchParams } = new URL(request.url);
      if (request.method !== "GET" || searchParams.has("post_logout_redirect_uri")) {
        return await next(request);
      }
      const headers = { cookie: request.headers.get("cookie") ?? "" };
      const body = new URLSearchParams({ decision: "sign_out" });
      return await next(new Request(request.url.split("?")[0]!, { method: "POST", headers, body }));
    }),
    killedBy: logout("without-hint-asks"),
  },
  {
    name: "oauth/logout-loses-state",
    fault: "Leaves state out after the logout",
    wrap: changeRedirects(LOGOUT, (location) => {
      if (location.pathname === "/out") location.searchParams.delete("state");
      return location;
    }),
    killedBy: logout("get"),
  },
  {
    name: "oauth/logout-get-only",
    fault: "Refuses a logout request by POST",
    wrap: onPath(
      LOGOUT,
      (next) => async (request) =>
        (await readForm(request))?.has("id_token_hint")
          ? new Response(null, { status: 405 })
          : await next(request),
    ),
    killedBy: logout("post"),
  },
];
