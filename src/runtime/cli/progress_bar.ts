/**
 * A progress bar for a transfer, on a terminal: how many of how many bytes, and how fast. It appears when the transfer has
 * taken half a second, and disappears at its end, also when it fails: the command prints the outcome.
 *
 * @module
 */

/** What a bar is drawn on, such as standard error. */
export interface Terminal {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** What a transfer reports, in bytes. */
export interface Progress {
  /** A transfer begins, or begins again; its size can be unknown. */
  begin(total: number | undefined): void;
  advance(bytes: number): void;
}

/** For transfers without a progress bar. */
export const NO_PROGRESS: Progress = { begin() {}, advance() {} };

/** A faster transfer shows no bar. */
const FIRST_DRAW_MS = 500;
const DRAW_INTERVAL_MS = 100;
const MAX_BAR_CHARACTERS = 30;
/** A narrower bar shows less than the percentage beside it. */
const MIN_BAR_CHARACTERS = 8;
/** Moves the cursor to the start of the line and erases the line (ECMA-48). */
const ERASE_LINE = "\r\x1b[K";

/**
 * Runs a transfer with a bar, when `terminal` is a terminal; otherwise without one.
 * @param label what the command does, such as "uploading"
 * @param now a monotonic clock, in milliseconds
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
      if (time - first < FIRST_DRAW_MS || drawn !== undefined && time - drawn < DRAW_INTERVAL_MS) return;
      drawn = time;
      terminal.write(ERASE_LINE + drawBar(label, done, total, time - start, terminal.columns || 80));
    },
  };
  try {
    return await transfer(progress);
  } finally {
    if (drawn !== undefined) terminal.write(ERASE_LINE);
  }
}

/** One line that is narrower than the terminal. */
function drawBar(
  label: string,
  done: number,
  total: number | undefined,
  elapsedMs: number,
  columns: number,
): string {
  const rate = `${formatBytes(done / Math.max(elapsedMs, 1) * 1000)}/s`;
  if (total === undefined) return `${label}: ${formatBytes(done)}  ${rate}`.slice(0, columns - 1);
  // A server may send more than it declared.
  const part = total === 0 ? 1 : Math.min(done / total, 1);
  const figures = `${String(Math.floor(part * 100)).padStart(3)}%  ${formatBytes(done)} of ${
    formatBytes(total)
  }  ${rate}`;
  const width = Math.min(MAX_BAR_CHARACTERS, columns - 1 - `${label}: [] ${figures}`.length);
  if (width < MIN_BAR_CHARACTERS) return `${label}: ${figures}`.slice(0, columns - 1);
  const filled = Math.floor(part * width);
  return `${label}: [${"#".repeat(filled)}${" ".repeat(width - filled)}] ${figures}`;
}

/** A size for people, in decimal units. */
export function formatBytes(bytes: number): string {
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

/** Passes chunks on, and reports the bytes of each. */
export async function* metered(
  chunks: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    progress.advance(chunk.length);
    yield chunk;
  }
}
