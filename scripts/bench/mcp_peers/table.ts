/**
 * Prints tables as text, and computes their values.
 *
 * @module
 */

/** Prints a title and rows; a row may have fewer cells than there are heads. */
export function printTable(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const all = [["", ...heads], ...rows];
  const widths = all.reduce<number[]>((widest, cells) => {
    cells.forEach((cell, i) => widest[i] = Math.max(widest[i] ?? 0, cell.length));
    return widest;
  }, []);
  console.log(`\n${title}`);
  for (const cells of all) {
    console.log(
      cells.map((cell, i) => i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]! + 2)).join("")
        .trimEnd(),
    );
  }
}

/** Formats a number with three or more digits: 12,345 or 12.3 or 0.12. */
export function formatNumber(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * The cost of a server to Trivet's: the median of the ratios of the rounds, since a machine can be twice as slow for seconds.
 * Empty if one of them has no costs.
 */
export function formatTimes(costs: readonly number[] = [], trivet: readonly number[] = []): string {
  const ratios = costs.flatMap((cost, round) => trivet[round] ? cost / trivet[round] : []);
  return ratios.length > 0 ? `${formatNumber(median(ratios))}x` : "";
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** @param part from 0 to 1 */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
}

/** Prints why servers do not support operations. */
export function printReasons(reasons: ReadonlyMap<string, string>): void {
  if (reasons.size === 0) return;
  console.log("\n  Not supported:");
  for (const [what, why] of reasons) console.log(`  ${what}: ${why}`);
}
