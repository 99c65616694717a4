/**
 * Faults in protected resources (RFC 6750).
 *
 * @module
 */
import { acceptRefused } from "../accept_refused.ts";
import {
  changeRequests,
  changeResponses,
  onPath,
  pathOf,
  RESOURCE,
  TOKEN,
  withHeaders,
  withRequestHeaders,
  withUrl,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { parseBasic } from "../registered_clients.ts";

const bearer = (...ids: string[]): string[] => ids.map((id) => `oauth/bearer/${id}`);

const authorizationOf = (request: Request): string => request.headers.get("authorization") ?? "";

/** Sets Authorization to a token from another place. */
const useTokenFrom = (find: (request: Request) => Promise<string | null | undefined>): Wrap =>
  changeRequests(RESOURCE, async (request) => {
    const token = await find(request);
    return token ? withRequestHeaders(request, { authorization: `Bearer ${token}` }) : request;
  });

export const BEARER: readonly Mutant[] = [
  {
    name: "oauth/bearer-any-scheme",
    fault: "Accepts tokens under any authentication scheme",
    wrap: useTokenFrom((request) =>
      Promise.resolve(/^\S*$/.exec(authorizationOf(request))?.[0] || parseBasic(authorizationOf(request))?.id)
    ),
    killedBy: bearer("other-scheme"),
    mayFail: { "They send a token under another scheme": ["oauth/bearer/no-scheme"] },
  },
  {
    name: "oauth/bearer-case-sensitive",
    fault: "Compares the scheme Bearer case-sensitively",
    wrap: changeRequests(
      RESOURCE,
      (request) =>
        authorizationOf(request).startsWith("Bearer ")
          ? request
          : withRequestHeaders(request, { authorization: undefined }),
    ),
    killedBy: bearer("scheme-in-any-case"),
    mayFail: { "They send another scheme": ["oauth/dpop/"] },
  },
  {
    name: "oauth/bearer-query",
    fault: "Accepts tokens in the query without declaring it",
    wrap: changeRequests(RESOURCE, (request) => {
      const url = new URL(request.url);
      const token = url.searchParams.get("access_token");
      if (token === null) return request;
      url.searchParams.delete("access_token");
      const bare = withUrl(request, url);
      return authorizationOf(request) ? bare : withRequestHeaders(bare, { authorization: `Bearer ${token}` });
    }),
    killedBy: [...bearer("in-query-refused", "two-ways"), "oauth/oauth_2_1/token-in-query"],
    mayFail: {
      "They send a token in the query": [
        "oauth/bearer/two-ways-is-malformed",
        "oauth/bearer/two-ways-with-another",
      ],
    },
  },
  {
    name: "oauth/bearer-truncated",
    fault: "Ignores characters after the length of its tokens",
    wrap: useTokenFrom((request) =>
      Promise.resolve(/^Bearer (trivet_\w\w_[\w-]{43})./i.exec(authorizationOf(request))?.[1])
    ),
    killedBy: bearer("prolonged"),
    mayFail: {
      "They send a token with extra characters": [
        "oauth/bearer/token-with-a-blank",
        "oauth/bearer/token-with-a-comma",
        "oauth/bearer/two-fields",
      ],
    },
  },
  {
    name: "oauth/bearer-unquoted",
    fault: "Accepts tokens in quotes and parameters",
    wrap: useTokenFrom((request) =>
      Promise.resolve(/^Bearer (?:\w+=)?"([^"]+)"$/i.exec(authorizationOf(request))?.[1])
    ),
    killedBy: bearer("token-in-quotes"),
  },
  {
    name: "oauth/bearer-no-challenge",
    fault: "Refuses tokens without WWW-Authenticate",
    wrap: changeResponses(RESOURCE, (answer) => withHeaders(answer, { "www-authenticate": undefined })),
    killedBy: bearer("nothing-sent", "unknown"),
    mayFailWith: { "They expect a challenge": /^headers\.www-authenticate: .*got no value/ },
  },
  {
    name: "oauth/bearer-always-error",
    fault: "Returns an error code to requests without a token",
    wrap: changeResponses(
      RESOURCE,
      (answer) =>
        answer.status === 401
          ? withHeaders(answer, { "www-authenticate": 'Bearer realm="x", error="invalid_token"' })
          : answer,
    ),
    killedBy: bearer("nothing-sent-says-no-error"),
    mayFail: { "They expect a challenge": ["oauth/dpop/"] },
  },
  {
    name: "oauth/bearer-unknown-forbidden",
    fault: "Returns 403 for invalid tokens",
    wrap: changeResponses(
      RESOURCE,
      (answer) => answer.status === 401 ? withHeaders(answer, {}, 403) : answer,
    ),
    killedBy: bearer("unknown-is-told"),
    mayFailWith: { "They expect 401": /^status: expected .*, got 403/ },
  },
  {
    name: "oauth/bearer-of-any-resource",
    fault: "Accepts tokens that were issued for another resource",
    wrap: acceptRefused(
      RESOURCE,
      ({ description }) => /not issued for/.test(description),
      () => Response.json({ sub: "alice" }),
    ),
    killedBy: ["oauth/resource_indicators/refused-elsewhere", "oauth/jwt_access_token/for-another-resource"],
  },
  {
    name: "oauth/bearer-attributes-twice",
    fault: "Repeats an attribute of WWW-Authenticate",
    wrap: changeResponses(undefined, (answer) => {
      const challenge = answer.headers.get("www-authenticate");
      return challenge?.startsWith("Bearer")
        ? withHeaders(answer, { "www-authenticate": `${challenge}, error="invalid_token", error="again"` })
        : answer;
    }),
    killedBy: bearer("attributes-once"),
    mayFailWith: { "They read a challenge": /^headers\.www-authenticate: .*error=\\"again/ },
  },
  {
    name: "oauth/bearer-echoes",
    fault: "Repeats a refused token in WWW-Authenticate",
    wrap: changeResponses(RESOURCE, (answer, request) => {
      const sent = authorizationOf(request).replace(/^Bearer /i, "");
      const challenge = `Bearer error="invalid_token", error_description="Not good: ${sent}"`;
      return answer.status === 401 && sent !== "" && !answer.headers.get("www-authenticate")?.includes("DPoP")
        ? withHeaders(answer, { "www-authenticate": challenge })
        : answer;
    }),
    killedBy: bearer("attribute-characters"),
  },
  {
    name: "oauth/bearer-cookie",
    fault: "Sets tokens as cookies and accepts them from there",
    wrap: useCookies,
    killedBy: bearer("cookies-of-the-token-endpoint"),
  },
  {
    name: "oauth/bearer-session",
    fault: "Accepts a signed-in browser session in place of a token",
    wrap: onPath(
      RESOURCE,
      (next) => async (request) =>
        authorizationOf(request) === "" && request.headers.get("cookie")?.includes("session_id=")
          ? Response.json({})
          : await next(request),
    ),
    killedBy: bearer("session-is-no-token"),
  },
  {
    name: "oauth/scope-of-resource-ignored",
    fault: "Does not check the scope of tokens",
    wrap: (next) => async (request) => {
      const answer = await next(request);
      return answer.status === 403 && authorizationOf(request) !== "" ? Response.json({ data: [] }) : answer;
    },
    killedBy: bearer("insufficient-scope-is-refused", "insufficient-scope"),
    mayFail: { "It uses a token without the scope": ["oauth/openid_userinfo/without-openid"] },
  },
];

function useCookies(next: Handler): Handler {
  return async (request) => {
    const cookieToken = /(?:^|; )access_token=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1];
    const isMatch = pathOf(request) === RESOURCE && cookieToken !== undefined &&
      authorizationOf(request) === "";
    const answer = await next(
      isMatch ? withRequestHeaders(request, { authorization: `Bearer ${cookieToken}` }) : request,
    );
    if (pathOf(request) !== TOKEN || answer.status !== 200) return answer;
    const { access_token: token } = await answer.clone().json() as Record<string, unknown>;
    return withHeaders(answer, { "set-cookie": `access_token=${token}; Path=/; Secure; HttpOnly` });
  };
}
