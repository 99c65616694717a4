/**
 * Faults in the use of request_uri (RFC 9126 section 4): its client, its lifetime, and parameters beside it.
 *
 * @module
 */
import { acceptRefused, neverRemove } from "../accept_refused.ts";
import { changeAuthorizations, changeLocation } from "../browser_faults.ts";
import {
  AUTHORIZE,
  changeQueries,
  changeRedirects,
  onPath,
  readForm,
  withForm,
  withUrl,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { findClient } from "../registered_clients.ts";
import { resembling } from "../resembling.ts";

const PAR = "/oauth/par";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/par/${id}`);

const toConsentPage = (): Response =>
  new Response("<h1>May it?</h1>", { headers: { "content-type": "text/html;charset=utf-8" } });

/** Records the pushed form of each request_uri. */
function recordPushes(
  use: (forms: ReadonlyMap<string, URLSearchParams>, next: Handler) => Handler,
): Wrap {
  return (next) => {
    const forms = new Map<string, URLSearchParams>();
    const used = use(forms, next);
    return async (request) => {
      if (!request.url.endsWith(PAR)) return await used(request);
      const form = await readForm(request);
      const answer = await next(request);
      const { request_uri } = answer.status === 201 ? await answer.clone().json() : {};
      if (request_uri && form) forms.set(request_uri, form);
      return answer;
    };
  };
}

/** Changes authorization requests that have a request_uri. */
const onRequestUri = (
  change: (url: URL, forms: ReadonlyMap<string, URLSearchParams>, next: Handler) => void | Promise<void>,
): Wrap =>
  recordPushes((forms, next) => async (request) => {
    const url = new URL(request.url);
    if (url.pathname !== AUTHORIZE || !url.searchParams.has("request_uri")) return await next(request);
    await change(url, forms, next);
    return await next(withUrl(request, url));
  });

/** Lets parameters of the query replace pushed ones. */
const preferQuery = (...parameters: readonly string[]): Wrap =>
  onRequestUri(async (url, forms, next) => {
    const form = forms.get(url.searchParams.get("request_uri")!);
    if (!form || !parameters.some((each) => url.searchParams.has(each))) return;
    const changed = new URLSearchParams(form);
    for (const each of parameters) changed.set(each, url.searchParams.get(each) ?? form.get(each) ?? "");
    const client = findClient(form.get("client_id"))!;
    if (client.secret !== undefined) changed.set("client_secret", client.secret);
    const answer = await next(withForm(new Request(new URL(PAR, url), { method: "POST" }), changed));
    url.searchParams.set("request_uri", (await answer.json()).request_uri);
  });

export const PUSHED_REQUEST_URIS: readonly Mutant[] = [
  {
    name: "oauth/par-secret-leaked",
    fault: "Returns the pushed client_secret to the browser",
    wrap: recordPushes((forms, next) =>
      changeAuthorizations((answer, query) =>
        changeLocation(answer, (location) => {
          const secret = forms.get(query.get("request_uri") ?? "")?.get("client_secret");
          if (secret) location.searchParams.set("client_secret", secret);
          return location;
        })
      )(next)
    ),
    killedBy: names("proof-that-is-not-repeated"),
  },
  {
    name: "oauth/par-request-uri-of-any-client",
    fault: "Does not check which client pushed the request",
    wrap: onRequestUri((url, forms) => {
      const owner = forms.get(url.searchParams.get("request_uri")!)?.get("client_id");
      if (owner) url.searchParams.set("client_id", owner);
    }),
    killedBy: names("name-of-another-client"),
  },
  {
    name: "oauth/par-unknown-request-uri",
    fault: "Shows the consent page for an unknown request_uri",
    wrap: acceptRefused(AUTHORIZE, ({ request }) => request.url.includes("request_uri="), toConsentPage),
    killedBy: names(
      "unknown-name",
      "foreign-name",
      "two-names",
      "twice",
      "expired",
      "name-of-another-client",
    ),
    mayFail: {
      "They push a request object": [
        "oauth/request_object/request-and-request-uri",
        "oauth/request_object/request-uri-not-registered",
      ],
      "They send values that resemble the right ones": resembling("request-uri"),
    },
  },
  {
    name: "oauth/par-request-uri-never-expires",
    fault: "Keeps pushed requests after use and after they expire",
    store: neverRemove("pushed_request"),
    killedBy: names("twice", "two-pages", "expired"),
  },
  {
    name: "oauth/par-two-request-uris-first",
    fault: "Reads the first of two request_uri",
    wrap: changeQueries((query) => {
      const [first, ...more] = query.getAll("request_uri");
      if (first !== undefined && more.length > 0) query.set("request_uri", first);
    }),
    killedBy: names("two-names"),
  },
  {
    name: "oauth/par-state-from-query",
    fault: "Reads state and scope from the query although the request was pushed",
    wrap: preferQuery("state", "scope"),
    killedBy: names("state-beside-it", "scope-beside-it"),
  },
  {
    name: "oauth/par-challenge-from-query",
    fault: "Reads code_challenge from the query although the request was pushed",
    wrap: preferQuery("code_challenge"),
    killedBy: names("challenge-beside-it"),
  },
  {
    name: "oauth/par-redirect-uri-from-query",
    fault: "Redirects to the redirect_uri of the query although the request was pushed",
    wrap: changeAuthorizations((answer, query) =>
      changeLocation(answer, (location) => {
        const beside = query.has("request_uri") ? query.get("redirect_uri") : null;
        return beside === null ? location : new URL(`${beside}${location.search}`);
      })
    ),
    killedBy: names("redirect-uri-beside-it"),
  },
  {
    name: "oauth/par-not-required",
    fault: "Accepts other requests from a client that must push",
    wrap: onPath(AUTHORIZE, (next) => async (request) => {
      const url = new URL(request.url);
      if (url.searchParams.get("client_id") !== "pushing" || url.searchParams.has("request_uri")) {
        return await next(request);
      }
      return toConsentPage();
    }),
    killedBy: names("only-pushed"),
  },
  {
    name: "oauth/denial-ignored",
    fault: "Returns a code although the user denied the request",
    wrap: changeRedirects(AUTHORIZE, (location) => {
      if (location.searchParams.get("error") !== "access_denied") return location;
      location.searchParams.delete("error");
      location.searchParams.set("code", "x");
      return location;
    }),
    killedBy: names("denied"),
    mayFail: { "The user denies the request": ["oauth/"] },
  },
];
