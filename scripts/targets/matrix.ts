/**
 * The matrix of servers and documents, from the stored results: for each document, how many of the MUST rows that were
 * asked are met.
 *
 * @module
 */
import type { LevelCounts, StoredRun, TargetFolder } from "./target_data.ts";

export const SUITES: Readonly<Record<string, string>> = {
  oauth: "OAuth 2.0",
  jsonrpc: "JSON-RPC 2.0",
  mcp: "Model Context Protocol",
  skills: "Skills API",
};

export interface MatrixCell {
  /** Rows of all levels, MUST first. Empty if no row was asked, `undefined` if the run has no figures by document. */
  readonly levels: readonly LevelCounts[] | undefined;
}

export interface Matrix {
  readonly suite: string;
  readonly runs: readonly StoredRun[];
  readonly totals: readonly MatrixCell[];
  readonly documents: readonly { readonly document: string; readonly cells: readonly MatrixCell[] }[];
}

/** One matrix for each suite that has results. */
export function toMatrices(targets: readonly TargetFolder[]): Matrix[] {
  const all = targets.flatMap(({ runs }) => runs);
  return Object.keys(SUITES).flatMap((suite) => {
    const runs = all.filter((run) => run.suite === suite);
    if (runs.length === 0) return [];
    const asked = runs.flatMap(({ levels }) =>
      levels.flatMap((each) => each.asked > 0 ? each.document ?? [] : [])
    );
    const documents = [...new Set(asked)].sort();
    return [{
      suite,
      runs,
      totals: runs.map(({ levels }) => ({ levels: sumLevels(levels) })),
      documents: documents.map((document) => ({ document, cells: runs.map((run) => toCell(run, document)) })),
    }];
  });
}

function toCell({ levels }: StoredRun, document: string): MatrixCell {
  if (levels.every((each) => each.document === undefined)) return { levels: undefined };
  return { levels: levels.filter((each) => each.document === document && each.asked > 0) };
}

function sumLevels(all: readonly LevelCounts[]): LevelCounts[] {
  return ["MUST", "SHOULD", "MAY"].map((level) => {
    const these = all.filter((each) => each.level === level);
    const sum = (name: "asked" | "held") => these.reduce((total, each) => total + each[name], 0);
    return { level, asked: sum("asked"), held: sum("held") };
  });
}

/** The server of a run, with version and label. */
export function nameRun({ name, version = "", label, target }: StoredRun): string {
  const known = version === "" || name.includes(version) ? name : `${name} ${version}`;
  const which = label ??
    (target === "target.json" ? undefined : target.replace(/\.json$/, "").replaceAll("_", " "));
  return which === undefined || name.includes(which) ? known : `${known}, ${which}`;
}

/** `13/14`: the MUST rows that are met, of those that were asked; without any, the other rows in parentheses. */
export function formatCell({ levels }: MatrixCell): string {
  if (levels === undefined) return "?";
  const must = levels.find(({ level }) => level === "MUST");
  if (must && must.asked > 0) return `${must.held}/${must.asked}`;
  const others = sumAll(levels);
  return others.asked === 0 ? "–" : `(${others.held}/${others.asked})`;
}

/** All levels of a cell in words. */
export function describeCell({ levels }: MatrixCell): string {
  if (levels === undefined) return "figures by document are not known";
  const asked = levels.filter((each) => each.asked > 0);
  if (asked.length === 0) return "not asked";
  return asked.map(({ level, held, asked }) => `${level}: ${held} of ${asked} met`).join(", ");
}

function sumAll(levels: readonly LevelCounts[]): { readonly asked: number; readonly held: number } {
  return levels.reduce((sum, each) => ({ asked: sum.asked + each.asked, held: sum.held + each.held }), {
    asked: 0,
    held: 0,
  });
}
