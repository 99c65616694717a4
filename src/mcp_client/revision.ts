/**
 * The revisions of MCP that the client speaks.
 *
 * @module
 */

/** The revision without a handshake. Revisions are dates, so they compare as strings. */
export const MODERN = "2026-07-28";

/** Revisions with an `initialize` handshake, newest first. */
export const LEGACY: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Prefix of the members of `_meta` that 2026-07-28 defines. */
export const META_PREFIX = "io.modelcontextprotocol/";

/** Error codes of 2026-07-28. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;
