/**
 * The revisions of MCP, and the era of a caller: a plain JSON-RPC client (`plain`), a client of a revision with a handshake
 * (`legacy`), or one of 2026-07-28, whose requests are self-contained (`modern`)
 * (https://modelcontextprotocol.io/specification/draft/basic/versioning#terminology).
 *
 * @module
 */
import { acceptNames } from "../http/body/media_type.ts";

/** The revision without a handshake. Revisions are dates, so they compare as strings. */
export const MODERN = "2026-07-28";

/** Revisions with an `initialize` handshake, newest first. */
export const LEGACY: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** All supported revisions, newest first. */
export const REVISIONS: readonly string[] = [MODERN, ...LEGACY];

/** The revision of a client that does not name one (MCP 2025-06-18, transports). */
const DEFAULT_REVISION = "2025-03-26";

export interface Era {
  /** `plain`: the HTTP status shows the outcome of a call. The others follow the revision's transport. */
  readonly profile: "plain" | "legacy" | "modern";
  readonly revision: string;
}

/** Plain callers get the newest shapes with a handshake. */
const PLAIN: Era = { profile: "plain", revision: LEGACY[0]! };
export const MODERN_ERA: Era = { profile: "modern", revision: MODERN };
const ERAS = new Map<string, Era>([
  ...LEGACY.map((revision) => [revision, { profile: "legacy", revision } as const] as const),
  [MODERN, MODERN_ERA],
]);

/** The era of a revision; `undefined` for an unsupported one. */
export function eraOfRevision(revision: string): Era | undefined {
  return ERAS.get(revision);
}

/**
 * The era of a request without a revision in `_meta`, by its header fields; `undefined` for an unsupported revision.
 */
export function eraOfHeaders(headers: Headers): Era | undefined {
  const version = headers.get("mcp-protocol-version");
  if (version !== null) return ERAS.get(version);
  return acceptNames(headers.get("accept"), "text/event-stream") ? ERAS.get(DEFAULT_REVISION) : PLAIN;
}

/** The revision for a client that requested one in `initialize`: the same, or the newest with a handshake. */
export function negotiate(requested: string): string {
  return LEGACY.includes(requested) ? requested : LEGACY[0]!;
}
