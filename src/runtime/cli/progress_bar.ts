/**
 * A progress bar for a transfer, on a terminal: how much of how much, and how fast. It comes when the transfer has taken
 * half a second, and goes with it, also when that fails: what became of it is told by whoever did it.
 *
 * @module
 */

/** What a bar is drawn on: standard error, say. */
export interface Terminal {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** What a transfer tells of itself, in bytes. */
export interface Progress {
  /** A transfer begins, or begins again; its size may be unknown. */
  begin(total: number | undefined): void;
  advance(bytes: number): void;
}

/** For transfers that nobody watches. */
export const NO_PROGRESS: Progress = { begin() {}, advance() {} };

/** Milliseconds before a bar is worth looking at. */
const PATIENCE = 500;
/** Milliseconds between drawings. */
const PAUSE = 100;
const WIDEST = 30;
/** A narrower bar says less than the percents beside it. */
const NARROWEST = 8;
/** Back to the start of the line, which is emptied (ECMA-48). */
const ERASE = "\r\x1b[K";

/**
 * Runs a transfer with a bar on the terminal; without one, where that is none (or `undefined`).
 * @param label what is done, such as "uploading"
 * @param now milliseconds of a clock that only goes forward
 */
export async function withProgressBar<Result>(
  label: string,
  terminal: Terminal | undefined,
  transfer: (progress: Progress) => Promise<Result>,
  now: () => number = () => performance.now(),
): Promise<Result> {
  if (!terminal?.isTTY) return await transfer(NO_PROGRESS);
  let start = now();
  const first = start;
  let total: number | undefined;
  let done = 0;
  let drawn: number | undefined;
  const progress: Progress = {
    begin(bytes) {
      [start, total, done] = [now(), bytes, 0];
    },
    advance(bytes) {
      done += bytes;
      const time = now();
      if (time - first < PATIENCE || drawn !== undefined && time - drawn < PAUSE) return;
      drawn = time;
      terminal.write(ERASE + drawBar(label, done, total, time - start, terminal.columns || 80));
    },
  };
  try {
    return await transfer(progress);
  } finally {
    if (drawn !== undefined) terminal.write(ERASE);
  }
}

/** One line that fits beside the cursor. */
function drawBar(
  label: string,
  done: number,
  total: number | undefined,
  milliseconds: number,
  columns: number,
): string {
  const rate = `${showBytes(done / Math.max(milliseconds, 1) * 1000)}/s`;
  if (total === undefined) return `${label}: ${showBytes(done)}  ${rate}`.slice(0, columns - 1);
  // More may come than was said.
  const part = total === 0 ? 1 : Math.min(done / total, 1);
  const figures = `${String(Math.floor(part * 100)).padStart(3)}%  ${showBytes(done)} of ${
    showBytes(total)
  }  ${rate}`;
  const width = Math.min(WIDEST, columns - 1 - `${label}: [] ${figures}`.length);
  if (width < NARROWEST) return `${label}: ${figures}`.slice(0, columns - 1);
  const filled = Math.floor(part * width);
  return `${label}: [${"#".repeat(filled)}${" ".repeat(width - filled)}] ${figures}`;
}

/** A size for people, in units of a thousand. */
export function showBytes(bytes: number): string {
  if (bytes < 999.5) return `${Math.round(bytes)} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** The same chunks, each told of as it goes by. */
export async function* metered(
  chunks: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    progress.advance(chunk.length);
    yield chunk;
  }
}
