/**
 * Faults of the names that pushed authorization requests have (RFC 9126 section 4): whose they are, for how long, and
 * what may stand beside them.
 *
 * @module
 */
import { both, forgiving, keeping } from "../forgiving.ts";
import { at, AUTHORIZE, faultyQueries, faultyRedirects, readForm, withForm, withUrl } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { clientOf } from "../registered.ts";

const PAR = "/oauth/par";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/par/${id}`);

const asked = (): Response =>
  new Response("<h1>May it?</h1>", { headers: { "content-type": "text/html;charset=utf-8" } });

/** Sees which form had which name. */
function withPushes(
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

/** Changes requests to the authorization endpoint that come with a name. */
const named = (
  change: (url: URL, forms: ReadonlyMap<string, URLSearchParams>, next: Handler) => void | Promise<void>,
): Wrap =>
  withPushes((forms, next) => async (request) => {
    const url = new URL(request.url);
    if (url.pathname !== AUTHORIZE || !url.searchParams.has("request_uri")) return await next(request);
    await change(url, forms, next);
    return await next(withUrl(request, url));
  });

/** The address goes before what was pushed. */
const addressWins = (...parameters: readonly string[]): Wrap =>
  named(async (url, forms, next) => {
    const form = forms.get(url.searchParams.get("request_uri")!);
    if (!form || !parameters.some((each) => url.searchParams.has(each))) return;
    const changed = new URLSearchParams(form);
    for (const each of parameters) changed.set(each, url.searchParams.get(each) ?? form.get(each) ?? "");
    const client = clientOf(form.get("client_id"))!;
    if (client.secret !== undefined) changed.set("client_secret", client.secret);
    const answer = await next(withForm(new Request(new URL(PAR, url), { method: "POST" }), changed));
    url.searchParams.set("request_uri", (await answer.json()).request_uri);
  });

export const PUSHED_NAMES: readonly Mutant[] = [
  {
    name: "oauth/par-secret-told",
    fault: "Takes the secret for a part of the request, and tells it to the browser",
    wrap: withPushes((forms, next) =>
      faultyRedirects(AUTHORIZE, (location) => {
        const secret = [...forms.values()].at(-1)?.get("client_secret");
        if (secret) location.searchParams.set("client_secret", secret);
        return location;
      })(next)
    ),
    breaks: names("proof-that-is-not-repeated"),
    mayBreak: { "the redirect of another vector": names("pushed") },
  },
  {
    name: "oauth/par-name-of-anyone",
    fault: "Forgets who pushed",
    wrap: named((url, forms) => {
      const owner = forms.get(url.searchParams.get("request_uri")!)?.get("client_id");
      if (owner) url.searchParams.set("client_id", owner);
    }),
    breaks: names("name-of-another-client"),
  },
  {
    name: "oauth/par-unknown-names",
    fault: "Asks the user though nobody knows the name",
    wrap: forgiving(AUTHORIZE, ({ request }) => request.url.includes("request_uri="), asked),
    breaks: names("unknown-name", "foreign-name", "two-names", "twice", "expired", "name-of-another-client"),
  },
  {
    name: "oauth/par-name-for-ever",
    fault: "Keeps pushed requests when they were used and when their time is over",
    store: keeping("pushed_request"),
    breaks: names("twice", "two-pages", "expired"),
  },
  {
    name: "oauth/par-two-names-first",
    fault: "Takes the first of two names in one address",
    wrap: faultyQueries((query) => {
      const [first, ...more] = query.getAll("request_uri");
      if (first !== undefined && more.length > 0) query.set("request_uri", first);
    }),
    breaks: names("two-names"),
  },
  {
    name: "oauth/par-state-of-the-address",
    fault: "Believes state and scope of the address, though the request was pushed",
    wrap: addressWins("state", "scope"),
    breaks: names("state-beside-it", "scope-beside-it"),
  },
  {
    name: "oauth/par-challenge-of-the-address",
    fault: "Believes the code_challenge of the address, though the request was pushed",
    wrap: addressWins("code_challenge"),
    breaks: names("challenge-beside-it"),
  },
  {
    name: "oauth/par-redirect-uri-of-the-address",
    fault: "Sends the browser to the redirect_uri of the address, though the request was pushed",
    wrap: (next) => {
      let beside: string | null = null;
      return both(
        faultyRedirects(AUTHORIZE, (location, request) => {
          const own = new URL(request.url).searchParams.get("redirect_uri") ?? beside;
          return own === null ? location : new URL(`${own}${location.search}`);
        }),
        at(AUTHORIZE, (inner) => async (request) => {
          const { searchParams } = new URL(request.url);
          if (request.method === "GET") {
            beside = searchParams.has("request_uri") ? searchParams.get("redirect_uri") : null;
          }
          return await inner(request);
        }),
      )(next);
    },
    breaks: names("redirect-uri-beside-it"),
    mayBreak: { "vectors at once share what it remembers": ["oauth/"] },
  },
  {
    name: "oauth/par-not-demanded",
    fault: "Takes other requests of a client that must push",
    wrap: at(AUTHORIZE, (next) => async (request) => {
      const url = new URL(request.url);
      if (url.searchParams.get("client_id") !== "pushing" || url.searchParams.has("request_uri")) {
        return await next(request);
      }
      return asked();
    }),
    breaks: names("only-pushed"),
  },
  {
    name: "oauth/par-refusal-lost",
    fault: "Gives a code though the user refused what was pushed",
    wrap: faultyRedirects(AUTHORIZE, (location) => {
      if (location.searchParams.get("error") !== "access_denied") return location;
      location.searchParams.delete("error");
      location.searchParams.set("code", "x");
      return location;
    }),
    breaks: names("denied"),
    mayBreak: { "the user refuses": ["oauth/"] },
  },
];
