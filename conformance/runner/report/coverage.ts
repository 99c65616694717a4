/**
 * Which rows of which documents a run asked for, and how they came out: figures by document, section and level.
 *
 * @module
 */
import type { Requirements, Row } from "../vector/load.ts";
import { type Strength, strengthOf } from "../outcome.ts";
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
  /** Rows that at least one vector asked about. */
  readonly asked: number;
  readonly held: number;
  readonly broken: number;
  /** Rows all of whose vectors were skipped. */
  readonly skipped: number;
}

/** Rows of the documents that the results touch, in order. */
export function rowResults({ rows, documents }: Requirements, results: readonly Result[]): RowResult[] {
  const byRow = new Map<string, Result[]>();
  for (const result of results) {
    for (const id of result.covers) byRow.set(id, [...byRow.get(id) ?? [], result]);
  }
  const touched = new Set([...byRow.keys()].map((id) => rows.get(id)?.document));
  return [...documents.keys()].filter((document) => touched.has(document)).flatMap((document) =>
    documents.get(document)!.rows.map(({ id }) => {
      const row = rows.get(id)!;
      const vectors = byRow.get(id) ?? [];
      return { row, vectors, state: stateOf(row, vectors) };
    })
  );
}

function stateOf({ excluded }: Row, vectors: readonly Result[]): RowState {
  const asked = vectors.filter(({ outcome }) => outcome !== "skip");
  if (asked.length > 0) return asked.every(({ outcome }) => outcome === "pass") ? "held" : "broken";
  if (vectors.length > 0) return "skipped";
  return excluded === undefined ? "unasked" : "excluded";
}

/** Figures by document and level, MUST first. */
export function figuresOf(all: readonly RowResult[], { documents }: Requirements): Figures[] {
  const figures: Figures[] = [];
  for (const document of new Set(all.map(({ row }) => row.document))) {
    for (const strength of ["MUST", "SHOULD", "MAY"] as const) {
      const these = all.filter(({ row }) => row.document === document && strengthOf(row.level) === strength);
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
