/**
 * Which way a caller speaks, decided once: as a plain JSON-RPC client, or as an MCP client of one of the revisions
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle).
 *
 * @module
 */
import { acceptNames } from "../http/media_type.ts";

/** Revisions with an `initialize` handshake, newest first. */
export const REVISIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** What a client speaks that does not say it (MCP 2025-06-18, transports). */
const ASSUMED = "2025-03-26";

export interface Era {
  /** `plain`: HTTP statuses tell how the call went. `streamable`: the MCP transport's own. */
  readonly profile: "plain" | "streamable";
  readonly revision: string;
}

const PLAIN: Era = { profile: "plain", revision: ASSUMED };
const STREAMABLE = new Map(
  REVISIONS.map((revision) => [revision, { profile: "streamable", revision } as const]),
);

/** How this request is to be answered; `undefined` for a revision that is not served. */
export function eraOf(request: Request): Era | undefined {
  const version = request.headers.get("mcp-protocol-version");
  if (version !== null) return STREAMABLE.get(version);
  return acceptNames(request.headers.get("accept"), "text/event-stream") ? STREAMABLE.get(ASSUMED) : PLAIN;
}

/** The revision to speak with a client that asked for one: the same, or our newest. */
export function negotiate(requested: unknown): string {
  return typeof requested === "string" && STREAMABLE.has(requested) ? requested : REVISIONS[0]!;
}
