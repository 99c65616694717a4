/**
 * What JSON text will cost to parse, found in one pass that is quick for every text: a megabyte of `{"a":0,"b":0,…}` takes
 * a hundred times as long to parse as a megabyte of one string.
 *
 * @module
 */

/**
 * Lists and objects inside each other (RFC 8259 §9: "An implementation may set limits on the maximum depth of nesting").
 * What walks through a value, JSON.stringify too, would run out of stack some thousands further down.
 */
export const MAX_JSON_DEPTH = 512;
/** A text may have 400,000 numbers, 60,000 strings, 150,000 members with few names or 22,000 with a name each. */
export const MAX_JSON_WORK = 20_000_000;

/** Longer texts are parsed in a turn of the event loop of their own. */
export const LARGE_TEXT_CHARACTERS: number = 64 * 1024;

/** Nanoseconds for one of each, where it is dear: names that no object had before, strings that are not alike. */
const NEW_NAME = 600;
const MEMBER = 80;
const STRING = 300;
/** Longer names count as new each time, and so do those that come when so many are remembered. */
const MAX_NAME_CHARACTERS = 40;
const MAX_NAMES = 1000;
const ESCAPED_QUOTE = 20;
const CONTAINER = 150;
const ITEM = 50;

const QUOTE = 34, COMMA = 44, COLON = 58, BACKSLASH = 92;
const OPEN_LIST = 91, CLOSE_LIST = 93, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;

/** Why a text must not be parsed: it is nested too deeply, or has too many values. `undefined` when it may be. */
export function findExcess(text: string): "depth" | "values" | undefined {
  // A character costs half of NEW_NAME at the most, so that no shorter text has too many values.
  const isShort = text.length <= MAX_JSON_WORK / (NEW_NAME / 2);
  return isShort && hasFewContainers(text) ? undefined : findExcessByValue(text);
}

/** Whether a text cannot be nested too deeply, since it does not even begin so many lists and objects. */
function hasFewContainers(text: string): boolean {
  let count = 0;
  for (const begin of ["{", "["]) {
    for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) {
      if (++count > MAX_JSON_DEPTH) return false;
    }
  }
  return true;
}

function findExcessByValue(text: string): "depth" | "values" | undefined {
  const names = new Set<string>();
  let depth = 0;
  let work = 0;
  // Of the last string.
  let start = 0;
  let length = 0;
  for (let at = 0; at < text.length && work <= MAX_JSON_WORK; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        work += STRING;
        let end = text.indexOf('"', at + 1);
        for (; end > 0 && isEscaped(text, end); end = text.indexOf('"', end + 1)) work += ESCAPED_QUOTE;
        // It is not JSON: parsing says so.
        if (end < 0) return undefined;
        start = at + 1;
        length = end - start;
        at = end;
        break;
      }
      case COMMA:
        work += ITEM;
        break;
      case COLON: {
        // The string before it was a name.
        const name = length <= MAX_NAME_CHARACTERS ? text.slice(start, start + length) : undefined;
        work += name !== undefined && names.has(name) ? MEMBER - STRING : NEW_NAME - STRING;
        if (name !== undefined && names.size < MAX_NAMES) names.add(name);
        break;
      }
      case OPEN_LIST:
      case OPEN_OBJECT:
        work += CONTAINER;
        if (++depth > MAX_JSON_DEPTH) return "depth";
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--;
    }
  }
  return work > MAX_JSON_WORK ? "values" : undefined;
}

/** Whether an odd number of backslashes stands before a place. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}
