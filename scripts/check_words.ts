/**
 * Words that are not to come back: names and phrases that a reader had to learn before he could read the code, each with
 * the word of the field. Tests are read as well where the word is a name.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "./check_imports.ts";

interface Retired {
  readonly word: RegExp;
  /** What to write, and why. */
  readonly instead: string;
  /** Phrases are looked for in `src/` without tests; names everywhere. */
  readonly isPhrase?: boolean;
}

const RETIRED: readonly Retired[] = [
  {
    word: /\b(?:const|let) (?:MOST|LONGEST|DEEPEST|LARGEST)(?:_[A-Z_]+)?\b/,
    instead: "MAX_… with its unit (MAX_BODY_BYTES), the usual prefix of an upper bound",
  },
  {
    word: /\b(?:const|let) (?:FEWEST|LEAST|SHORTEST|SMALLEST)(?:_[A-Z_]+)?\b/,
    instead: "MIN_… with its unit, the usual prefix of a lower bound",
  },
  { word: /\b(?:AskAgain|comesAgain)\b/, instead: "InputRequired, isRetry: MCP's words" },
  { word: /\baskClient\b/, instead: "sendServerRequest: JSON-RPC's word" },
  { word: /\b(?:patiently|Patience)\b/, instead: "retryWhile…, …Timeout: what it does, and what it is" },
  { word: /\bkeepRequestsApart\b/, instead: "isolateRequests" },
  {
    word: /\b(?:TALKATIVE|looksAround|inModernWords)\b/,
    instead: "MAY_STREAM, isBareDiscover, toModernError",
  },
  {
    word: /\b(?:Workshop|ownTitles|unrefer|endUnneeded)\b/,
    instead: "SkillsContext, uniqueTitles, releaseReferences, collectUnreferenced",
  },
  {
    word: /\b(?:keepClient|readDemands|login_after)\b/,
    instead: "extendRegistration, parseAuthenticationRequirements, min_auth_time",
  },
  {
    word: /\b(?:is|are|was|be) told\b|\btold\b/i,
    instead: "reported, returned, refused: name who says what",
    isPhrase: true,
  },
  { word: /\b[Hh]ears? (?:of|about)\b/, instead: "is notified of, receives", isPhrase: true },
  { word: /\bwhoever\b/i, instead: "name the actor: the caller, the client, the operator", isPhrase: true },
  { word: /\bnobody\b/i, instead: "no caller, no client: name the actor", isPhrase: true },
  { word: /\bmend(?:s|ed|ing)?\b/i, instead: "fix, correct, repair", isPhrase: true },
  { word: /\b(?:shelf|shelves)\b/i, instead: "blob store", isPhrase: true },
  { word: /\b(?:comes|come) again\b|\bby its own word\b/i, instead: "retry; self-declared", isPhrase: true },
];

/** Uses of retired words below a root folder. */
export function checkWords(root: string): Finding[] {
  const files = globSync(["src/**/*.ts", "conformance/**/*.ts"], {
    cwd: root,
    exclude: ["**/node_modules/**"],
  })
    .map((file) => file.replaceAll("\\", "/")).sort();
  return files.flatMap((file) => {
    const hasPhrases = file.startsWith("src/") && !/_test\.ts$|\/test_[^/]*$|^src\/end_to_end\//.test(file);
    const words = RETIRED.filter(({ isPhrase }) => !isPhrase || hasPhrases);
    return readFileSync(join(root, file), "utf8").split("\n").flatMap((line, at) =>
      words.flatMap(({ word, instead }) => {
        const found = word.exec(line);
        return found ? [{ file, line: at + 1, message: `"${found[0]}" is retired: ${instead}` }] : [];
      })
    );
  });
}
