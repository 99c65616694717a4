/**
 * Patterns with `*`, matched in linear time without regular expressions.
 *
 * @module
 */

/** Whether a text matches. */
export type Match = (text: string) => boolean;

/** A pattern in which `*` stands for any characters. */
export function compileGlob(pattern: string): Match {
  const pieces = pattern.split("*");
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (pieces.length === 1) return (text) => text === first;
  const middle = pieces.slice(1, -1).filter((piece) => piece !== "");
  return (text) => {
    if (!text.startsWith(first)) return false;
    let at = first.length;
    // The leftmost place of each piece leaves the most for the others.
    for (const piece of middle) {
      const found = text.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

/** A pattern of segments: `*` stands for any characters but `/`, a segment `**` for any number of segments. */
export function compilePathGlob(pattern: string): Match {
  /** The segments between `**`. */
  const runs: Match[][] = [[]];
  for (const segment of pattern.split("/")) {
    if (segment === "**") runs.push([]);
    else runs.at(-1)!.push(compileGlob(segment));
  }
  const first = runs[0]!;
  const last = runs.at(-1)!;
  const middle = runs.slice(1, -1).filter((run) => run.length > 0);
  return (text) => {
    const segments = text.split("/");
    if (runs.length === 1) return segments.length === first.length && fits(first, segments, 0);
    if (segments.length < first.length + last.length || !fits(first, segments, 0)) return false;
    const end = segments.length - last.length;
    let at = first.length;
    for (const run of middle) {
      while (at + run.length <= end && !fits(run, segments, at)) at++;
      if (at + run.length > end) return false;
      at += run.length;
    }
    return fits(last, segments, end);
  };
}

function fits(run: readonly Match[], segments: readonly string[], at: number): boolean {
  return run.every((match, i) => match(segments[at + i]!));
}
