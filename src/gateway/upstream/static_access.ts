/**
 * The access to an upstream without credentials of its users: the header fields in its configuration.
 *
 * @module
 */
import { userKey } from "../../mcp/session/principal_key.ts";
import type { UpstreamAccess } from "../credentials/access.ts";

/** One session for all callers, or, with `shared: false`, one for each; anonymous callers share one. */
export function staticAccess(headers: Readonly<Record<string, string>>, shared = true): UpstreamAccess {
  return {
    partition: (caller) => shared ? "" : userKey(caller) || "anonymous",
    headers: () => Promise.resolve(headers),
    refused: () => Promise.resolve(false),
  };
}
