/**
 * Faults in the endpoints of OpenID Connect: UserInfo, discovery and logout.
 *
 * @module
 */
import { acceptRefused } from "../accept_refused.ts";
import {
  changeJson,
  changeRedirects,
  changeResponses,
  onPath,
  readForm,
  withHeaders,
} from "../http_faults.ts";
import type { Mutant } from "../mutant.ts";

const USERINFO = "/oauth/userinfo";
const LOGOUT = "/oauth/logout";
const DISCOVERY = "/.well-known/openid-configuration";
type Members = Record<string, unknown>;

const token = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_token/${id}`);
const userinfo = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_userinfo/${id}`);
const discovery = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_discovery/${id}`);
const logout = (...ids: string[]): string[] => ids.map((id) => `oauth/openid_logout/${id}`);

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
  mayFail: { "They find the keys or the issuer in it": ["oauth/jwt_access_token/"] },
});

export const OPENID_ENDPOINTS: readonly Mutant[] = [
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
