/**
 * Faults that change a request after it was checked: at the user's decision, at a refresh, and in what comes back to the
 * client.
 *
 * @module
 */
import {
  AUTHORIZE,
  changeJson,
  changeRedirects,
  changeRequests,
  onPath,
  readForm,
  TOKEN,
  withForm,
  withHeaders,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const consent = (...ids: string[]): string[] => ids.map((id) => `oauth/consent/${id}`);
const encoding = (...ids: string[]): string[] => ids.map((id) => `oauth/encoding/${id}`);
const prefix = (...ids: string[]): string[] => ids.map((id) => `oauth/prefix/${id}`);

const findTransaction = (page: string): string | undefined =>
  /name="transaction" value="([^"]+)"/.exec(page)?.[1];

/** The parameters of a decision: those of the form, and those of its address. */
async function readDecision(request: Request): Promise<URLSearchParams | undefined> {
  const form = await readForm(request);
  return form && new URLSearchParams([...form, ...new URL(request.url).searchParams]);
}

/** Sends the response of a decision to the redirect URI that came with the decision. */
const redirectAsDecided: Wrap = onPath(AUTHORIZE, (next) => async (request) => {
  const to = (await readDecision(request))?.get("redirect_uri");
  const answer = await next(request);
  const location = answer.headers.get("location");
  if (!to || location === null) return answer;
  return withHeaders(answer, { location: to + new URL(location, request.url).search });
});

/** Grants codes the scope that `chooseScope` returns, and names it in token responses. */
function grantChosenScope(
  chooseScope: () => (request: Request, page: string) => Promise<string | undefined>,
): Wrap {
  const wrap = (next: Handler): Handler => {
    const scopes = new Map<string, string>();
    const choose = chooseScope();
    const tokens = onPath(TOKEN, (inner) => async (request) => {
      const scope = scopes.get((await readForm(request))?.get("code") ?? "");
      if (scope === undefined) return await inner(request);
      return await changeJson(TOKEN, (json) => {
        if ("access_token" in json) json["scope"] = scope;
      })(inner)(request);
    })(next);
    const pages = onPath(AUTHORIZE, (inner) => async (request) => {
      const answer = await inner(request.clone() as Request);
      const scope = await choose(request, await answer.clone().text());
      const code = URL.parse(answer.headers.get("location") ?? "", request.url)?.searchParams.get("code");
      if (code && scope !== undefined) scopes.set(code, scope);
      return answer;
    })(tokens);
    return pages;
  };
  return Object.assign(wrap, { path: AUTHORIZE });
}

const scopeAsDecided = () => async (request: Request): Promise<string | undefined> =>
  (await readDecision(request))?.get("scope") ?? undefined;

/** The request that a browser made last, by its cookie: what several open pages then share. */
function keepLastRequest(): (request: Request, page: string) => Promise<URLSearchParams | undefined> {
  const last = new Map<string, URLSearchParams>();
  return async (request, page) => {
    const cookie = request.headers.get("cookie") ?? "";
    if (await readForm(request)) return last.get(cookie);
    if (findTransaction(page) !== undefined) last.set(cookie, new URL(request.url).searchParams);
    return undefined;
  };
}

const scopeOfLastPage = () => {
  const find = keepLastRequest();
  return async (request: Request, page: string): Promise<string | undefined> =>
    (await find(request, page))?.get("scope") ?? undefined;
};

const redirectOfLastPage: Wrap = onPath(AUTHORIZE, (next) => {
  const find = keepLastRequest();
  return async (request) => {
    const answer = await next(request.clone() as Request);
    const to = (await find(request, await answer.clone().text()))?.get("redirect_uri");
    const location = answer.headers.get("location");
    return !to || location === null || location.startsWith(to)
      ? answer
      : withHeaders(answer, { location: to + new URL(location, request.url).search });
  };
});

/** Refreshes with the granted scope if the one asked for is accepted, and names the one asked for. */
const acceptScopes = (isAccepted: (asked: string) => boolean): Wrap =>
  onPath(TOKEN, (next) => async (request) => {
    const form = await readForm(request);
    const asked = form?.get("scope");
    if (!form || !asked || !isAccepted(asked)) return await next(request);
    form.delete("scope");
    return await changeJson(TOKEN, (json) => {
      if ("access_token" in json) json["scope"] = asked;
    })(next)(withForm(request, form));
  });

const TRIVET_SCOPE = "profile";

export const CHANGED_REQUESTS: readonly Mutant[] = [
  {
    name: "oauth/decision-changes-redirect",
    fault: "Takes the redirect URI from the form of the consent page, or its address",
    wrap: redirectAsDecided,
    killedBy: consent(
      "client-in-the-form",
      "client-in-the-query",
      "redirect-uri-in-the-form",
      "redirect-uri-in-the-query",
    ),
    mayFail: {
      "They post the authorization request": ["oauth/authorize/post", "oauth/openid_request/none-post"],
    },
  },
  {
    name: "oauth/decision-changes-scope",
    fault: "Takes the scope from the form of the consent page, or its address",
    wrap: grantChosenScope(scopeAsDecided),
    killedBy: consent("scope-in-the-form", "scope-in-the-query"),
  },
  {
    name: "oauth/decision-of-last-page-scope",
    fault: "Grants the scope of the consent page that the browser opened last",
    wrap: grantChosenScope(scopeOfLastPage),
    killedBy: consent("scope-of-a-later-page"),
  },
  {
    name: "oauth/decision-of-last-page-redirect",
    fault: "Redirects to the client whose consent page the browser opened last",
    wrap: redirectOfLastPage,
    killedBy: consent("redirect-uri-of-a-later-page"),
    mayFail: {
      "Its page has another redirect URI in the query": ["oauth/request_object/redirect-uri-beside-it"],
    },
  },
  {
    name: "oauth/refresh-scope-contains-granted",
    fault: "Accepts a scope at a refresh that contains the granted one",
    wrap: acceptScopes((asked) => asked !== TRIVET_SCOPE && asked.includes(TRIVET_SCOPE)),
    killedBy: prefix(
      "refresh-with-a-colon-after-the-scope",
      "refresh-with-a-dot-after-the-scope",
      "refresh-with-a-letter-after-the-scope",
      "refresh-with-a-scope-added",
      "refresh-with-a-scope-before",
      "refresh-with-a-slash-after-the-scope",
      "scope-of-a-client",
    ),
    mayFail: {
      "They ask for the granted scope and more": [
        "oauth/client_credentials/scope-partly-",
        "oauth/scope/not-widened-at-redemption",
      ],
    },
  },
  {
    name: "oauth/refresh-resource-begins-with-granted",
    fault: "Accepts a resource at a refresh that begins with the granted one",
    wrap: changeRequests(TOKEN, async (request) => {
      const form = await readForm(request);
      if (form?.get("grant_type") !== "refresh_token" || !form.get("resource")?.endsWith("/below")) {
        return request;
      }
      form.delete("resource");
      return withForm(request, form);
    }),
    killedBy: prefix("resource-at-refresh"),
  },
  {
    name: "oauth/state-decoded-twice",
    fault: "Percent-decodes the state once more before it returns it",
    wrap: changeRedirects(AUTHORIZE, (location) => {
      const state = location.searchParams.get("state");
      if (state !== null && /%[0-9a-f]{2}/i.test(state)) {
        try {
          location.searchParams.set("state", decodeURIComponent(state));
        } catch {
          return location;
        }
      }
      return location;
    }),
    killedBy: encoding(
      "state-of-plus-signs",
      "state-of-plus-signs-with-error",
      "state-of-triplet-of-a-percent-sign",
      "state-of-triplet-of-a-percent-sign-with-error",
      "state-of-triplets",
      "state-of-triplets-with-error",
      "state-that-would-add-a-parameter",
    ),
  },
  {
    name: "oauth/redirect-uri-dot-segments",
    fault: "Removes encoded dot segments before it compares redirect URIs",
    wrap: changeRequests(AUTHORIZE, (request) => {
      const changed = request.url.replace("%2F%252E%2F", "%2F");
      return changed === request.url ? request : new Request(changed, { headers: request.headers });
    }),
    killedBy: encoding("redirect-with-encoded-dot"),
  },
];
