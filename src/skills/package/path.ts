/**
 * What the path of a file in a package may be. A bad one is refused, never mended: whoever mends it must be right
 * about every system that will unpack it.
 *
 * @module
 */
import { findHidden } from "./hidden_text.ts";
import type { Problem } from "./problem.ts";

const RESERVED = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;
const DEEPEST = 16;
const LONGEST = 512;
/** Bytes: what file systems have room for. */
const LONGEST_PART = 255;

const encoder = new TextEncoder();

/** Folders and files that archivers and desktops leave behind. */
const LITTER = /(^|\/)(__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*)(\/|$)/;

/**
 * The path with `/` between parts, or what is wrong with it. Backslashes count as slashes first, since Windows tools
 * write them, and then every rule applies.
 */
export function checkPath(sent: string): { readonly path: string } | { readonly problem: Problem } {
  // What is far too long is not looked at: composing shortens a text to a quarter at most.
  const path = sent.length > 4 * LONGEST ? sent : sent.replaceAll("\\", "/").normalize("NFC");
  const problem = (rule: string, must: string, hint?: string) => ({
    problem: { file: showPath(sent), line: undefined, rule, message: `the file name ${must}`, hint },
  });
  if (path.length === 0 || path.length > LONGEST) {
    return problem("path-length", `must have 1 to ${LONGEST} characters`);
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
  if (parts.length > DEEPEST) return problem("path-depth", `must not be deeper than ${DEEPEST} folders`);
  for (const part of parts) {
    if (part === "") return problem("path-part-empty", "must not contain an empty folder name");
    if (part === "." || part === "..") {
      return problem("path-dots", 'must not contain "." or ".." as a folder');
    }
    if (/[. ]$/.test(part)) {
      return problem("path-part-end", "must not contain a part that ends with a dot or a space");
    }
    if (RESERVED.test(part)) return problem("path-device", "must not contain a Windows device name");
    if (/[<>:"|?*]/.test(part)) return problem("path-character", 'must not contain any of < > : " | ? *');
    // A UTF-16 unit is three bytes at most.
    if (3 * part.length > LONGEST_PART && encoder.encode(part).length > LONGEST_PART) {
      return problem("path-part-length", `must not contain a part longer than ${LONGEST_PART} bytes`);
    }
  }
  return { path };
}

export function isLitter(path: string): boolean {
  return LITTER.test(path);
}

/** What two paths share that some file system takes for one. */
export function collisionKey(path: string): string {
  // Nearly all paths; the rest takes ten times as long.
  if (/^[\x20-\x7e]*$/.test(path)) return path.toLowerCase();
  return path.normalize("NFC").toLowerCase().normalize("NFC").replace(
    /\p{Default_Ignorable_Code_Point}/gu,
    "",
  );
}

/** A path for messages: cut, and with what cannot be seen written out. */
export function showPath(path: string): string {
  const shown = path.length > 100 ? path.slice(0, 99) + "…" : path;
  return shown.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
