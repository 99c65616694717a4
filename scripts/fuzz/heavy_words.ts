/**
 * Long texts of the kinds that are slow to read where a reader is careless, and bodies that come in pieces.
 *
 * @module
 */
import type { Random } from "./random.ts";

/** What slows down careless readers: white space, line ends, escapes, marks that are not seen, and separators. */
const UNITS: readonly string[] = [
  "a",
  " ",
  "\r",
  "\n",
  "\r\n",
  "\t",
  "\u0000",
  '"',
  "\\",
  "%41",
  "%",
  "+",
  "&",
  "=",
  ";",
  ",",
  ".",
  "../",
  "/",
  "a/",
  "{",
  "}",
  "[",
  "<",
  "--",
  "- ",
  "\u200b",
  "\u0628\u200c",
  "\u0301",
  "\ufeff",
  "\u6f22",
  "\u{1f600}",
  "aA0",
  "a b ",
  "https://a.example/ ",
  "read ",
  "A-",
];

/** A text of about this many bytes. */
export function long(random: Random, size: number): string {
  const unit = random.oneIn(4) ? random.pick(UNITS) + random.pick(UNITS) : random.pick(UNITS);
  const text = unit.repeat(Math.max(1, Math.floor(size / new TextEncoder().encode(unit).length)));
  return random.oneIn(3) ? text + random.pick(["b", "!", "\n", "=", '"']) : text;
}

/** A list of about this many bytes; `brackets` is empty for its members alone. */
export function fill(
  size: number,
  unit: string | ((index: number) => string),
  brackets: "[]" | "" = "[]",
): string {
  const all: string[] = [];
  for (let bytes = 0, i = 0; bytes < size; i++) {
    const one = typeof unit === "string" ? unit : unit(i);
    all.push(one);
    bytes += one.length + 1;
  }
  return brackets === "" ? all.join(",") : `[${all.join(",")}]`;
}

/** A body at once, in packets, or (up to 200 kB) in single bytes. */
export function pieces(
  random: Random,
  content: string | Uint8Array<ArrayBuffer>,
): { body: BodyInit; duplex?: "half" } {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const kind = random.below(8);
  if (kind > 1) return { body: bytes };
  const step = kind === 0 && bytes.length <= 200_000 ? 1 : 1400;
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at += step));
    },
  });
  return { body, duplex: "half" };
}
