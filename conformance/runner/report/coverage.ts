/**
 * Computes which requirement rows a run tested and with what result, by document and level.
 *
 * @module
 */
import type { Requirements, Row } from "../vector/load.ts";
import { type Strength, toStrength } from "../outcome.ts";
import type { Result } from "../vector/vector.ts";

export type RowState = "held" | "broken" | "skipped" | "excluded" | "unasked";

export interface RowResult {
  readonly row: Row;
  readonly state: RowState;
  readonly vectors: readonly Result[];
}

export interface Figures {
  readonly document: string;
  readonly title: string;
  readonly strength: Strength;
  readonly rows: number;
  readonly excluded: number;
  /** Rows with at least one vector that was not skipped. */
  readonly asked: number;
  readonly held: number;
  readonly broken: number;
  /** Rows whose vectors were all skipped. */
  readonly skipped: number;
}

/** Rows of all documents that the selected vectors cover. */
export interface RowCounts {
  readonly total: number;
  readonly asked: number;
  readonly met: number;
}

export function countRows(figures: readonly Figures[]): RowCounts {
  const sum = (name: "rows" | "asked" | "held") => figures.reduce((all, each) => all + each[name], 0);
  return { total: sum("rows"), asked: sum("asked"), met: sum("held") };
}

/** All rows that bind a server, of every document that some result covers, in order. */
export function toRowResults({ rows, documents }: Requirements, results: readonly Result[]): RowResult[] {
  const byRow = new Map<string, Result[]>();
  for (const result of results) {
    for (const id of result.covers) byRow.set(id, [...byRow.get(id) ?? [], result]);
  }
  const touched = new Set([...byRow.keys()].map((id) => rows.get(id)?.document));
  return [...documents.keys()].filter((document) => touched.has(document)).flatMap((document) =>
    documents.get(document)!.rows.filter(({ binds }) => binds?.includes("server") ?? true).map(({ id }) => {
      const row = rows.get(id)!;
      const vectors = byRow.get(id) ?? [];
      return { row, vectors, state: toRowState(row, vectors) };
    })
  );
}

function toRowState({ id, excluded }: Row, vectors: readonly Result[]): RowState {
  if (vectors.some(({ failed }) => failed.includes(id))) return "broken";
  if (vectors.some(({ outcome }) => outcome === "pass")) return "held";
  if (vectors.length > 0 && vectors.every(({ outcome }) => outcome === "skip")) return "skipped";
  if (vectors.length > 0) return "unasked";
  return excluded === undefined ? "unasked" : "excluded";
}

/** Counts the rows by document and level, MUST first. */
export function countByLevel(all: readonly RowResult[], { documents }: Requirements): Figures[] {
  const figures: Figures[] = [];
  for (const document of new Set(all.map(({ row }) => row.document))) {
    for (const strength of ["MUST", "SHOULD", "MAY"] as const) {
      const these = all.filter(({ row }) => row.document === document && toStrength(row.level) === strength);
      if (these.length === 0) continue;
      const count = (state: RowState) => these.filter((each) => each.state === state).length;
      const [held, broken] = [count("held"), count("broken")];
      figures.push({
        document,
        title: documents.get(document)!.title,
        strength,
        rows: these.length,
        excluded: count("excluded"),
        asked: held + broken,
        held,
        broken,
        skipped: count("skipped"),
      });
    }
  }
  return figures;
}
