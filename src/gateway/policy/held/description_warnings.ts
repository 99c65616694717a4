/**
 * Finds what is suspicious in the description of a tool: text that people do not see and models do, text that gives orders to
 * the model, and names that look like another tool's. Hints for the person who approves it: a tool without warnings can be
 * hostile, and one with warnings harmless.
 *
 * @module
 */
import { findHidden } from "../../../text/hidden_text.ts";
import { toPlainText } from "../../../text/plain_text.ts";
import { entryOf, type UpstreamTool } from "./tool_entry.ts";

/** What a warning is about. */
export type WarningCode =
  | "hidden_characters"
  | "terminal_escape"
  | "html_comment"
  | "instructions"
  | "long_line"
  | "blank_space"
  | "mixed_scripts"
  | "similar_name"
  | "too_large";

export interface DescriptionWarning {
  readonly code: WarningCode;
  /** Where it is, such as `input.properties.path.description`. */
  readonly place: string;
  /** The character, the name, or the beginning of the text, on one line without special characters. */
  readonly detail: string;
}

const MAX_WARNINGS = 20;
const MAX_TEXTS = 5000;
const MAX_DEPTH = 50;
const MAX_CHARACTERS = 1024 * 1024;
const MAX_LINE_CHARACTERS = 2000;
const MAX_DETAIL_CHARACTERS = 80;

/** Lines or spaces that move what follows out of sight. */
const BLANK_SPACE = /[ \t\u00a0\u2000-\u200a\u3000]{100}|(?:\r?\n[ \t]*){20}/;
/** Phrases by which known attacks address the model. Each is found in linear time. */
const INSTRUCTIONS = [
  /<\/?\s{0,5}(?:important|system|instructions?|secret|hidden|admin|assistant|critical)\b/i,
  /\[\/?(?:INST|SYSTEM|IMPORTANT)\]/i,
  /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|earlier|above|all|other|system)\b/i,
  /\b(?:do not|don't|never) (?:tell|mention|inform|reveal|show|notify)\b/i,
  /\bwithout (?:telling|informing|asking|notifying) (?:the )?user\b/i,
  /\bbefore (?:using|calling|running|invoking) (?:this|any|other|the) /i,
  /\binstead of (?:using |calling )?(?:the |any )?other tools?\b/i,
];

/** Names that look like a name, the name itself included. */
export type FindLookalikes = (name: string) => readonly string[];

/** The warnings about a tool. @param findLookalikes among the tools that clients see beside it */
export function findDescriptionWarnings(
  tool: UpstreamTool,
  findLookalikes: FindLookalikes = () => [],
): readonly DescriptionWarning[] {
  const found: DescriptionWarning[] = [];
  const warn = (code: WarningCode, place: string, detail: string): void => {
    const isKnown = found.some((each) => each.code === code && each.place === place);
    if (found.length < MAX_WARNINGS && !isKnown) {
      found.push({
        code,
        place: toPlainText(place, 200),
        detail: toPlainText(detail, MAX_DETAIL_CHARACTERS),
      });
    }
  };
  if (!visitTexts(entryOf(tool), (text, place) => checkText(text, place, warn))) {
    warn("too_large", "", "not all of it was searched");
  }
  checkName(tool.name, findLookalikes, warn);
  return found;
}

type Warn = (code: WarningCode, place: string, detail: string) => void;

function checkText(text: string, place: string, warn: Warn): void {
  const hidden = findHidden(text);
  if (hidden) warn("hidden_characters", place, hidden.point);
  const escape = ["\u001b", "\u009b"].map((each) => text.indexOf(each)).find((at) => at >= 0);
  if (escape !== undefined) warn("terminal_escape", place, text.slice(escape));
  const comment = text.indexOf("<!--");
  if (comment >= 0) warn("html_comment", place, text.slice(comment));
  for (const pattern of INSTRUCTIONS) {
    const match = pattern.exec(text);
    if (match) warn("instructions", place, text.slice(match.index));
  }
  if (BLANK_SPACE.test(text)) warn("blank_space", place, "");
  if (text.split(/\r\n|\r|\n/).some((line) => line.length > MAX_LINE_CHARACTERS)) {
    warn("long_line", place, `${text.length} characters`);
  }
}

/** Calls `check` for each text, names of members included. `false` when it stopped because there are too many. */
function visitTexts(value: unknown, check: (text: string, place: string) => void): boolean {
  let texts = 0;
  let characters = 0;
  function visit(value: unknown, place: string, depth: number): boolean {
    if (typeof value === "string") {
      characters += value.length;
      if (++texts > MAX_TEXTS || characters > MAX_CHARACTERS) return false;
      check(value, place);
      return true;
    }
    if (typeof value !== "object" || value === null) return true;
    if (depth > MAX_DEPTH) return false;
    return Object.entries(value).every(([name, each]) => {
      const here = place === "" ? name : `${place}.${name}`;
      const isNamed = Array.isArray(value) || visit(name, `${here} (name)`, depth + 1);
      return isNamed && visit(each, here, depth + 1);
    });
  }
  return visit(value, "", 0);
}

/** Letters of other scripts, and digits, that look like a Latin letter. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map([
  ..."аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwкkмmтtвbнhзeбb".matchAll(/(.)(.)/gu),
  ..."αaοoρpνvιiκkτtυuχxεeηnωwγy".matchAll(/(.)(.)/gu),
  ..."0o1l5s|lıiɡg".matchAll(/(.)(.)/gu),
].map(([, from, to]) => [from!, to!]));

/** Two names with one skeleton look alike. */
function skeletonOf(name: string): string {
  const folded = name.normalize("NFKC").toLowerCase().replace(/[\p{Cf}\p{Mn}]/gu, "");
  const plain = [...folded].map((letter) => LOOKALIKES.get(letter) ?? letter).join("");
  // Also "rn" and "m", "vv" and "w", "i" and "l".
  return plain.replaceAll("rn", "m").replaceAll("vv", "w").replaceAll("i", "l").replace(/[-_. /]+/g, "_");
}

/** Finds names that look alike. The index is made with its first use. */
export function createLookalikes(names: readonly string[]): FindLookalikes {
  let bySkeleton: Map<string, string[]> | undefined;
  return (name) => {
    if (!bySkeleton) {
      bySkeleton = new Map();
      for (const each of names) {
        const skeleton = skeletonOf(each);
        const known = bySkeleton.get(skeleton);
        if (known) known.push(each);
        else bySkeleton.set(skeleton, [each]);
      }
    }
    return bySkeleton.get(skeletonOf(name)) ?? [];
  };
}

function checkName(name: string, findLookalikes: FindLookalikes, warn: Warn): void {
  const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];
  if (scripts.filter((script) => script.test(name)).length > 1) warn("mixed_scripts", "name", name);
  const other = findLookalikes(name).find((each) => each !== name);
  if (other !== undefined) warn("similar_name", "name", other);
}
