/**
 * URIs of skills and their files: `skill://<path of the skill>/<path of the file>`
 * (https://github.com/modelcontextprotocol/ext-skills, resource mapping). A folder's has no slash at its end.
 *
 * @module
 */
import { MAX_URI_CHARACTERS } from "../definition/uri_template.ts";

const SCHEME = "skill://";

/** The URI of the segments; what a URI cannot have is percent-encoded. */
export function writeSkillUri(segments: readonly string[]): string {
  return SCHEME + segments.map(encode).join("/");
}

function encode(segment: string): string {
  // Most names need none, and lists of skills have thousands.
  return /^[\w.-]+$/.test(segment) ? segment : encodeURIComponent(segment.toWellFormed());
}

/** The segments, decoded, at least one; `undefined` for anything but the URI of a file or folder of a skill. */
export function readSkillUri(uri: string): string[] | undefined {
  if (uri.length > MAX_URI_CHARACTERS || !uri.startsWith(SCHEME) || /[?#]/.test(uri)) return undefined;
  try {
    const segments = uri.slice(SCHEME.length).split("/").map(decodeURIComponent);
    return segments.every((each) => each !== "" && !each.includes("/")) ? segments : undefined;
  } catch (error) {
    // Percent-encoding that is broken, or no UTF-8.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
