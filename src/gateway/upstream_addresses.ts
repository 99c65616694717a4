/**
 * Where the gateway may send requests: anywhere for upstreams of the configuration, to public addresses only for those that
 * administrators added.
 *
 * @module
 */
import { checkPublicUrl, type Connect, findConnect } from "../http/network/public_fetch.ts";

export interface UpstreamAddresses {
  readonly fetch: Connect;
  /** Lets an upstream be at any address. */
  trust(name: string): void;
  /** Has requests to the origin of this URL go to public addresses only. */
  distrust(name: string, url: string): void;
}

/**
 * @param connect reaches public addresses. Default: the connector of the runtime entry
 * @param platformFetch reaches any address
 */
export function createUpstreamAddresses(
  connect: Connect | undefined,
  platformFetch: Connect = (url, init) => fetch(url, init),
): UpstreamAddresses {
  /** Origins that only upstreams have which administrators added, by the names of the upstreams. */
  const untrusted = new Map<string, string>();
  return {
    fetch(url, init) {
      if (untrusted.size === 0 || ![...untrusted.values()].includes(new URL(url).origin)) {
        return platformFetch(url, init);
      }
      const connectPublicly = findConnect(connect);
      if (connectPublicly && checkPublicUrl(url) === undefined) return connectPublicly(url, init);
      return Promise.reject(
        new TypeError(`${new URL(url).host} is not public, or cannot be reached from here`),
      );
    },
    trust: (name) => void untrusted.delete(name),
    distrust: (name, url) => void untrusted.set(name, new URL(url).origin),
  };
}
