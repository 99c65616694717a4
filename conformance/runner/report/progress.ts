/**
 * A progress bar on a terminal, nothing elsewhere.
 *
 * @module
 */
import process from "node:process";

export interface Progress {
  tick(name: string, isFailure: boolean): void;
  end(): void;
}

const WIDTH = 30;
let isShown = false;

/** Takes the bar off the terminal, where something else has to stand; the next vector brings it back. */
export function hideProgress(): void {
  if (isShown) process.stderr.write("\r\x1b[2K");
  isShown = false;
}

export function progressOf(total: number, isWanted: boolean = process.stderr.isTTY === true): Progress {
  if (!isWanted || total === 0) return { tick() {}, end() {} };
  let done = 0;
  let failed = 0;
  let shown = 0;
  const draw = (name: string) => {
    const full = Math.round(WIDTH * done / total);
    const bar = "█".repeat(full) + "░".repeat(WIDTH - full);
    const failures = failed === 0 ? "" : `, ${failed} not as expected`;
    const room = Math.max(0, (process.stderr.columns ?? 80) - WIDTH - 40);
    isShown = true;
    process.stderr.write(`\r\x1b[2K${bar} ${done}/${total}${failures} ${name.slice(0, room)}`);
  };
  return {
    tick(name, isFailure) {
      done++;
      if (isFailure) failed++;
      const now = performance.now();
      if (now - shown < 50 && done < total) return;
      shown = now;
      draw(name);
    },
    end: hideProgress,
  };
}
