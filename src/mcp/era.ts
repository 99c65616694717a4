/**
 * The revisions of MCP, and how a caller speaks: as a plain JSON-RPC client, as a client of a revision with a handshake
 * (`legacy`), or as one whose every request says all that there is to know (`modern`)
 * (https://modelcontextprotocol.io/specification/draft/basic/versioning#terminology).
 *
 * @module
 */
import { acceptNames } from "../http/body/media_type.ts";

/** The revision without a handshake. Revisions are dates, so they compare as texts. */
export const MODERN = "2026-07-28";

/** Revisions with an `initialize` handshake, newest first. */
export const LEGACY: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** All that are served, newest first. */
export const REVISIONS: readonly string[] = [MODERN, ...LEGACY];

/** What a client speaks that does not say it (MCP 2025-06-18, transports). */
const DEFAULT_REVISION = "2025-03-26";

export interface Era {
  /** `plain`: HTTP statuses tell how the call went. The others: as the revision's transport says. */
  readonly profile: "plain" | "legacy" | "modern";
  readonly revision: string;
}

/** Whoever says nothing is told everything. */
const PLAIN: Era = { profile: "plain", revision: LEGACY[0]! };
export const MODERN_ERA: Era = { profile: "modern", revision: MODERN };
const ERAS = new Map<string, Era>([
  ...LEGACY.map((revision) => [revision, { profile: "legacy", revision } as const] as const),
  [MODERN, MODERN_ERA],
]);

/** The era of a revision; `undefined` for one that is not served. */
export function eraOfRevision(revision: string): Era | undefined {
  return ERAS.get(revision);
}

/**
 * How a request without `_meta` of its own is to be answered, by its header fields; `undefined` for a revision that is
 * not served.
 */
export function eraOfHeaders(headers: Headers): Era | undefined {
  const version = headers.get("mcp-protocol-version");
  if (version !== null) return ERAS.get(version);
  return acceptNames(headers.get("accept"), "text/event-stream") ? ERAS.get(DEFAULT_REVISION) : PLAIN;
}

/** The revision to speak with a client that asked for one in `initialize`: the same, or our newest with a handshake. */
export function negotiate(requested: string): string {
  return LEGACY.includes(requested) ? requested : LEGACY[0]!;
}
