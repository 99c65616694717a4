/**
 * The access to an upstream without credentials of its users: the header fields in its configuration.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { UpstreamAccess } from "../credentials/access.ts";

/** One session for all callers, or, with `shared: false`, one for each. */
export function staticAccess(headers: Readonly<Record<string, string>>, shared = true): UpstreamAccess {
  return {
    partition: (caller) => shared ? "" : partitionOf(caller),
    headers: () => Promise.resolve(headers),
    refused: () => Promise.resolve(false),
  };
}

/** Identifies the user, or the client that acts for itself; anonymous callers share one session. */
function partitionOf(caller: Principal | undefined): string {
  if (!caller) return "anonymous";
  const { issuer = "", subject, client } = caller;
  return JSON.stringify(subject === undefined ? [issuer, "client", client] : [issuer, "user", subject]);
}
