/**
 * Two texts side by side, or one below the other in a narrow terminal.
 *
 * @module
 */

/** In a narrower terminal the texts are one below the other. */
const MIN_TWO_COLUMN_WIDTH = 96;
const COLUMN_SEPARATOR = " │ ";

/** @param width of the terminal */
export function toColumns(left: readonly string[], right: readonly string[], width: number): string[] {
  if (width < MIN_TWO_COLUMN_WIDTH) {
    return [...left.flatMap((line) => wrap(line, width)), "", ...right.flatMap((line) => wrap(line, width))];
  }
  const first = Math.floor((width - COLUMN_SEPARATOR.length) * 0.55);
  const second = width - COLUMN_SEPARATOR.length - first;
  const [one, other] = [
    left.flatMap((line) => wrap(line, first)),
    right.flatMap((line) => wrap(line, second)),
  ];
  return Array.from(
    { length: Math.max(one.length, other.length) },
    (_, at) => `${(one[at] ?? "").padEnd(first)}${COLUMN_SEPARATOR}${other[at] ?? ""}`.trimEnd(),
  );
}

/** Wraps a line at blanks if possible. Continuation lines have the indent of the first. */
export function wrap(line: string, width: number): string[] {
  const indent = /^ */.exec(line)![0].slice(0, Math.floor(width / 2));
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const blank = rest.lastIndexOf(" ", width);
    const at = blank > Math.max(indent.length, width / 2) ? blank : width;
    lines.push(rest.slice(0, at));
    rest = indent + rest.slice(at).trimStart();
  }
  return [...lines, rest];
}
