/**
 * URIs of skills and their files: `skill://<path of the skill>/<path of the file>`
 * (https://github.com/modelcontextprotocol/ext-skills, resource mapping). The URI of a directory has no slash at its end.
 *
 * @module
 */
import { MAX_URI_CHARACTERS } from "../definition/uri/uri_template.ts";

const SCHEME = "skill://";

/** The URI of path segments, percent-encoded. */
export function writeSkillUri(segments: readonly string[]): string {
  return SCHEME + segments.map(encodeSegment).join("/");
}

function encodeSegment(segment: string): string {
  // A fast path: most names need no encoding, and lists of skills have thousands of names.
  return /^[\w.-]+$/.test(segment) ? segment : encodeURIComponent(segment.toWellFormed());
}

/** The decoded path segments, at least one; `undefined` for other URIs than those of skills, their files and directories. */
export function readSkillUri(uri: string): string[] | undefined {
  if (uri.length > MAX_URI_CHARACTERS || !uri.startsWith(SCHEME) || /[?#]/.test(uri)) return undefined;
  try {
    const segments = uri.slice(SCHEME.length).split("/").map(decodeURIComponent);
    return segments.every((each) => each !== "" && !each.includes("/")) ? segments : undefined;
  } catch (error) {
    // Invalid percent-encoding.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
