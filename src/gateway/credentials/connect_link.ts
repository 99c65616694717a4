/**
 * The links by which users connect an upstream: bound to the user whose call failed, and sealed, so that only this
 * server can make one.
 *
 * @module
 */
import { createSealer } from "../../crypto/seal.ts";
import type { FindSecrets } from "../../crypto/server_secrets.ts";

/** What a link asks for. */
export interface ConnectRequest {
  /** The id of the user. */
  readonly user: string;
  readonly upstream: string;
  /** `tagOf` its URL: what an upstream asked for is not for another one that has its name by now. */
  readonly address: string;
  /** Scopes that the upstream needs beyond those that it has. */
  readonly scopes?: readonly string[];
  /** The metadata of the resource, as the challenge named it. */
  readonly metadata?: string;
}

export interface ConnectLinks {
  create(request: ConnectRequest): Promise<string>;
  /** `undefined` for a link that this server did not make, or that has expired. */
  read(link: string): Promise<ConnectRequest | undefined>;
}

const LIFETIME_MS = 24 * 60 * 60 * 1000;
const MAX_METADATA_CHARACTERS = 1000;
const MAX_SCOPE_CHARACTERS = 1000;
/** Longer ones are not this server's. */
const MAX_LINK_CHARACTERS = 6000;

export function createConnectLinks(secret: FindSecrets, now: () => number): ConnectLinks {
  const sealer = createSealer(secret, "links to connect an upstream");
  return {
    create({ user, upstream, address, scopes = [], metadata }) {
      const isShort = scopes.join(" ").length <= MAX_SCOPE_CHARACTERS;
      return sealer.seal(JSON.stringify({
        user,
        upstream,
        address,
        expires: now() + LIFETIME_MS,
        ...(scopes.length > 0 && isShort && { scopes }),
        ...(metadata !== undefined && metadata.length <= MAX_METADATA_CHARACTERS && { metadata }),
      }));
    },
    async read(link) {
      const text = link.length > MAX_LINK_CHARACTERS ? undefined : await sealer.unseal(link);
      if (text === undefined) return undefined;
      const { expires, ...request } = JSON.parse(text) as ConnectRequest & { readonly expires: number };
      return expires > now() ? request : undefined;
    },
  };
}
