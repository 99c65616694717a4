/**
 * Finds changes of files by polling. The file events of systems differ between runtimes, lose files that an editor
 * replaces, and do not work on network folders; a poll costs microseconds.
 *
 * @module
 */
import { statSync } from "node:fs";

const POLL_INTERVAL_MS = 200;

/**
 * Calls `onChange` when files have been changed, created or removed, and have then stayed the same for one poll.
 * @param files read at each poll; files that are added later are watched from then on
 * @param onChange must not reject; there is no poll while it runs
 * @returns the function that stops it
 */
export function watchFiles(files: Iterable<string>, onChange: () => Promise<void>): () => void {
  const seen = new Map<string, string>();
  /** Whether a file that was seen before has changed. */
  const poll = (): boolean => {
    let changed = false;
    for (const file of files) {
      const now = stateOf(file);
      changed ||= seen.has(file) && seen.get(file) !== now;
      seen.set(file, now);
    }
    return changed;
  };
  poll();
  let isChanging = false;
  let isRunning = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    if (poll()) isChanging = true;
    else if (isChanging) {
      isChanging = false;
      isRunning = true;
      await onChange();
      isRunning = false;
    }
  }, POLL_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** Equal as long as the file is the same. That it cannot be examined (EACCES, ELOOP) is a state: who reads it reports why. */
function stateOf(file: string): string {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats ? `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}` : "absent";
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}
