/**
 * Faults of the authorization endpoint, and of the question to the user.
 *
 * @module
 */
import {
  at,
  AUTHORIZE,
  faultyAnswers,
  faultyQueries,
  faultyRedirects,
  faultyRequests,
  LOGIN,
  pathOf,
  readForm,
  withBody,
  withFields,
  withForm,
  withRequestFields,
} from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { withoutFrameRules } from "../page.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/authorize/${id}`);

const onlyFirst = (...parameters: string[]): Wrap =>
  faultyQueries((query) => {
    for (const name of parameters) {
      const first = query.get(name);
      if (first !== null) query.set(name, first);
    }
  });

/** Changes one parameter of what goes back to the client. */
const answered = (name: string, change: (value: string) => string | undefined): Wrap =>
  faultyRedirects(AUTHORIZE, (location) => {
    const value = location.searchParams.get(name);
    const changed = value === null ? undefined : change(value);
    if (value !== null && changed === undefined) location.searchParams.delete(name);
    else if (changed !== undefined) location.searchParams.set(name, changed);
    return location;
  });

/** Remembers the question by the browser's session, and takes any post of this browser for its answer. */
function answeredFromAnywhere(next: Handler): Handler {
  const asked = new Map<string, string>();
  return async (request) => {
    if (pathOf(request) !== AUTHORIZE) return await next(request);
    const session = /session_id=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1] ?? "";
    const form = await readForm(request);
    if (!form) {
      const answer = await next(request);
      const transaction = /name="transaction" value="([^"]+)"/.exec(await answer.clone().text())?.[1];
      if (transaction !== undefined) asked.set(session, transaction);
      return answer;
    }
    if (!form.has("transaction")) form.set("transaction", asked.get(session) ?? "");
    const fields = { origin: undefined, "sec-fetch-site": undefined, referer: undefined };
    return await next(withRequestFields(withForm(request, form), fields));
  };
}

export const AUTHORIZE_ENDPOINT: readonly Mutant[] = [
  {
    name: "oauth/state-forgotten",
    fault: "Forgets the state",
    wrap: answered("state", () => undefined),
    breaks: names("code-in-query", "state-with-markup", "error-keeps-state", "denied"),
    mayBreak: {
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
    name: "oauth/state-cut",
    fault: "Keeps 255 characters of the state",
    wrap: answered("state", (state) => state.slice(0, 255)),
    breaks: names("state-of-2-kb"),
  },
  {
    name: "oauth/state-cleaned",
    fault: "Keeps only letters and digits of the state",
    wrap: answered("state", (state) => state.replace(/\W/g, "")),
    breaks: names("state-with-markup", "state-from-appendix-b"),
    mayBreak: {
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
    name: "oauth/state-made-up",
    fault: "Gives a state to clients that sent none",
    wrap: faultyRedirects(AUTHORIZE, (location) => {
      if (!location.searchParams.has("state")) location.searchParams.append("state", "");
      return location;
    }),
    breaks: names("no-state", "error-without-state", "empty-state"),
  },
  {
    name: "oauth/token-in-address",
    fault: "Sends the browser on with an access token beside the code",
    wrap: faultyRedirects(AUTHORIZE, (location) => {
      if (location.searchParams.has("code")) location.hash = "access_token=2YotnFZFEjr1zCsicMWpAA";
      return location;
    }),
    breaks: [
      "oauth/bearer/not-in-addresses",
      "oauth/authorize/code-in-query",
      "oauth/best_practice/no-fragment-taken-over",
    ],
  },
  {
    name: "oauth/code-in-fragment",
    fault: "Answers in the fragment",
    wrap: faultyRedirects(AUTHORIZE, (location) => {
      location.hash = location.search.slice(1);
      location.search = "";
      return location;
    }),
    breaks: names("code-in-query", "error-in-query"),
    mayBreak: {
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
    fault: "Takes every response type for code",
    wrap: faultyQueries((query) => query.set("response_type", "code")),
    breaks: names("response-type-unknown", "response-type-missing", "response-type-in-other-case"),
    mayBreak: {
      "They ask for a response type that there is not": [
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
    fault: "Reads response types in any case",
    wrap: faultyQueries((query) => {
      const type = query.get("response_type");
      if (type && query.getAll("response_type").length === 1) query.set("response_type", type.toLowerCase());
    }),
    breaks: names("response-type-in-other-case"),
  },
  {
    name: "oauth/authorize-repeated-first",
    fault: "Takes the first of repeated parameters",
    wrap: onlyFirst("response_type", "scope", "state", "code_challenge", "client_id"),
    breaks: names(
      "repeated-response-type",
      "repeated-scope",
      "repeated-code-challenge",
      "repeated-client-id",
    ),
    mayBreak: { "They repeat a parameter": ["oauth/authorize/repeated-", "oauth/issuer/repeated-parameter"] },
  },
  {
    name: "oauth/redirect-uri-repeated-first",
    fault: "Takes the first of two redirect URIs",
    wrap: onlyFirst("redirect_uri"),
    breaks: ["oauth/redirect_uri/repeated-alike"],
    mayBreak: { "It repeats the redirect URI": ["oauth/redirect_uri/repeated-right-first"] },
  },
  {
    name: "oauth/head-gives-code",
    fault: "Answers HEAD as if the user had allowed what it asks",
    wrap: at(AUTHORIZE, (next) => async (request) => {
      const to = new URL(request.url).searchParams.get("redirect_uri");
      if (request.method !== "HEAD" || to === null) {
        return await next(request);
      }
      return new Response(null, { status: 302, headers: { location: `${to}?code=trivet_ac_x` } });
    }),
    breaks: names("head-gives-no-code"),
  },
  {
    name: "oauth/unknown-parameter-refused",
    fault: "Refuses parameters that it does not know",
    wrap: at(AUTHORIZE, (next) => async (request) => {
      const known = /^(response_type|client_id|redirect_uri|scope|state|code_challenge(_method)?|resource)$/;
      const others = [...new URL(request.url).searchParams.keys()].some((name) => !known.test(name));
      if (request.method !== "GET" || !others) return await next(request);
      return new Response("unknown parameter", { status: 400 });
    }),
    breaks: names("unknown-parameter"),
    mayBreak: {
      "They send a parameter that is not of RFC 6749, 7636 or 8707": [
        "oauth/dpop/",
        "oauth/issuer/not-from-the-request",
        "oauth/par/",
        "oauth/authorization_details/",
      ],
    },
  },
  {
    name: "oauth/error-page-echoes",
    fault: "Writes what it was sent into its pages",
    wrap: faultyAnswers(undefined, async (answer, request) => {
      if (!answer.headers.get("content-type")?.startsWith("text/html")) return answer;
      const sent = [...new URL(request.url).searchParams.values()].join(" ");
      return withBody(answer, (await answer.text()).replace("</body>", `${sent}</body>`));
    }),
    breaks: [...names("state-is-no-markup"), "oauth/login/page-shows-no-markup"],
    mayBreak: { "It looks for what it sent in a page": ["oauth/authorization_details/markup"] },
  },
  {
    name: "oauth/consent-framed",
    fault: "Lets other sites show the consent page in a frame",
    wrap: withoutFrameRules(AUTHORIZE),
    breaks: ["oauth/consent/not-in-a-frame", "oauth/best_practice/page-for-old-browsers"],
    mayBreak: {
      "They look at the same pages": [
        "oauth/best_practice/error-says-who-may-frame-it",
        "oauth/best_practice/page-says-who-may-frame-it",
        "oauth/consent/error-page-not-in-a-frame",
      ],
    },
  },
  {
    name: "oauth/consent-by-get",
    fault: "Takes the user's answer from an address",
    wrap: faultyRequests(AUTHORIZE, (request) => {
      const { searchParams } = new URL(request.url);
      return searchParams.has("decision") ? withForm(request, searchParams) : request;
    }),
    breaks: ["oauth/consent/by-get"],
  },
  {
    name: "oauth/consent-from-anywhere",
    fault: "Takes the user's answer from other sites' pages",
    wrap: answeredFromAnywhere,
    breaks: ["oauth/consent/from-another-site", "oauth/consent/without-token"],
  },
  {
    name: "oauth/login-not-needed",
    fault: "Gives a code to a browser in which nobody is signed in",
    wrap: faultyAnswers(AUTHORIZE, (answer, request) => {
      const to = new URL(request.url).searchParams.get("redirect_uri");
      const isToLogin = answer.headers.get("location")?.includes(LOGIN);
      return isToLogin && to !== null
        ? withFields(answer, { location: `${to}?code=trivet_ac_${"x".repeat(43)}` })
        : answer;
    }),
    breaks: names("nobody-signed-in"),
    mayBreak: { "They ask without a signed-in browser": ["oauth/registration/asked-before-redirect"] },
  },
  {
    name: "oauth/consent-nameless",
    fault: "Does not say which client it is that the user is asked about",
    wrap: faultyAnswers(AUTHORIZE, async (answer) => {
      if (!answer.headers.get("content-type")?.startsWith("text/html")) return answer;
      return withBody(answer, (await answer.text()).replaceAll("The Asking App", "An app"));
    }),
    breaks: ["oauth/consent/names-the-client"],
  },
];
