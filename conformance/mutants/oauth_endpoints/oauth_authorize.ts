/**
 * Faults in the authorization endpoint and its consent page.
 *
 * Long because each parameter and each answer of the endpoint has its fault.
 *
 * @module
 */
import {
  AUTHORIZE,
  changeQueries,
  changeRedirects,
  changeRequests,
  changeResponses,
  LOGIN,
  onPath,
  pathOf,
  readForm,
  withBody,
  withForm,
  withHeaders,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { withoutFrameProtection } from "../browser_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/authorize/${id}`);

const keepFirst = (...parameters: string[]): Wrap =>
  changeQueries((query) => {
    for (const name of parameters) {
      const first = query.get(name);
      if (first !== null) query.set(name, first);
    }
  });

/** Changes one parameter of the authorization response. */
const changeResponseParameter = (name: string, change: (value: string) => string | undefined): Wrap =>
  changeRedirects(AUTHORIZE, (location) => {
    const value = location.searchParams.get(name);
    const changed = value === null ? undefined : change(value);
    if (value !== null && changed === undefined) location.searchParams.delete(name);
    else if (changed !== undefined) location.searchParams.set(name, changed);
    return location;
  });

/** Finds the transaction by the browser's session, so that any POST of that browser can decide it. */
function acceptAnyPost(next: Handler): Handler {
  const requested = new Map<string, string>();
  return async (request) => {
    if (pathOf(request) !== AUTHORIZE) return await next(request);
    const session = /session_id=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1] ?? "";
    const form = await readForm(request);
    if (!form) {
      const answer = await next(request);
      const transaction = /name="transaction" value="([^"]+)"/.exec(await answer.clone().text())?.[1];
      if (transaction !== undefined) requested.set(session, transaction);
      return answer;
    }
    const transaction = requested.get(session);
    if (!form.has("transaction") && transaction !== undefined) form.set("transaction", transaction);
    const fields = { origin: undefined, "sec-fetch-site": undefined, referer: undefined };
    return await next(withRequestHeaders(withForm(request, form), fields));
  };
}

export const AUTHORIZE_ENDPOINT: readonly Mutant[] = [
  {
    name: "oauth/state-omitted",
    fault: "Leaves state out of the response",
    wrap: changeResponseParameter("state", () => undefined),
    killedBy: names("code-in-query", "state-with-markup", "error-keeps-state", "denied"),
    mayFail: {
      "They expect state": ["oauth/request_object/", "oauth/step_up/acr-not-met-by-new-login"],
      "They send values that resemble the right ones": ["oauth/encoding/state-"],
      "They compare the state": [
        "oauth/authorize/",
        "oauth/consent/allowed",
        "oauth/consent/asked-again",
        "oauth/issuer/not-from-the-state",
        "oauth/par/denied",
        "oauth/par/public",
        "oauth/par/pushed",
        "oauth/par/state-beside-it",
        "oauth/pkce/",
        "oauth/redirect_uri/",
        "oauth/scope/",
      ],
    },
  },
  {
    name: "oauth/state-truncated",
    fault: "Truncates state to 255 characters",
    wrap: changeResponseParameter("state", (state) => state.slice(0, 255)),
    killedBy: names("state-of-2-kb"),
  },
  {
    name: "oauth/state-cleaned",
    fault: "Removes characters of state that are not word characters",
    wrap: changeResponseParameter("state", (state) => state.replace(/\W/g, "")),
    killedBy: names("state-with-markup", "state-from-appendix-b"),
    mayFail: {
      "They expect state": ["oauth/request_object/pushed", "oauth/request_object/signed"],
      "They send values that resemble the right ones": ["oauth/encoding/state-"],
      "They compare the state, which has hyphens": [
        "oauth/authorize/",
        "oauth/issuer/not-from-the-state",
        "oauth/par/pushed",
        "oauth/pkce/challenge-padded",
        "oauth/pkce/challenge-too-long",
        "oauth/pkce/method-in-lower-case",
        "oauth/redirect_uri/empty-with-one",
        "oauth/redirect_uri/omitted-with-one",
        "oauth/scope/with-beyond-ascii",
      ],
    },
  },
  {
    name: "oauth/state-invented",
    fault: "Returns a state to clients that sent none",
    wrap: changeRedirects(AUTHORIZE, (location, { url }) => {
      // A redirect to a page of the server is no response to the client.
      if (location.origin === new URL(url).origin) return location;
      if (!location.searchParams.has("state")) location.searchParams.append("state", "invented");
      return location;
    }),
    killedBy: names("no-state", "error-without-state", "empty-state"),
    mayFail: {
      "They expect no parameter beside response": [
        "oauth/jarm/error-query",
        "oauth/jarm/jwt-is-query",
        "oauth/jarm/query",
      ],
    },
  },
  {
    name: "oauth/token-in-redirect",
    fault: "Returns an access token beside the code",
    wrap: changeRedirects(AUTHORIZE, (location) => {
      if (location.searchParams.has("code")) location.hash = "access_token=2YotnFZFEjr1zCsicMWpAA";
      return location;
    }),
    killedBy: [
      "oauth/bearer/not-in-addresses",
      "oauth/authorize/code-in-query",
      "oauth/best_practice/no-fragment-taken-over",
    ],
  },
  {
    name: "oauth/code-in-fragment",
    fault: "Returns the authorization response in the fragment",
    wrap: changeRedirects(AUTHORIZE, (location) => {
      location.hash = location.search.slice(1);
      location.search = "";
      return location;
    }),
    killedBy: names("code-in-query", "error-in-query"),
    mayFail: {
      "They read the response from the query": [
        "oauth/jarm/",
        "oauth/openid_logout/altered-hint",
        "oauth/openid_logout/without-hint-asks",
        "oauth/openid_request/",
        "oauth/request_object/",
        "oauth/step_up/",
      ],
      "They read the error of an authorization response": ["oauth/oauth_2_1/"],
      "They send values that resemble the right ones": ["oauth/encoding/state-"],
      "They read the query": [
        "oauth/authorize/",
        "oauth/bearer/not-in-addresses",
        "oauth/best_practice/loopback-any-port",
        "oauth/best_practice/no-fragment-taken-over",
        "oauth/code/entropy-of-128-bits",
        "oauth/code/entropy-of-160-bits",
        "oauth/code/never-the-same",
        "oauth/consent/allowed",
        "oauth/consent/asked-again",
        "oauth/consent/eight-at-once",
        "oauth/consent/twice",
        "oauth/issuer/",
        "oauth/par/",
        "oauth/pkce/",
        "oauth/redirect_uri/",
        "oauth/registration/uri-works",
        "oauth/resource_indicators/",
        "oauth/scope/",
        "oauth/authorization_details/",
      ],
    },
  },
  {
    name: "oauth/response-type-any",
    fault: "Treats every response_type as code",
    wrap: changeQueries((query) => query.set("response_type", "code")),
    killedBy: names("response-type-unknown", "response-type-missing", "response-type-in-other-case"),
    mayFail: {
      "They get an error by an unknown response type": [
        "oauth/form_post/error",
        "oauth/form_post/state-is-no-markup",
        "oauth/jarm/error-fragment",
        "oauth/jarm/error-query",
        "oauth/jarm/registered-algorithm",
      ],
      "They send another response type than code": ["oauth/oauth_2_1/implicit"],
      "They send values that resemble the right ones": ["oauth/encoding/state-"],
      "They send an unknown response type": [
        "oauth/metadata/response-type-unlisted",
        "oauth/authorize/",
        "oauth/issuer/no-response-type",
        "oauth/issuer/unknown-response-type",
        "oauth/redirect_uri/query-is-kept",
      ],
    },
  },
  {
    name: "oauth/response-type-in-any-case",
    fault: "Compares response_type case-insensitively",
    wrap: changeQueries((query) => {
      const type = query.get("response_type");
      if (type && query.getAll("response_type").length === 1) query.set("response_type", type.toLowerCase());
    }),
    killedBy: names("response-type-in-other-case"),
  },
  {
    name: "oauth/authorize-repeated-first",
    fault: "Reads the first of repeated parameters",
    wrap: keepFirst("response_type", "scope", "state", "code_challenge", "client_id"),
    killedBy: names(
      "repeated-response-type",
      "repeated-scope",
      "repeated-code-challenge",
      "repeated-client-id",
    ),
    mayFail: { "They repeat a parameter": ["oauth/authorize/repeated-", "oauth/issuer/repeated-parameter"] },
  },
  {
    name: "oauth/redirect-uri-repeated-first",
    fault: "Reads the first of two redirect URIs",
    wrap: keepFirst("redirect_uri"),
    killedBy: ["oauth/redirect_uri/repeated-alike"],
    mayFail: { "It repeats the redirect URI": ["oauth/redirect_uri/repeated-right-first"] },
  },
  {
    name: "oauth/head-gives-code",
    fault: "Returns a code to HEAD",
    wrap: onPath(AUTHORIZE, (next) => async (request) => {
      const to = new URL(request.url).searchParams.get("redirect_uri");
      if (request.method !== "HEAD" || to === null) {
        return await next(request);
      }
      return new Response(null, { status: 302, headers: { location: `${to}?code=trivet_ac_x` } });
    }),
    killedBy: names("head-gives-no-code"),
  },
  {
    name: "oauth/unknown-parameter-refused",
    fault: "Refuses unknown parameters",
    wrap: onPath(AUTHORIZE, (next) => async (request) => {
      const known =
        /^(response_type|client_id|redirect_uri|scope|state|code_challenge(_method)?|resource|prompt)$/;
      const others = [...new URL(request.url).searchParams.keys()].some((name) => !known.test(name));
      if (request.method !== "GET" || !others) return await next(request);
      return new Response("unknown parameter", { status: 400 });
    }),
    killedBy: names("unknown-parameter"),
    mayFail: {
      "They send parameters of later documents": [
        "oauth/form_post/error",
        "oauth/form_post/not-stored",
        "oauth/form_post/page",
        "oauth/form_post/state-is-no-markup",
        "oauth/jarm/",
        "oauth/openid_logout/",
        "oauth/openid_request/",
        "oauth/openid_token/",
        "oauth/openid_userinfo/",
        "oauth/request_object/",
        "oauth/step_up/",
      ],
      "They send a parameter that is not of RFC 6749, 7636 or 8707": [
        "oauth/dpop/",
        "oauth/issuer/not-from-the-request",
        "oauth/par/",
        "oauth/authorization_details/",
      ],
    },
  },
  {
    name: "oauth/page-echoes-parameters",
    fault: "Writes request parameters unescaped into its pages",
    wrap: changeResponses(undefined, async (answer, request) => {
      if (!answer.headers.get("content-type")?.startsWith("text/html")) return answer;
      const sent = [...new URL(request.url).searchParams.values()].join(" ");
      return withBody(answer, (await answer.text()).replace("</body>", `${sent}</body>`));
    }),
    killedBy: [...names("state-is-no-markup"), "oauth/login/page-shows-no-markup"],
    mayFail: {
      "It reads the page": ["oauth/form_post/state-is-no-markup"],
      "It searches the page for what it sent": ["oauth/authorization_details/markup"],
    },
  },
  {
    name: "oauth/consent-page-echoes-state",
    fault: "Writes state unescaped into its consent page",
    wrap: changeResponses(AUTHORIZE, async (answer, request) => {
      const state = new URL(request.url).searchParams.get("state");
      if (answer.status !== 200 || state === null) return answer;
      return withBody(answer, (await answer.text()).replace("</body>", () => `${state}</body>`));
    }),
    killedBy: names("state-is-no-markup"),
    mayFail: { "It reads the page": ["oauth/form_post/state-is-no-markup"] },
  },
  {
    name: "oauth/consent-framed",
    fault: "Lets other sites frame the consent page",
    wrap: withoutFrameProtection(AUTHORIZE),
    killedBy: ["oauth/consent/not-in-a-frame", "oauth/best_practice/page-for-old-browsers"],
    mayFail: {
      "They check the same pages": [
        "oauth/best_practice/error-says-who-may-frame-it",
        "oauth/best_practice/page-says-who-may-frame-it",
        "oauth/consent/error-page-not-in-a-frame",
      ],
    },
  },
  {
    name: "oauth/consent-by-get",
    fault: "Accepts the consent decision by GET",
    wrap: changeRequests(AUTHORIZE, (request) => {
      const { searchParams } = new URL(request.url);
      return searchParams.has("decision") ? withForm(request, searchParams) : request;
    }),
    killedBy: ["oauth/consent/by-get"],
  },
  {
    name: "oauth/consent-from-other-sites",
    fault: "Accepts the consent decision from other sites",
    wrap: acceptAnyPost,
    killedBy: ["oauth/consent/from-another-site", "oauth/consent/without-token"],
    mayFail: {
      "They post the authorization request": ["oauth/authorize/post", "oauth/openid_request/none-post"],
    },
  },
  {
    name: "oauth/login-skipped",
    fault: "Returns a code to a browser that is not signed in",
    wrap: changeResponses(AUTHORIZE, (answer, request) => {
      const to = new URL(request.url).searchParams.get("redirect_uri");
      const isToLogin = answer.headers.get("location")?.includes(LOGIN);
      return isToLogin && to !== null
        ? withHeaders(answer, { location: `${to}?code=trivet_ac_${"x".repeat(43)}` })
        : answer;
    }),
    killedBy: names("nobody-signed-in"),
    mayFail: {
      "They expect the login page": ["oauth/openid_request/login", "oauth/step_up/acr-not-met-by-new-login"],
      "Their browser is not signed in": ["oauth/registration/asked-before-redirect"],
    },
  },
  {
    name: "oauth/consent-without-client-name",
    fault: "Leaves the client's name out of the consent page",
    wrap: changeResponses(AUTHORIZE, async (answer) => {
      if (!answer.headers.get("content-type")?.startsWith("text/html")) return answer;
      return withBody(answer, (await answer.text()).replaceAll("The Asking App", "An app"));
    }),
    killedBy: ["oauth/consent/names-the-client"],
  },
];
