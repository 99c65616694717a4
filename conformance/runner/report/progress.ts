/**
 * A progress bar on a terminal. Elsewhere nothing is shown.
 *
 * @module
 */
import process from "node:process";

export interface Progress {
  tick(name: string, isFailure: boolean): void;
  end(): void;
}

const BAR_CHARACTERS = 30;
let isShown = false;

/** Removes the bar, so that other text can be printed. The next vector shows it again. */
export function hideProgress(): void {
  if (isShown) process.stderr.write("\r\x1b[2K");
  isShown = false;
}

export function createProgress(total: number, isWanted: boolean = process.stderr.isTTY === true): Progress {
  if (!isWanted || total === 0) return { tick() {}, end() {} };
  let done = 0;
  let failed = 0;
  let shown = 0;
  const draw = (name: string) => {
    const full = Math.round(BAR_CHARACTERS * done / total);
    const bar = "█".repeat(full) + "░".repeat(BAR_CHARACTERS - full);
    const failures = failed === 0 ? "" : `, ${failed} not as expected`;
    const room = Math.max(0, (process.stderr.columns ?? 80) - BAR_CHARACTERS - 40);
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
