/**
 * Lists what a target would need to run the skipped vectors: each need, the number of vectors, and its
 * description from the `README.md` of their folder.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "./vector.ts";

export interface UnmetNeed {
  readonly need: string;
  /** How many skipped vectors need it. */
  readonly count: number;
  /** What to add to a target file, in words. */
  readonly name: string;
  /** Description of the need. */
  readonly text?: string;
}

const NEED_TEXTS: Readonly<Record<string, string>> = {
  clock: 'a procedure "advance" that moves the clock forward, or --wait SECONDS',
  raw: "a target over a socket, for requests that HTTP libraries do not send",
  http: "a target over HTTP",
  stdio: 'a target on standard input and output: --stdio "COMMAND"',
  "procedure:login": "how a user signs in (FORMAT.md, section 9)",
  "procedure:authorize": "how a user allows a client (FORMAT.md, section 9)",
  "procedure:deny": "how a user denies a client (FORMAT.md, section 9)",
};

/** The needs of skipped vectors, most frequent first. @param root of the kit */
export function countUnmetNeeds(results: readonly Result[], root: string): UnmetNeed[] {
  const counts = new Map<string, { count: number; readonly kind: string }>();
  for (const { name, lacks = [] } of results) {
    for (const need of lacks.filter((each) => !isImplied(each, lacks))) {
      const entry = counts.get(need) ?? { count: 0, kind: name.split("/")[0]! };
      entry.count++;
      counts.set(need, entry);
    }
  }
  return [...counts].map(([need, { count, kind }]) => {
    const text = NEED_TEXTS[need] ?? readNeedTexts(root, kind).get(need.replace(/^(var|procedure):/, ""));
    return { need, count, name: describeNeed(need), ...(text !== undefined && { text }) };
  }).sort((one, other) => other.count - one.count);
}

/** A need for `a.b` implies `a`, and a feature implies its endpoint. */
function isImplied(need: string, lacks: readonly string[]): boolean {
  return lacks.some((other) =>
    other !== need && (need.startsWith(`${other}.`) || need === `var:endpoints.${other}`)
  );
}

function describeNeed(need: string): string {
  return need.split("|").map((one) =>
    one.startsWith("!")
      ? `absence of ${describeNeed(one.slice(1))}`
      : one.startsWith("var:endpoints.")
      ? `endpoint "${one.slice("var:endpoints.".length)}"`
      : one.startsWith("var:")
      ? `variable "${one.slice("var:".length)}"`
      : one.startsWith("procedure:")
      ? `procedure "${one.slice("procedure:".length)}"`
      : NEED_TEXTS[one] === undefined
      ? `feature "${one}"`
      : `"${one}"`
  ).join(" or ");
}

const textsByPath = new Map<string, ReadonlyMap<string, string>>();

/** Reads the tables of the README: names in the first cell, descriptions in the second. */
function readNeedTexts(root: string, kind: string): ReadonlyMap<string, string> {
  const path = join(root, "vectors", kind, "README.md");
  const known = textsByPath.get(path);
  if (known) return known;
  const texts = new Map<string, string>();
  for (const line of existsSync(path) ? readFileSync(path, "utf8").split("\n") : []) {
    const [, names = "", text = ""] = /^\| (`.*?) +\| (.*?) +\|$/.exec(line) ?? [];
    let prefix = "";
    for (const [, name = ""] of names.matchAll(/`([^`]+)`/g)) {
      const whole = name.startsWith(".") ? prefix + name : name;
      prefix = whole.slice(0, Math.max(whole.lastIndexOf("."), 0));
      texts.set(whole, text.replaceAll("`", "").replaceAll("\\|", "|"));
    }
  }
  textsByPath.set(path, texts);
  return texts;
}
