/**
 * Limits the depth of JSON text and the time to parse it, checked in one fast pass before parsing: a megabyte of
 * `{"a":0,"b":0,…}` takes a hundred times as long to parse as a megabyte of one string.
 *
 * @module
 */
import { isSmallJson, MAX_JSON_DEPTH } from "./small_json.ts";

/**
 * The maximum estimated time to parse, in nanoseconds: 400,000 numbers, 60,000 strings, 150,000 members with few distinct
 * names, or 22,000 members with distinct names.
 */
const MAX_JSON_PARSE_NS = 20_000_000;

/** The worst-case time for one of each, measured with names that no object had before and strings that all differ. */
const NEW_NAME_NS = 600;
const MEMBER_NS = 80;
const STRING_NS = 300;
const ESCAPED_QUOTE_NS = 20;
const CONTAINER_NS = 150;
const ITEM_NS = 50;
/** Longer names always count as new, and so does every name after the first `MAX_NAMES`. */
const MAX_NAME_CHARACTERS = 40;
const MAX_NAMES = 1000;

const QUOTE = 34, COMMA = 44, COLON = 58, BACKSLASH = 92;
const OPEN_LIST = 91, CLOSE_LIST = 93, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;
/** Finds the next of these. For 4 MB of white space it takes 0.4 ms on Node 24, a loop over all characters 60. */
const STRUCTURAL = /[",:[\]{}]/g;

/** Which limit the text exceeds: the depth, or the number of values. `undefined` when it may be parsed. */
export function findExcess(text: string): "depth" | "values" | undefined {
  return isSmallJson(text) ? undefined : findExcessByValue(text);
}

function findExcessByValue(text: string): "depth" | "values" | undefined {
  const names = new Set<string>();
  let depth = 0;
  let work = 0;
  // Position and length of the last string; a negative length when a colon has used it.
  let start = 0;
  let length = -1;
  STRUCTURAL.lastIndex = 0;
  while (work <= MAX_JSON_PARSE_NS && STRUCTURAL.test(text)) {
    const at = STRUCTURAL.lastIndex - 1;
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        work += STRING_NS;
        let end = text.indexOf('"', at + 1);
        for (; end > 0 && isEscaped(text, end); end = text.indexOf('"', end + 1)) {
          work += ESCAPED_QUOTE_NS;
          if (work > MAX_JSON_PARSE_NS) return "values";
        }
        // Not JSON: the parser reports it.
        if (end < 0) return undefined;
        start = at + 1;
        length = end - start;
        STRUCTURAL.lastIndex = end + 1;
        break;
      }
      case COMMA:
        work += ITEM_NS;
        break;
      case COLON: {
        // The string before the colon is a name. Without one it is not JSON.
        if (length < 0) return undefined;
        const name = length <= MAX_NAME_CHARACTERS ? text.slice(start, start + length) : undefined;
        work += name !== undefined && names.has(name) ? MEMBER_NS - STRING_NS : NEW_NAME_NS - STRING_NS;
        if (name !== undefined && names.size < MAX_NAMES) names.add(name);
        length = -1;
        break;
      }
      case OPEN_LIST:
      case OPEN_OBJECT:
        work += CONTAINER_NS;
        if (++depth > MAX_JSON_DEPTH) return "depth";
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        // Not JSON.
        if (--depth < 0) return undefined;
    }
  }
  return work > MAX_JSON_PARSE_NS ? "values" : undefined;
}

/** Whether an odd number of backslashes precedes the position. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}
