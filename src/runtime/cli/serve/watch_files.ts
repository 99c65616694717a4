/**
 * Hears of changes to files by looking at them. Watching by the system's events differs between runtimes, loses files
 * that an editor replaces, and does not reach through network folders; a look costs microseconds.
 *
 * @module
 */
import { statSync } from "node:fs";

/** Milliseconds between looks. */
const LOOK_EVERY = 200;

/**
 * Calls `onChange` when files have changed, come or gone, and have then been left alone for one look.
 * @param files asked at each look; files that join later count from then on
 * @param onChange must not reject; there is no look while it works
 * @returns what ends it
 */
export function watchFiles(files: Iterable<string>, onChange: () => Promise<void>): () => void {
  const seen = new Map<string, string>();
  /** Whether a file that was seen before is another now. */
  const look = (): boolean => {
    let changed = false;
    for (const file of files) {
      const now = stateOf(file);
      changed ||= seen.has(file) && seen.get(file) !== now;
      seen.set(file, now);
    }
    return changed;
  };
  look();
  let changing = false;
  let working = false;
  const timer = setInterval(async () => {
    if (working) return;
    if (look()) changing = true;
    else if (changing) {
      changing = false;
      working = true;
      await onChange();
      working = false;
    }
  }, LOOK_EVERY);
  return () => clearInterval(timer);
}

function stateOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats ? `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}` : "absent";
}
