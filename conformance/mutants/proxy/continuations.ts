/**
 * Follows authorization requests through the pages of a server. Trivet signs in, asks for consent and answers the client
 * at one path. Other servers redirect the browser to pages of their own, where a fault of the authorization endpoint
 * applies too.
 *
 * @module
 */
import { AUTHORIZE } from "../http_faults.ts";
import type { PathTranslation } from "./paths.ts";

export interface Continuations {
  /** The authorization request, with Trivet's path, that the server continues at this URL. */
  find(url: string): string | undefined;
  /** Learns from a response of the server where it sends the browser. */
  follow(url: string, location: string | null): void;
}

export function followAuthorizations(paths: PathTranslation): Continuations {
  /** From origin and path of a page to the authorization request. */
  const requests = new Map<string, string>();
  const find = (address: string): string | undefined => {
    const { origin, pathname } = new URL(address);
    // Pages may post to paths below their own.
    for (let path = pathname; path !== ""; path = path.slice(0, path.lastIndexOf("/"))) {
      const request = requests.get(origin + path);
      if (request !== undefined) return request;
    }
    return undefined;
  };
  return {
    find,
    follow(address, location) {
      const own = paths.toTrivet(address);
      const request = find(address) ?? (new URL(own).pathname === AUTHORIZE ? own : undefined);
      const to = URL.parse(location ?? "", address);
      if (request === undefined || to?.origin !== new URL(address).origin) return;
      // Another endpoint, such as the page for signing in, has faults of its own.
      if (paths.isEndpoint(to.href)) return;
      requests.set(to.origin + to.pathname, request);
    },
  };
}
