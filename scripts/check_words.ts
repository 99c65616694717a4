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

/** Phrases that are retired in titles of vectors, in rows and in READMEs of the kit, in addition to the others. */
const RETIRED_IN_TITLES: readonly Retired[] = [
  { word: /\bleads? nowhere\b/i, instead: "is refused without a redirect, is refused" },
  { word: /\b(?:opens?|proves?|gives?) nothing\b/i, instead: "is refused, does not authenticate" },
  { word: /\bprov(?:es?|ing) (?:itself|themselves|oneself)\b/i, instead: "authenticates" },
  { word: /\bworks? no more\b|\bis good (?:no more|once|for)\b/i, instead: "is refused, is accepted once" },
  { word: /\bby nature\b/i, instead: "inherited property names" },
  { word: /\bstrangers?\b/i, instead: "untrusted, another client, another origin" },
  { word: /\bpassed over\b|\btaken for\b/i, instead: "ignored, treated as" },
  { word: /\bcomes? (?:twice|back)\b/i, instead: "is repeated, is returned" },
  { word: /\bfor (?:no (?:shared )?cache|caches)\b/i, instead: "has Cache-Control: no-store" },
  { word: /\bcounts? as (?:none|left out)\b/i, instead: "is treated as omitted" },
  { word: /\band no fault\b/i, instead: "without a server error" },
  { word: /\bbeyond measure\b/i, instead: "excessive, with the limit" },
  { word: /\b(?:everybody|someone)\b/i, instead: "name the actor: the caller, the client, the user" },
  {
    word: /\btells? (?:nothing|who|what|which|the|it|its)\b/i,
    instead: "returns, reports: name who says what",
  },
  {
    word:
      /(?<!\bthere )\b(?:is|are) no (?:JWT|JSON|URL|URI|code|token|list|array|object|number|text|proof)\b/i,
    instead: "is not a …, is not accepted as a …",
  },
];

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
  return [...checkCode(root, files), ...checkTitles(root)];
}

function checkCode(root: string, files: readonly string[]): Finding[] {
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

/** Finds retired words in titles of vectors, rows that no RFC has, and READMEs of the kit. */
function checkTitles(root: string): Finding[] {
  const files = globSync([
    "conformance/{vectors,clients/scenarios}/**/*.{json,md}",
    "conformance/requirements/{format,{jsonrpc,mcp,skills}-*}.json",
    "conformance/{README,FORMAT}.md",
    "conformance/{clients,learn,runner,runners}/**/README.md",
  ], { cwd: root, exclude: ["**/node_modules/**"] }).map((file) => file.replaceAll("\\", "/")).sort();
  const retired = [...RETIRED.filter(({ isPhrase }) => isPhrase), ...RETIRED_IN_TITLES];
  return files.flatMap((file) => {
    const prose = file.includes("/requirements/") ? PROSE_OF_ROW : PROSE_OF_VECTOR;
    return readFileSync(join(root, file), "utf8").split("\n").flatMap((line, at) => {
      const text = file.endsWith(".md") ? line : prose.exec(line)?.[1] ?? "";
      const words = withoutIds(text.replace(/`[^`]*`/g, ""));
      return retired.flatMap(({ word, instead }) => {
        const found = word.exec(words);
        return found
          ? [{ file, line: at + 1, rule: "word" as const, message: `"${found[0]}" is retired: ${instead}` }]
          : [];
      });
    });
  });
}

/** The members of vectors and of rows that people read. */
const PROSE_OF_VECTOR = /"(?:title|note)": "((?:[^"\\]|\\.)*)"/;
const PROSE_OF_ROW = /"(?:title|note|text|shows|excluded)": "((?:[^"\\]|\\.)*)"/;

/** Ids of vectors never change, so they may contain retired words. */
function withoutIds(line: string): string {
  return line.replace(/\w+(?:[-/]\w+)+/g, "");
}
