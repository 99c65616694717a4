/**
 * Faults of protected resources.
 *
 * @module
 */
import {
  at,
  faultyAnswers,
  faultyRequests,
  pathOf,
  RESOURCE,
  TOKEN,
  withFields,
  withRequestFields,
  withUrl,
} from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { readBasic } from "../registered.ts";

const bearer = (...ids: string[]): string[] => ids.map((id) => `oauth/bearer/${id}`);

const field = (request: Request): string => request.headers.get("authorization") ?? "";

/** Takes a token from elsewhere than the field. */
const tokenFrom = (find: (request: Request) => Promise<string | null | undefined>): Wrap =>
  faultyRequests(RESOURCE, async (request) => {
    const token = await find(request);
    return token ? withRequestFields(request, { authorization: `Bearer ${token}` }) : request;
  });

export const BEARER: readonly Mutant[] = [
  {
    name: "oauth/bearer-any-scheme",
    fault: "Takes tokens under any scheme",
    wrap: tokenFrom((request) =>
      Promise.resolve(/^\S*$/.exec(field(request))?.[0] || readBasic(field(request))?.id)
    ),
    breaks: bearer("other-scheme"),
    mayBreak: { "They send a token under another scheme": ["oauth/bearer/no-scheme"] },
  },
  {
    name: "oauth/bearer-in-capitals-only",
    fault: "Knows the scheme only as Bearer",
    wrap: faultyRequests(
      RESOURCE,
      (request) =>
        field(request).startsWith("Bearer ")
          ? request
          : withRequestFields(request, { authorization: undefined }),
    ),
    breaks: bearer("scheme-in-any-case"),
    mayBreak: { "They write the scheme otherwise": ["oauth/dpop/"] },
  },
  {
    name: "oauth/bearer-query",
    fault: "Takes tokens from addresses, and does not say so",
    wrap: faultyRequests(RESOURCE, (request) => {
      const url = new URL(request.url);
      const token = url.searchParams.get("access_token");
      if (token === null) return request;
      url.searchParams.delete("access_token");
      const bare = withUrl(request, url);
      return field(request) ? bare : withRequestFields(bare, { authorization: `Bearer ${token}` });
    }),
    breaks: bearer("in-query-refused", "two-ways"),
    mayBreak: {
      "They send a token in the address": [
        "oauth/bearer/two-ways-is-malformed",
        "oauth/bearer/two-ways-with-another",
      ],
    },
  },
  {
    name: "oauth/bearer-prolonged",
    fault: "Reads only as much of a token as its tokens are long",
    wrap: tokenFrom((request) =>
      Promise.resolve(/^Bearer (trivet_\w\w_[\w-]{43})./i.exec(field(request))?.[1])
    ),
    breaks: bearer("prolonged"),
    mayBreak: {
      "They send a token with something more": [
        "oauth/bearer/token-with-a-blank",
        "oauth/bearer/token-with-a-comma",
        "oauth/bearer/two-fields",
      ],
    },
  },
  {
    name: "oauth/bearer-unquoted",
    fault: "Takes tokens out of quotes and parameters",
    wrap: tokenFrom((request) => Promise.resolve(/^Bearer (?:\w+=)?"([^"]+)"$/i.exec(field(request))?.[1])),
    breaks: bearer("token-in-quotes"),
  },
  {
    name: "oauth/bearer-no-challenge",
    fault: "Refuses tokens without a challenge",
    wrap: faultyAnswers(RESOURCE, (answer) => withFields(answer, { "www-authenticate": undefined })),
    breaks: bearer("nothing-sent", "unknown"),
    mayBreak: {
      "Each is refused with a challenge": ["oauth/bearer/", "oauth/dpop/", "oauth/jwt_access_token/"],
    },
  },
  {
    name: "oauth/bearer-always-error",
    fault: "Names an error to those who sent no token",
    wrap: faultyAnswers(
      RESOURCE,
      (answer) =>
        answer.status === 401
          ? withFields(answer, { "www-authenticate": 'Bearer realm="x", error="invalid_token"' })
          : answer,
    ),
    breaks: bearer("nothing-sent-says-no-error"),
    mayBreak: { "Each is refused with a challenge": ["oauth/dpop/"] },
  },
  {
    name: "oauth/bearer-unknown-forbidden",
    fault: "Answers bad tokens with 403",
    wrap: faultyAnswers(RESOURCE, (answer) => answer.status === 401 ? withFields(answer, {}, 403) : answer),
    breaks: bearer("unknown-is-told"),
    mayBreak: {
      "Each is refused with 401": [
        "oauth/bearer/",
        "oauth/client_management/deleted-access-token",
        "oauth/code/twice-then-access-token",
        "oauth/dpop/",
        "oauth/jwt_access_token/",
        "oauth/refresh/reuse-ends-access",
        "oauth/resource_indicators/refused-elsewhere",
        "oauth/revocation/access-token",
        "oauth/revocation/hint-wrong-for-access-token",
        "oauth/revocation/refresh-token-ends-access",
        "oauth/revocation/refresh-token-ends-later-access",
        "oauth/signed_introspection/opens-nothing",
      ],
    },
  },
  {
    name: "oauth/bearer-attributes-twice",
    fault: "Says an attribute of its challenge twice",
    wrap: faultyAnswers(undefined, (answer) => {
      const challenge = answer.headers.get("www-authenticate");
      return challenge?.startsWith("Bearer")
        ? withFields(answer, { "www-authenticate": `${challenge}, error="invalid_token", error="again"` })
        : answer;
    }),
    breaks: bearer("attributes-once"),
    mayBreak: { "They read a challenge": ["oauth/bearer/nothing-sent-says-no-error"] },
  },
  {
    name: "oauth/bearer-echoes",
    fault: "Repeats a token that it refuses in its challenge",
    wrap: faultyAnswers(RESOURCE, (answer, request) => {
      const sent = field(request).replace(/^Bearer /i, "");
      const challenge = `Bearer error="invalid_token", error_description="Not good: ${sent}"`;
      return answer.status === 401 && sent !== "" && !answer.headers.get("www-authenticate")?.includes("DPoP")
        ? withFields(answer, { "www-authenticate": challenge })
        : answer;
    }),
    breaks: bearer("attribute-characters"),
  },
  {
    name: "oauth/bearer-cookie",
    fault: "Keeps tokens in cookies, and takes them from there",
    wrap: withCookies,
    breaks: bearer("cookies-of-the-token-endpoint"),
  },
  {
    name: "oauth/bearer-session",
    fault: "Lets a browser in that is signed in",
    wrap: at(
      RESOURCE,
      (next) => async (request) =>
        field(request) === "" && request.headers.get("cookie")?.includes("session_id=")
          ? Response.json({})
          : await next(request),
    ),
    breaks: bearer("session-is-no-token"),
  },
  {
    name: "oauth/scope-of-resource-ignored",
    fault: "Lets tokens do more than their scope",
    wrap: (next) => async (request) => {
      const answer = await next(request);
      return answer.status === 403 && field(request) !== "" ? Response.json({ data: [] }) : answer;
    },
    breaks: bearer("insufficient-scope-is-refused", "insufficient-scope"),
  },
];

function withCookies(next: Handler): Handler {
  return async (request) => {
    const kept = /(?:^|; )access_token=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1];
    const isAsked = pathOf(request) === RESOURCE && kept !== undefined && field(request) === "";
    const answer = await next(
      isAsked ? withRequestFields(request, { authorization: `Bearer ${kept}` }) : request,
    );
    if (pathOf(request) !== TOKEN || answer.status !== 200) return answer;
    const { access_token: token } = await answer.clone().json() as Record<string, unknown>;
    return withFields(answer, { "set-cookie": `access_token=${token}; Path=/; Secure; HttpOnly` });
  };
}
