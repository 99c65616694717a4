/**
 * How metadata and tokens of upstreams are fetched: URLs that an upstream names lead to public addresses only, unless the
 * operator allows private ones for it.
 *
 * @module
 */
import {
  checkConfiguredUrl,
  checkPublicUrl,
  type Connect,
  createConfiguredFetch,
  createPublicFetch,
  findConnect,
  type PublicFetch,
} from "../../http/network/public_fetch.ts";
import { createRemoteDocuments, type RemoteDocuments } from "../../oauth/clients/remote_document.ts";

/** The greatest document or token response, in bytes. */
const MAX_DOCUMENT_BYTES = 128 * 1024;
/** How long an authorization server that failed repeatedly is not asked. */
const MAX_WAIT_MS = 10_000;

/** The rules and the caches of one network. */
export interface Network {
  readonly fetch: PublicFetch;
  readonly documents: RemoteDocuments;
  /** The rule that a URL breaks, as the end of a sentence. */
  check(url: string): string | undefined;
}

export interface Networks {
  /** Public addresses over https. */
  readonly public: Network;
  /** Also private addresses, and http on loopback. */
  readonly private: Network;
}

/**
 * Makes both.
 * @param options.connect reaches public addresses only. @default the connector of the runtime entry
 * @param options.fetch reaches private ones, too. @default the platform's fetch
 */
export function createNetworks(
  { connect, fetch: fetchAny = (url, init) => fetch(url, init), now }: {
    readonly connect?: Connect | undefined;
    readonly fetch?: Connect | undefined;
    readonly now: () => number;
  },
): Networks {
  const create = (fetch: PublicFetch, check: Network["check"]): Network => ({
    fetch,
    check,
    documents: createRemoteDocuments(fetch, now, MAX_WAIT_MS),
  });
  const limit = MAX_DOCUMENT_BYTES;
  return {
    public: create(createPublicFetch({ connect: findConnect(connect), limit }), checkPublicUrl),
    private: create(createConfiguredFetch({ connect: fetchAny, limit }), checkConfiguredUrl),
  };
}
