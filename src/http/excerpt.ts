/**
 * Part of a text file, by lines, for models: within a number of characters, with what is needed to read on. The file is
 * decoded in time slices, and only the part is kept as text.
 *
 * @module
 */
import { WorkSlice } from "./work_slice.ts";

/** Part of a text, by lines. */
export interface Excerpt {
  /** Without the line end of the last line. */
  readonly text: string;
  /** From 1. */
  readonly first: number;
  readonly lines: number;
  /** Lines of the whole text. */
  readonly total: number;
}

export interface ExcerptOptions {
  /** From 1. */
  readonly first: number;
  /** Lines. @default all */
  readonly count?: number;
  /** Characters of the excerpt. A line that is longer is cut, and the text says so. */
  readonly maxCharacters: number;
}

/** Bytes that are decoded at once. */
const STEP_BYTES = 64 * 1024;
const LF = 10;

/**
 * Lines from `first` on, within both limits. It has no lines past the end, except for the first line of an empty text.
 * Resolves to `undefined` if the bytes are no text: invalid UTF-8, or with a NUL.
 */
export async function readExcerpt(
  bytes: Uint8Array,
  { first, count = Infinity, maxCharacters }: ExcerptOptions,
): Promise<Excerpt | undefined> {
  if (bytes.includes(0)) return undefined;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const slice = new WorkSlice();
  let ends = 0;
  /** The text from the first line on, up to one character more than are returned. */
  let kept = "";
  let lineLength = 0;
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (slice.isOver) await slice.yield();
    let text: string;
    try {
      text = decoder.decode(bytes.subarray(at, at + STEP_BYTES), { stream: at + STEP_BYTES < bytes.length });
    } catch {
      return undefined;
    }
    let start = ends >= first - 1 ? 0 : undefined;
    let end = ends >= first ? 0 : undefined;
    // `indexOf` takes five times as long for a text of nothing but line ends.
    for (let i = 0; i < text.length; i++) {
      if (text.charCodeAt(i) !== LF) continue;
      ends++;
      if (ends === first - 1) start = i + 1;
      else if (ends === first) end = i;
    }
    if (start === undefined) continue;
    lineLength += Math.max((end ?? text.length) - start, 0);
    kept += text.slice(start, start + maxCharacters + 1 - kept.length);
  }
  const total = ends + (bytes.length > 0 && bytes.at(-1) !== LF ? 1 : 0);
  let end = 0;
  let lines = 0;
  while (lines < count && first + lines <= total) {
    const newline = kept.indexOf("\n", end);
    const next = newline < 0 ? kept.length : newline + 1;
    if (next > maxCharacters) break;
    end = next;
    lines++;
  }
  if (lines === 0 && count > 0 && first <= total) {
    // The cut may be within a character.
    const text = kept.slice(0, maxCharacters).toWellFormed() +
      `\n[Line ${first} truncated after ${maxCharacters} of ${lineLength} characters.]`;
    return { text, first, lines: 1, total };
  }
  return { text: kept.slice(0, end).replace(/\n$/, ""), first, lines, total };
}

/** The number of lines. A newline at the end does not begin a line. */
export function countLines(text: string): number {
  let lines = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) === LF) lines++;
  return lines;
}
