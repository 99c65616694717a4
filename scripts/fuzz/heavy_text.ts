/**
 * Long texts that naive readers read slowly, and bodies in chunks.
 *
 * @module
 */
import type { Random } from "./random.ts";

/** Texts that naive readers read slowly when repeated: white space, line ends, escapes, invisible marks and separators. */
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

/** Creates a text. @param size in bytes, approximate */
export function createText(random: Random, size: number): string {
  const unit = random.oneIn(4) ? random.pick(UNITS) + random.pick(UNITS) : random.pick(UNITS);
  const text = unit.repeat(Math.max(1, Math.floor(size / new TextEncoder().encode(unit).length)));
  return random.oneIn(3) ? text + random.pick(["b", "!", "\n", "=", '"']) : text;
}

/** Creates a JSON array, or only its members with `brackets` empty. @param size in bytes, approximate */
export function createArray(
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

/** Creates a body in one piece, in packets, or (up to 200 kB) in single bytes. */
export function createBody(
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
