/**
 * Finds retired words: names and phrases of this project's former dialect, each with the word of the field to use instead.
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
  /** Phrases are retired in `src/`, `scripts/` and the kit, and in some tests; names in all files. */
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
    word: /\b(?:tellingOf|storeGoesAway|clientsHangUp|killInTheMiddle|letGo|checkShelf)\b/,
    instead:
      "watchMessages, interruptStore, disconnectClients, killDuringCalls, waitUntilReleased, checkBlobs",
  },
  {
    word: /\b(?:is|are|was|be) told\b|\btold\b/i,
    instead: "reported, returned, refused: name who says what",
    isPhrase: true,
  },
  { word: /\b[Hh]ears? (?:of|about)\b|\bheard\b/i, instead: "is notified of, receives", isPhrase: true },
  { word: /\bwhoever\b/i, instead: "name the actor: the caller, the client, the operator", isPhrase: true },
  { word: /\bnobody\b/i, instead: "no caller, no client: name the actor", isPhrase: true },
  { word: /\bmend(?:s|ed|ing)?\b/i, instead: "fix, correct, repair", isPhrase: true },
  { word: /\b(?:shelf|shelves)\b/i, instead: "blob store", isPhrase: true },
  { word: /\b(?:comes|come) again\b|\bby its own word\b/i, instead: "retry; self-declared", isPhrase: true },
  {
    word: /\bthat (?:is|are) none\b|\bis none of\b/i,
    instead: "invalid, unknown, malformed: say what is wrong with it",
    isPhrase: true,
  },
  {
    word: /\b(?:some|any)body\b/,
    instead: "name the actor: the caller, the client, the user",
    isPhrase: true,
  },
  {
    word: /\bspen[dt]s? (?:a|the|its) (?:code|token|grant)\b/i,
    instead: "consume: RFC 6749's word",
    isPhrase: true,
  },
  {
    word: /\b(?:yardstick|patience|loot|plunder)\b/i,
    instead: "baseline, timeout, corpus: the words of benchmarks and fuzzers",
    isPhrase: true,
  },
];

/** Folders whose tests must not use retired phrases either. */
const TESTS_WITH_PHRASES =
  /^src\/(?:(?:end_to_end|http|jsonrpc|mcp|oauth|runtime|skills|store)\/|[^/]+$)|^conformance\/(?:learn|mutants|runner|targets)\//;

/** Finds uses of retired words below a root folder. */
export function checkWords(root: string): Finding[] {
  const files = globSync(
    [
      "src/**/*.ts",
      "scripts/**/*.ts",
      "conformance/**/*.ts",
      "conformance/targets/**/*.{json,mjs,sh,py,psgi}",
    ],
    {
      cwd: root,
      exclude: [
        "**/node_modules/**",
        "**/package-lock.json",
        "scripts/check_words.ts",
        "scripts/check_imports_node_test.ts",
      ],
    },
  ).map((file) => file.replaceAll("\\", "/")).sort();
  return files.flatMap((file) => {
    const hasPhrases = TESTS_WITH_PHRASES.test(file) ||
      /^(?:src|scripts)\//.test(file) && !/_test\.ts$|\/test_[^/]*$|^src\/end_to_end\//.test(file);
    const words = RETIRED.filter(({ isPhrase }) => !isPhrase || hasPhrases);
    return readFileSync(join(root, file), "utf8").split("\n").flatMap((line, at) =>
      words.flatMap(({ word, instead, isPhrase }) => {
        const found = word.exec(isPhrase && file.startsWith("conformance/") ? withoutIds(line) : line);
        return found
          ? [{ file, line: at + 1, rule: "word" as const, message: `"${found[0]}" is retired: ${instead}` }]
          : [];
      })
    );
  });
}

/** Ids of vectors never change, so they may contain retired words. */
function withoutIds(line: string): string {
  return line.replace(/\w+(?:[-/]\w+)+/g, "");
}
