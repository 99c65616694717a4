/**
 * Faults in how a server derives its own origin: headers that any client can set.
 *
 * @module
 */
import { AUTHORIZE, changeResponses, METADATA, pathOf, withBody, withHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/metadata/${id}`);

/** Replaces the server's origin with the one that `read` finds in the request. */
function useOrigin(read: (request: Request) => string | undefined | null): Wrap {
  return changeResponses(undefined, async (answer, request) => {
    const path = pathOf(request);
    const origin = read(request);
    if (!origin || path !== METADATA && path !== AUTHORIZE) return answer;
    const { origin: own } = new URL(request.url);
    const location = answer.headers.get("location");
    const there = location && new URL(location, own).href.replaceAll(own, origin);
    const body = (await answer.clone().text()).replaceAll(own, origin);
    return withHeaders(withBody(answer, body), there ? { location: there } : {});
  });
}

const useHostOf = (name: string): Wrap =>
  useOrigin((request) => {
    const value = request.headers.get(name);
    return value && `https://${value}`;
  });

const useOriginOfUrl = (name: string): Wrap =>
  useOrigin((request) => URL.parse(request.headers.get(name) ?? "")?.origin);

export const ORIGIN: readonly Mutant[] = [
  {
    name: "oauth/metadata-of-forwarded-host",
    fault: "Derives its origin from X-Forwarded-Host",
    wrap: useHostOf("x-forwarded-host"),
    killedBy: [
      ...names("issuer-not-from-x-forwarded-host"),
      "oauth/best_practice/login-not-from-x-forwarded-host",
    ],
  },
  {
    name: "oauth/metadata-of-forwarded-proto",
    fault: "Derives its scheme from X-Forwarded-Proto",
    wrap: useOrigin((request) => {
      const scheme = request.headers.get("x-forwarded-proto");
      return scheme && `${scheme}://${new URL(request.url).host}`;
    }),
    killedBy: names("issuer-not-from-x-forwarded-proto"),
  },
  {
    name: "oauth/metadata-of-forwarded",
    fault: "Derives its origin from Forwarded",
    wrap: useOrigin((request) => {
      const found = /host=([^;,]+)/.exec(request.headers.get("forwarded") ?? "")?.[1];
      return found && `http://${found}`;
    }),
    killedBy: [...names("issuer-not-from-forwarded"), "oauth/best_practice/login-not-from-forwarded"],
  },
  {
    name: "oauth/metadata-of-original-url",
    fault: "Derives its origin from X-Original-Url",
    wrap: useOriginOfUrl("x-original-url"),
    killedBy: [
      ...names("issuer-not-from-x-original-url"),
      "oauth/best_practice/login-not-from-x-original-url",
    ],
  },
  {
    name: "oauth/metadata-of-rewrite-url",
    fault: "Derives its origin from X-Rewrite-Url",
    wrap: useOriginOfUrl("x-rewrite-url"),
    killedBy: [
      ...names("issuer-not-from-x-original-url"),
      "oauth/best_practice/login-not-from-x-rewrite-url",
    ],
  },
];
