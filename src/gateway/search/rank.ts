/**
 * Combines two rankings by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).
 *
 * @module
 */

/** What a search finds. */
export interface SearchEntry {
  readonly kind: "tool" | "skill";
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
}

/**
 * Ranks the entries that the caller may use for a query, by embeddings for example: the best first, and none that does not
 * fit. Entries of a tool stay the same objects until the definitions change, so that you can keep vectors in a `WeakMap`.
 */
export type RankEntries = (
  query: string,
  entries: readonly SearchEntry[],
  signal: AbortSignal,
) => readonly SearchEntry[] | Promise<readonly SearchEntry[]>;

/** The constant of the paper. */
const DAMPING = 60;

/** One ranking of both, the best first. */
export function fuseRankings<Entry>(...rankings: readonly (readonly Entry[])[]): Entry[] {
  const scores = new Map<Entry, number>();
  for (const ranking of rankings) {
    for (const [rank, entry] of ranking.entries()) {
      scores.set(entry, (scores.get(entry) ?? 0) + 1 / (DAMPING + rank + 1));
    }
  }
  return [...scores].sort(([, a], [, b]) => b - a).map(([entry]) => entry);
}
