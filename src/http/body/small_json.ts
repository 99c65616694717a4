/**
 * Which JSON texts may be parsed without a check: short ones with few arrays and objects, as most messages are. Others are
 * checked by `json_text.ts`, which a server needs to load only for them.
 *
 * @module
 */

/**
 * The maximum nesting depth (RFC 8259 section 9: "An implementation may set limits on the maximum depth of nesting").
 * Recursive functions, JSON.stringify among them, overflow the stack at a depth of some thousands.
 */
export const MAX_JSON_DEPTH = 512;
/** Longer texts are parsed in their own turn of the event loop. A text of this length cannot take too long to parse. */
export const LARGE_TEXT_CHARACTERS: number = 64 * 1024;

/** Whether a text is short, and opens so few arrays and objects that it cannot be nested too deeply. */
export function isSmallJson(text: string): boolean {
  if (text.length > LARGE_TEXT_CHARACTERS) return false;
  // Each level takes two characters, so most messages are too short to be nested too deeply.
  if (text.length <= 2 * MAX_JSON_DEPTH) return true;
  let count = 0;
  for (const begin of ["{", "["]) {
    for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) {
      if (++count > MAX_JSON_DEPTH) return false;
    }
  }
  return true;
}
