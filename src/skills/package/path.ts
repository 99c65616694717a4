/**
 * Which paths a file in a package may have. A bad path is refused and never corrected: a correction would have to be right
 * for every system that unpacks the package.
 *
 * @module
 */
import { findHidden } from "../../text/hidden_text.ts";
import type { Problem } from "./problem.ts";

const WINDOWS_DEVICES = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;
const MAX_PARTS = 16;
const MAX_PATH_CHARACTERS = 512;
/** Bytes: the limit of common file systems. */
const MAX_PART_BYTES = 255;

const encoder = new TextEncoder();

/** Folders and files that archivers and operating systems leave behind. */
const SYSTEM_FILES = /(^|\/)(__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*)(\/|$)/;

/**
 * The path with `/` between parts, or what is wrong with it. Backslashes count as slashes first, since Windows tools
 * write them, and then every rule applies.
 */
export function checkPath(sent: string): { readonly path: string } | { readonly problem: Problem } {
  // NFC shortens a text to a quarter at most, so a longer one is refused without normalizing it.
  const path = sent.length > 4 * MAX_PATH_CHARACTERS ? sent : sent.replaceAll("\\", "/").normalize("NFC");
  const problem = (rule: string, must: string, hint?: string) => ({
    problem: { file: showPath(sent), line: undefined, rule, message: `the file name ${must}`, hint },
  });
  if (path.length === 0 || path.length > MAX_PATH_CHARACTERS) {
    return problem("path-length", `must have 1 to ${MAX_PATH_CHARACTERS} characters`);
  }
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) {
    return problem("path-absolute", "must be relative", "send the path relative to the skill's folder");
  }
  // deno-lint-ignore no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f\ufffd]/.test(path) || !path.isWellFormed()) {
    return problem("path-control", "must not contain control characters");
  }
  const hidden = findHidden(path);
  if (hidden) {
    return problem("path-hidden", `must not contain hidden characters, but contains ${hidden.point}`);
  }
  const parts = path.split("/");
  if (parts.length > MAX_PARTS) return problem("path-depth", `must not be deeper than ${MAX_PARTS} folders`);
  for (const part of parts) {
    if (part === "") return problem("path-part-empty", "must not contain an empty folder name");
    if (part === "." || part === "..") {
      return problem("path-dots", 'must not contain "." or ".." as a folder');
    }
    if (/[. ]$/.test(part)) {
      return problem("path-part-end", "must not contain a part that ends with a dot or a space");
    }
    if (WINDOWS_DEVICES.test(part)) return problem("path-device", "must not contain a Windows device name");
    if (/[<>:"|?*]/.test(part)) return problem("path-character", 'must not contain any of < > : " | ? *');
    // A UTF-16 unit is three bytes at most.
    if (3 * part.length > MAX_PART_BYTES && encoder.encode(part).length > MAX_PART_BYTES) {
      return problem("path-part-length", `must not contain a part longer than ${MAX_PART_BYTES} bytes`);
    }
  }
  return { path };
}

export function isSystemFile(path: string): boolean {
  return SYSTEM_FILES.test(path);
}

/**
 * A key that is equal for two paths that some file system treats as one. APFS compares by full case folding (Unicode
 * section 5.18), for which "straße" is "STRASSE": the upper case of the lower case.
 */
export function collisionKey(path: string): string {
  // Nearly all paths are ASCII, and the rest takes ten times as long.
  if (/^[\x20-\x7e]*$/.test(path)) return path.toUpperCase();
  const folded = path.normalize("NFC").toLowerCase().toUpperCase().normalize("NFC");
  return folded.replace(/\p{Default_Ignorable_Code_Point}/gu, "");
}

/** A path for messages: shortened, with invisible characters escaped. */
export function showPath(path: string): string {
  const shown = path.length > 100 ? path.slice(0, 99) + "…" : path;
  return shown.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
