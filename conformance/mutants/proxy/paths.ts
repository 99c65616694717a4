/**
 * Translates between the paths of a server and those of Trivet, so that a fault that was written for Trivet's paths
 * applies to any server.
 *
 * @module
 */
import {
  AUTHORIZE,
  DEVICE,
  INTROSPECT,
  KEYS,
  LOGIN,
  METADATA,
  PUSH,
  REGISTER,
  RESOURCE,
  REVOKE,
  TOKEN,
} from "../http_faults.ts";

/** Trivet's path of each endpoint, by its name in `endpoints` of a target. */
const TRIVET_PATHS: Readonly<Record<string, string>> = {
  authorization: AUTHORIZE,
  token: TOKEN,
  resource: RESOURCE,
  registration: REGISTER,
  introspection: INTROSPECT,
  revocation: REVOKE,
  pushed_authorization_request: PUSH,
  device_authorization: DEVICE,
  jwks: KEYS,
  metadata: METADATA,
  login: LOGIN,
  rpc: "/rpc",
  mcp: "/mcp",
  sse: "/mcp/sse",
  skills: "/v1/skills",
  messages: "/v1/messages",
  userinfo: "/oauth/userinfo",
  end_session: "/oauth/logout",
};
/** Of two endpoints with one path, the earlier one counts: many servers take tokens at the UserInfo endpoint only. */
const RANKS = new Map(Object.keys(TRIVET_PATHS).map((name, at) => [name, at]));
/** Before paths of the server that only happen to be Trivet's. */
const OTHER = "/other-path";

export interface PathTranslation {
  /** The same URL with Trivet's path. */
  toTrivet(url: string): string;
  /** Undoes `toTrivet`. */
  toServer(url: string): string;
  /** Whether a URL of the server has the path of an endpoint. */
  isEndpoint(url: string): boolean;
}

/** @param endpoints name to URL, as in a target */
export function translatePaths(endpoints: Readonly<Record<string, string>>): PathTranslation {
  const ranked = Object.entries(endpoints).sort(([one], [other]) =>
    (RANKS.get(one) ?? RANKS.size) - (RANKS.get(other) ?? RANKS.size)
  );
  const known = ranked.flatMap(([name, address]) => {
    const trivet = Object.hasOwn(TRIVET_PATHS, name) ? TRIVET_PATHS[name]! : undefined;
    const url = URL.parse(address);
    return trivet !== undefined && url ? [{ trivet, origin: url.origin, path: url.pathname }] : [];
  });
  // A path below another is the more exact one.
  const byPath = known.toSorted((one, other) => other.path.length - one.path.length);
  const byTrivet = known.toSorted((one, other) => other.trivet.length - one.trivet.length);
  return {
    toTrivet(address) {
      const url = new URL(address);
      const found = byPath.find(({ origin, path }) => origin === url.origin && isBelow(url.pathname, path));
      if (found) url.pathname = found.trivet + url.pathname.slice(found.path.length);
      else if (Object.values(TRIVET_PATHS).some((path) => isBelow(url.pathname, path))) {
        url.pathname = OTHER + url.pathname;
      }
      return url.href;
    },
    toServer(address) {
      const url = new URL(address);
      if (isBelow(url.pathname, OTHER)) {
        url.pathname = url.pathname.slice(OTHER.length);
        return url.href;
      }
      const found = byTrivet.find(({ origin, trivet }) =>
        origin === url.origin && isBelow(url.pathname, trivet)
      );
      if (found) url.pathname = found.path + url.pathname.slice(found.trivet.length);
      return url.href;
    },
    isEndpoint(address) {
      const url = new URL(address);
      return known.some(({ origin, path }) => origin === url.origin && path === url.pathname);
    },
  };
}

const isBelow = (path: string, top: string): boolean =>
  path === top || top !== "/" && path.startsWith(`${top}/`);
