/**
 * Faults of where a server believes that it stands: addresses that a stranger's request chooses.
 *
 * @module
 */
import { AUTHORIZE, faultyAnswers, METADATA, pathOf, withBody, withFields } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/metadata/${id}`);

/** Writes another origin for its own, where a request gives one. */
function originOf(read: (request: Request) => string | undefined | null): Wrap {
  return faultyAnswers(undefined, async (answer, request) => {
    const path = pathOf(request);
    const origin = read(request);
    if (!origin || path !== METADATA && path !== AUTHORIZE) return answer;
    const { origin: own } = new URL(request.url);
    const location = answer.headers.get("location");
    const there = location && new URL(location, own).href.replaceAll(own, origin);
    const body = (await answer.clone().text()).replaceAll(own, origin);
    return withFields(withBody(answer, body), there ? { location: there } : {});
  });
}

const host = (name: string): Wrap =>
  originOf((request) => {
    const value = request.headers.get(name);
    return value && `https://${value}`;
  });

const address = (name: string): Wrap =>
  originOf((request) => URL.parse(request.headers.get(name) ?? "")?.origin);

export const OWN_ADDRESS: readonly Mutant[] = [
  {
    name: "oauth/metadata-of-forwarded-host",
    fault: "Believes X-Forwarded-Host about where it stands",
    wrap: host("x-forwarded-host"),
    breaks: [
      ...names("issuer-not-from-x-forwarded-host"),
      "oauth/best_practice/login-not-from-x-forwarded-host",
    ],
  },
  {
    name: "oauth/metadata-of-forwarded-proto",
    fault: "Believes X-Forwarded-Proto about how it is spoken to",
    wrap: originOf((request) => {
      const scheme = request.headers.get("x-forwarded-proto");
      return scheme && `${scheme}://${new URL(request.url).host}`;
    }),
    breaks: names("issuer-not-from-x-forwarded-proto"),
  },
  {
    name: "oauth/metadata-of-forwarded",
    fault: "Believes Forwarded about where it stands",
    wrap: originOf((request) => {
      const found = /host=([^;,]+)/.exec(request.headers.get("forwarded") ?? "")?.[1];
      return found && `http://${found}`;
    }),
    breaks: [...names("issuer-not-from-forwarded"), "oauth/best_practice/login-not-from-forwarded"],
  },
  {
    name: "oauth/metadata-of-original-url",
    fault: "Believes X-Original-Url about where it stands",
    wrap: address("x-original-url"),
    breaks: [...names("issuer-not-from-x-original-url"), "oauth/best_practice/login-not-from-x-original-url"],
  },
  {
    name: "oauth/metadata-of-rewrite-url",
    fault: "Believes X-Rewrite-Url about where it stands",
    wrap: address("x-rewrite-url"),
    breaks: [...names("issuer-not-from-x-original-url"), "oauth/best_practice/login-not-from-x-rewrite-url"],
  },
];
