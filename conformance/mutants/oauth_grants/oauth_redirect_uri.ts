/**
 * Faults in the comparison of redirect URIs and in the target of responses.
 *
 * @module
 */
import {
  AUTHORIZE,
  changeQueries,
  changeRedirects,
  changeResponses,
  onPath,
  withHeaders,
  withUrl,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { CLIENTS, findClient } from "../registered_clients.ts";

/** Accepts redirect URIs that resemble the registered one, and redirects to either. */
function acceptSimilar(
  resembles: (requested: string, registered: string) => boolean,
  to: "asked" | "registered" = "asked",
): Wrap {
  return onPath(AUTHORIZE, (next) => async (request) => {
    const url = new URL(request.url);
    const requested = url.searchParams.get("redirect_uri");
    const registered = findClient(url.searchParams.get("client_id"))?.redirect_uri;
    if (
      !requested || !registered || requested === registered ||
      !testSafely(() => resembles(requested, registered))
    ) return await next(request);
    url.searchParams.set("redirect_uri", registered);
    const answer = await next(withUrl(request, url));
    const location = answer.headers.get("location");
    if (to === "registered" || !location?.startsWith(registered)) return answer;
    return withHeaders(answer, { location: encodeURI(requested) + location.slice(registered.length) });
  });
}

function testSafely(decide: () => boolean): boolean {
  try {
    return decide();
  } catch {
    return false;
  }
}

/** Ignores one part of redirect URIs. */
const ignorePart = (part: "port" | "protocol" | "search" | "hash"): Wrap =>
  acceptSimilar((requested, registered) => {
    const [one, two] = [new URL(requested), new URL(registered)];
    one[part] = two[part] = part === "protocol" ? "https:" : "";
    return one.href === two.href;
  });

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/redirect_uri/${id}`);

export const REDIRECT_URI: readonly Mutant[] = [
  {
    name: "oauth/redirect-uri-any",
    fault: "Accepts any redirect URI",
    wrap: acceptSimilar(() => true),
    killedBy: names(
      "unregistered",
      "host-with-suffix",
      "other-scheme",
      "errors-stay-here",
      "checked-before-login",
    ),
    mayFail: {
      "It sends an unknown redirect URI": ["oauth/form_post/redirect-uri-unknown"],
      "They send values that resemble the right ones": [
        "oauth/encoding/redirect-",
        "oauth/letter_case/redirect-",
      ],
      "They send a redirect URI that is not registered": [
        "oauth/authorize/state-is-no-markup",
        "oauth/best_practice/",
        "oauth/par/redirect-uri-beside-it",
        "oauth/redirect_uri/",
      ],
    },
  },
  {
    name: "oauth/redirect-uri-host-suffix",
    fault: "Accepts any host that ends with the registered one",
    wrap: acceptSimilar((requested, registered) =>
      new URL(requested).host.endsWith(new URL(registered).host)
    ),
    killedBy: names("subdomain", "host-with-prefix"),
    mayFail: {
      "They send values that resemble the right ones": [
        "oauth/encoding/redirect-",
        "oauth/letter_case/redirect-",
      ],
      "Their host ends with the registered one": ["oauth/redirect_uri/"],
    },
  },
  {
    name: "oauth/redirect-uri-host-prefix",
    fault: "Accepts any URI that begins with the registered origin",
    wrap: acceptSimilar((requested, registered) => requested.startsWith(new URL(registered).origin)),
    killedBy: names("host-with-suffix", "userinfo-is-registered", "path-cut"),
    mayFail: {
      "They send values that resemble the right ones": [
        "oauth/encoding/redirect-",
        "oauth/letter_case/redirect-",
      ],
      "Theirs begin with the registered one": ["oauth/best_practice/", "oauth/redirect_uri/"],
    },
  },
  {
    name: "oauth/redirect-uri-prefix",
    fault: "Accepts any URI that begins with the registered one",
    wrap: acceptSimilar((requested, registered) => requested.startsWith(registered)),
    killedBy: names("path-below", "path-continued", "more-query", "fragment", "null-byte"),
    mayFail: { "Theirs begin with the registered one": ["oauth/redirect_uri/"] },
  },
  {
    name: "oauth/redirect-uri-contained",
    fault: "Accepts any URI that contains the registered host",
    wrap: acceptSimilar((requested, registered) => requested.includes(new URL(registered).host)),
    killedBy: names("query-before-host", "fragment-before-host", "userinfo"),
    mayFail: {
      "They send values that resemble the right ones": [
        "oauth/encoding/redirect-",
        "oauth/letter_case/redirect-",
      ],
      "Theirs contain the registered host": ["oauth/best_practice/", "oauth/redirect_uri/"],
    },
  },
  {
    name: "oauth/redirect-uri-parsed",
    fault: "Compares redirect URIs after URL normalization",
    wrap: acceptSimilar(
      (requested, registered) => new URL(requested).href === new URL(registered).href,
      "registered",
    ),
    killedBy: names("scheme-in-capitals", "default-port", "dots-that-cancel"),
    mayFail: {
      "They send values that resemble the right ones": [
        "oauth/encoding/redirect-",
        "oauth/letter_case/redirect-",
      ],
      "Theirs are equal after URL normalization": ["oauth/redirect_uri/"],
    },
  },
  {
    name: "oauth/redirect-uri-any-port",
    fault: "Ignores the port of a registered https URI",
    wrap: ignorePart("port"),
    killedBy: names("other-port"),
    mayFail: {
      "They send values that resemble the right ones": [
        "oauth/encoding/redirect-",
        "oauth/letter_case/redirect-",
      ],
      "Theirs differ only in the port or in what URL normalization removes": [
        "oauth/best_practice/loopback-any-port",
        "oauth/best_practice/port-only-on-loopback",
        "oauth/redirect_uri/",
      ],
    },
  },
  {
    name: "oauth/redirect-uri-any-scheme",
    fault: "Ignores the scheme",
    wrap: ignorePart("protocol"),
    killedBy: names("other-scheme"),
    mayFail: {
      "They send values that resemble the right ones": [
        "oauth/encoding/redirect-",
        "oauth/letter_case/redirect-",
      ],
      "Theirs differ only in the scheme or in what URL normalization removes": ["oauth/redirect_uri/"],
    },
  },
  {
    name: "oauth/redirect-uri-any-query",
    fault: "Ignores the query",
    wrap: ignorePart("search"),
    killedBy: names("more-query"),
    mayFail: {
      "They send values that resemble the right ones": [
        "oauth/encoding/redirect-",
        "oauth/letter_case/redirect-",
      ],
      "Theirs differ only in the query or in what URL normalization removes": ["oauth/redirect_uri/"],
    },
  },
  {
    name: "oauth/redirect-uri-any-fragment",
    fault: "Ignores the fragment",
    wrap: ignorePart("hash"),
    killedBy: names("fragment"),
    mayFail: {
      "They send values that resemble the right ones": [
        "oauth/encoding/redirect-",
        "oauth/letter_case/redirect-",
      ],
      "Theirs differ only in the fragment or in what URL normalization removes": ["oauth/redirect_uri/"],
    },
  },
  {
    name: "oauth/redirect-uri-trimmed",
    fault: "Trims whitespace before it compares",
    wrap: acceptSimilar((requested, registered) => requested.trim() === registered, "registered"),
    killedBy: names("blank-after", "blank-before"),
  },
  {
    name: "oauth/redirect-uri-slash",
    fault: "Ignores a trailing slash",
    wrap: acceptSimilar((requested, registered) => requested.replace(/\/$/, "") === registered),
    killedBy: names("slash-after"),
  },
  {
    name: "oauth/redirect-uri-completed",
    fault: "Completes a relative redirect URI",
    wrap: acceptSimilar((requested, registered) => registered.endsWith(requested), "registered"),
    killedBy: names("relative", "no-scheme", "scheme-relative"),
  },
  {
    name: "oauth/redirect-uri-first-of-two",
    fault: "Uses the first of two registered redirect URIs when the request has none",
    wrap: changeQueries((query) => {
      const client = findClient(query.get("client_id"));
      const isOneOfTwo = client?.second_redirect_uri !== undefined && !query.has("redirect_uri");
      if (isOneOfTwo) query.set("redirect_uri", client.redirect_uri!);
    }),
    killedBy: names("omitted-with-two"),
  },
  {
    name: "oauth/redirect-uri-of-any-client",
    fault: "Accepts a redirect URI of another client",
    wrap: acceptSimilar((requested) => CLIENTS.some(({ redirect_uri }) => redirect_uri === requested)),
    killedBy: names("of-another-client"),
    mayFail: {
      "It sends another client's redirect URI beside a pushed request": ["oauth/par/redirect-uri-beside-it"],
    },
  },
  {
    name: "oauth/errors-open-redirect",
    fault: "Redirects errors to refused redirect URIs",
    wrap: changeResponses(AUTHORIZE, (answer, request) => {
      const to = URL.parse(new URL(request.url).searchParams.get("redirect_uri") ?? "");
      if (answer.status !== 400 || !to) return answer;
      to.searchParams.set("error", "invalid_request");
      return withHeaders(answer, { location: to.href }, 302);
    }),
    killedBy: [...names("errors-stay-here", "unregistered"), "oauth/authorize/client-id-unknown"],
    mayFail: {
      "It sends an unknown redirect URI": ["oauth/form_post/redirect-uri-unknown"],
      "It reads the status of an error": ["oauth/oauth_2_1/unknown-client-is-400"],
      "They send values that resemble the right ones": [
        "oauth/encoding/client-id-at-authorization",
        "oauth/encoding/redirect-",
        "oauth/letter_case/client-id-at-authorization",
        "oauth/letter_case/redirect-",
        "oauth/prefix/client-id-at-authorization",
      ],
      "They expect an error page with 400": [
        "oauth/authorize/",
        "oauth/best_practice/",
        "oauth/client_management/deleted-id",
        "oauth/client_management/old-uri-gone",
        "oauth/consent/error-page-not-in-a-frame",
        "oauth/redirect_uri/",
        "oauth/registration/other-uri-fails",
      ],
    },
  },
  {
    name: "oauth/redirect-query-lost",
    fault: "Drops the query of a registered redirect URI",
    wrap: changeRedirects(AUTHORIZE, (location) => {
      location.searchParams.delete("app");
      return location;
    }),
    killedBy: names("query-is-kept"),
    mayFail: { "Its redirect URI has a query": ["oauth/issuer/uri-with-query"] },
  },
];
