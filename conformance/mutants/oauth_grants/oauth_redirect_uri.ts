/**
 * Redirect URIs compared in every way but the right one, and answers that go where they should not.
 *
 * @module
 */
import {
  at,
  AUTHORIZE,
  faultyAnswers,
  faultyQueries,
  faultyRedirects,
  withFields,
  withUrl,
} from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { clientOf, CLIENTS } from "../registered.ts";

/** Takes redirect URIs that only resemble the registered one, and sends its answers there, or to the registered one. */
function loose(
  resembles: (asked: string, registered: string) => boolean,
  to: "asked" | "registered" = "asked",
): Wrap {
  return at(AUTHORIZE, (next) => async (request) => {
    const url = new URL(request.url);
    const asked = url.searchParams.get("redirect_uri");
    const registered = clientOf(url.searchParams.get("client_id"))?.redirect_uri;
    if (
      !asked || !registered || asked === registered ||
      !quietly(() => resembles(asked, registered))
    ) return await next(request);
    url.searchParams.set("redirect_uri", registered);
    const answer = await next(withUrl(request, url));
    const location = answer.headers.get("location");
    if (to === "registered" || !location?.startsWith(registered)) return answer;
    return withFields(answer, { location: encodeURI(asked) + location.slice(registered.length) });
  });
}

function quietly(decide: () => boolean): boolean {
  try {
    return decide();
  } catch {
    return false;
  }
}

/** Compares one part of both, the rest exactly. */
const but = (part: "port" | "protocol" | "search" | "hash"): Wrap =>
  loose((asked, registered) => {
    const [one, two] = [new URL(asked), new URL(registered)];
    one[part] = two[part] = part === "protocol" ? "https:" : "";
    return one.href === two.href;
  });

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/redirect_uri/${id}`);

export const REDIRECT_URI: readonly Mutant[] = [
  {
    name: "oauth/redirect-uri-any",
    fault: "Takes any redirect URI",
    wrap: loose(() => true),
    breaks: names(
      "unregistered",
      "host-with-suffix",
      "other-scheme",
      "errors-stay-here",
      "checked-before-login",
    ),
    mayBreak: {
      "Each brings a redirect URI that is not registered": [
        "oauth/authorize/state-is-no-markup",
        "oauth/best_practice/",
        "oauth/par/redirect-uri-beside-it",
        "oauth/redirect_uri/",
      ],
    },
  },
  {
    name: "oauth/redirect-uri-host-suffix",
    fault: "Takes any host that ends in the registered one",
    wrap: loose((asked, registered) => new URL(asked).host.endsWith(new URL(registered).host)),
    breaks: names("subdomain", "host-with-prefix"),
    mayBreak: { "The host of theirs ends so, too": ["oauth/redirect_uri/"] },
  },
  {
    name: "oauth/redirect-uri-host-prefix",
    fault: "Takes any address that begins with the registered origin",
    wrap: loose((asked, registered) => asked.startsWith(new URL(registered).origin)),
    breaks: names("host-with-suffix", "userinfo-is-registered", "path-cut"),
    mayBreak: { "Theirs begin so, too": ["oauth/best_practice/", "oauth/redirect_uri/"] },
  },
  {
    name: "oauth/redirect-uri-prefix",
    fault: "Takes any address that begins with the registered one",
    wrap: loose((asked, registered) => asked.startsWith(registered)),
    breaks: names("path-below", "path-continued", "more-query", "fragment", "null-byte"),
    mayBreak: { "Theirs begin so, too": ["oauth/redirect_uri/"] },
  },
  {
    name: "oauth/redirect-uri-contained",
    fault: "Takes any address that contains the registered host",
    wrap: loose((asked, registered) => asked.includes(new URL(registered).host)),
    breaks: names("query-before-host", "fragment-before-host", "userinfo"),
    mayBreak: { "Theirs contain the host, too": ["oauth/best_practice/", "oauth/redirect_uri/"] },
  },
  {
    name: "oauth/redirect-uri-parsed",
    fault: "Compares addresses as a URL parser writes them",
    wrap: loose((asked, registered) => new URL(asked).href === new URL(registered).href, "registered"),
    breaks: names("scheme-in-capitals", "default-port", "dots-that-cancel"),
    mayBreak: { "Theirs are the same to a URL parser": ["oauth/redirect_uri/"] },
  },
  {
    name: "oauth/redirect-uri-any-port",
    fault: "Overlooks the port of a registered https address",
    wrap: but("port"),
    breaks: names("other-port"),
    mayBreak: {
      "Theirs differ in the port, or in what a URL parser overlooks": [
        "oauth/best_practice/loopback-any-port",
        "oauth/best_practice/port-only-on-loopback",
        "oauth/redirect_uri/",
      ],
    },
  },
  {
    name: "oauth/redirect-uri-any-scheme",
    fault: "Overlooks the scheme",
    wrap: but("protocol"),
    breaks: names("other-scheme"),
    mayBreak: { "Theirs differ in the scheme, or in what a URL parser overlooks": ["oauth/redirect_uri/"] },
  },
  {
    name: "oauth/redirect-uri-any-query",
    fault: "Overlooks the query",
    wrap: but("search"),
    breaks: names("more-query"),
    mayBreak: { "Theirs differ in the query, or in what a URL parser overlooks": ["oauth/redirect_uri/"] },
  },
  {
    name: "oauth/redirect-uri-any-fragment",
    fault: "Overlooks the fragment",
    wrap: but("hash"),
    breaks: names("fragment"),
    mayBreak: { "Theirs differ in the fragment, or in what a URL parser overlooks": ["oauth/redirect_uri/"] },
  },
  {
    name: "oauth/redirect-uri-trimmed",
    fault: "Cuts blanks off before it compares",
    wrap: loose((asked, registered) => asked.trim() === registered, "registered"),
    breaks: names("blank-after", "blank-before"),
  },
  {
    name: "oauth/redirect-uri-slash",
    fault: "Overlooks a slash at the end",
    wrap: loose((asked, registered) => asked.replace(/\/$/, "") === registered),
    breaks: names("slash-after"),
  },
  {
    name: "oauth/redirect-uri-completed",
    fault: "Completes an address from which the beginning is missing",
    wrap: loose((asked, registered) => registered.endsWith(asked), "registered"),
    breaks: names("relative", "no-scheme", "scheme-relative"),
  },
  {
    name: "oauth/redirect-uri-first-of-two",
    fault: "Takes the first redirect URI of a client that has two and names none",
    wrap: faultyQueries((query) => {
      const client = clientOf(query.get("client_id"));
      const isOneOfTwo = client?.second_redirect_uri !== undefined && !query.has("redirect_uri");
      if (isOneOfTwo) query.set("redirect_uri", client.redirect_uri!);
    }),
    breaks: names("omitted-with-two"),
  },
  {
    name: "oauth/redirect-uri-of-anyone",
    fault: "Takes an address that another client has registered",
    wrap: loose((asked) => CLIENTS.some(({ redirect_uri }) => redirect_uri === asked)),
    breaks: names("of-another-client"),
    mayBreak: {
      "It brings that of another client beside a pushed request": ["oauth/par/redirect-uri-beside-it"],
    },
  },
  {
    name: "oauth/errors-open-redirect",
    fault: "Sends errors to redirect URIs that it has refused",
    wrap: faultyAnswers(AUTHORIZE, (answer, request) => {
      const to = URL.parse(new URL(request.url).searchParams.get("redirect_uri") ?? "");
      if (answer.status !== 400 || !to) return answer;
      to.searchParams.set("error", "invalid_request");
      return withFields(answer, { location: to.href }, 302);
    }),
    breaks: [...names("errors-stay-here", "unregistered"), "oauth/authorize/client-id-unknown"],
    mayBreak: {
      "Their requests are refused with 400 on a page": [
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
    fault: "Replaces the query of a registered redirect URI",
    wrap: faultyRedirects(AUTHORIZE, (location) => {
      location.searchParams.delete("app");
      return location;
    }),
    breaks: names("query-is-kept"),
    mayBreak: { "Its redirect URI has a query, too": ["oauth/issuer/uri-with-query"] },
  },
];
