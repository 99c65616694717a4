/**
 * What a target would have to have to be asked more: the needs of vectors that were skipped, how many need each, and what it
 * is, in the words of the `README.md` of their folder.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "./vector.ts";

export interface Lack {
  readonly need: string;
  /** How many skipped vectors need it. */
  readonly count: number;
  /** What to add to a target file. */
  readonly name: string;
  /** What that is. */
  readonly text?: string;
}

const KNOWN: Readonly<Record<string, string>> = {
  clock: 'a clock that can be moved on: a procedure "advance", or --wait SECONDS',
  raw: "a target over a socket, for requests that no library sends",
  http: "a target over HTTP",
  stdio: 'a target on standard input and output: --stdio "COMMAND"',
  "procedure:login": "how a user signs in (FORMAT.md, section 9)",
  "procedure:authorize": "how a user allows a client (FORMAT.md, section 9)",
  "procedure:deny": "how a user refuses a client (FORMAT.md, section 9)",
};

/** Most wanted first. @param root of the kit */
export function lacksOf(results: readonly Result[], root: string): Lack[] {
  const counts = new Map<string, { count: number; readonly kind: string }>();
  for (const { name, lacks = [] } of results) {
    for (const need of lacks.filter((each) => !isPart(each, lacks))) {
      const entry = counts.get(need) ?? { count: 0, kind: name.split("/")[0]! };
      entry.count++;
      counts.set(need, entry);
    }
  }
  return [...counts].map(([need, { count, kind }]) => {
    const text = KNOWN[need] ?? textsOf(root, kind).get(need.replace(/^(var|procedure):/, ""));
    return { need, count, name: nameOf(need), ...(text !== undefined && { text }) };
  }).sort((one, other) => other.count - one.count);
}

/** Who needs `a.b` needs `a`, and who has a feature has its endpoint. */
function isPart(need: string, lacks: readonly string[]): boolean {
  return lacks.some((other) =>
    other !== need && (need.startsWith(`${other}.`) || need === `var:endpoints.${other}`)
  );
}

function nameOf(need: string): string {
  return need.split("|").map((one) =>
    one.startsWith("!")
      ? `to be without ${nameOf(one.slice(1))}`
      : one.startsWith("var:endpoints.")
      ? `endpoint "${one.slice("var:endpoints.".length)}"`
      : one.startsWith("var:")
      ? `variable "${one.slice("var:".length)}"`
      : one.startsWith("procedure:")
      ? `procedure "${one.slice("procedure:".length)}"`
      : KNOWN[one] === undefined
      ? `feature "${one}"`
      : `"${one}"`
  ).join(" or ");
}

const read = new Map<string, ReadonlyMap<string, string>>();

/** Rows of the tables: names in the first cell, what they mean in the second. */
function textsOf(root: string, kind: string): ReadonlyMap<string, string> {
  const path = join(root, "vectors", kind, "README.md");
  const known = read.get(path);
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
  read.set(path, texts);
  return texts;
}
