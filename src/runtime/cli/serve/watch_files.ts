/**
 * Finds changes of files by polling. The file events of systems differ between runtimes, lose files that an editor
 * replaces, and do not work on network folders; a poll costs microseconds.
 *
 * @module
 */
import { statSync } from "node:fs";

const POLL_INTERVAL_MS = 200;

/** Files with their states when they were added: add them before they are read, so that no later change is missed. */
export class WatchedFiles {
  readonly #states = new Map<string, string>();

  constructor(...files: readonly string[]) {
    for (const file of files) this.add(file);
  }

  /** Does nothing for a file that it has. */
  add(file: string): void {
    if (!this.#states.has(file)) this.#states.set(file, stateOf(file));
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#states.keys();
  }

  /** Whether a file has changed since the call before, or since it was added. */
  poll(): boolean {
    let changed = false;
    for (const [file, before] of this.#states) {
      const now = stateOf(file);
      changed ||= before !== now;
      this.#states.set(file, now);
    }
    return changed;
  }
}

/**
 * Calls `onChange` when files have been changed, created or removed, and have then stayed the same for one poll.
 * @param files more can be added later
 * @param onChange must not reject; there is no poll while it runs
 * @returns the function that stops it
 */
export function watchFiles(files: WatchedFiles, onChange: () => Promise<void>): () => void {
  let isChanging = false;
  let isRunning = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    if (files.poll()) isChanging = true;
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
