/**
 * Two texts beside each other, or one after the other where the terminal is narrow.
 *
 * @module
 */

/** Narrower than this there is room for one column alone. */
const TWO = 96;
const BETWEEN = " │ ";

/** @param width of the terminal */
export function besides(left: readonly string[], right: readonly string[], width: number): string[] {
  if (width < TWO) {
    return [...left.flatMap((line) => wrap(line, width)), "", ...right.flatMap((line) => wrap(line, width))];
  }
  const first = Math.floor((width - BETWEEN.length) * 0.55);
  const second = width - BETWEEN.length - first;
  const [one, other] = [
    left.flatMap((line) => wrap(line, first)),
    right.flatMap((line) => wrap(line, second)),
  ];
  return Array.from(
    { length: Math.max(one.length, other.length) },
    (_, at) => `${(one[at] ?? "").padEnd(first)}${BETWEEN}${other[at] ?? ""}`.trimEnd(),
  );
}

/** Lines of at most so many characters, broken at blanks where there are some; what follows is indented as the first. */
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
