/**
 * Keeps what Node compiled for the next start: half of a start is spent compiling.
 *
 * @module
 */
import { existsSync, mkdirSync } from "node:fs";
// By its default: Bun and early versions of Node have no `enableCompileCache`, and refuse to import the name.
import nodeModule from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers";

/** Node writes the files when it exits by itself; clients of `trivet stdio` may kill it. */
const WRITE_AFTER_MS = 1000;

/**
 * Keeps compiled modules from now on, where the runtime can. The folder is one of the user, not the shared folder of
 * temporary files that is Node's default: Node runs what it reads there. `NODE_COMPILE_CACHE` names another folder,
 * `NODE_DISABLE_COMPILE_CACHE=1` keeps nothing. Never fails: a home that cannot be written is a slower start.
 */
export function keepCompiled(): void {
  const { env, versions } = process;
  // Deno and Bun keep their own. A measurement of coverage is less precise for kept functions.
  if ("Deno" in globalThis || versions.bun !== undefined || env.NODE_V8_COVERAGE) return;
  // Node reads both variables itself.
  if (!nodeModule.enableCompileCache || env.NODE_COMPILE_CACHE || env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const caches = env.XDG_CACHE_HOME || env.LOCALAPPDATA || join(homedir(), ".cache");
    const folder = join(caches, "trivet", "compiled");
    // One by one: with the option `recursive` Node never returns below `/proc`.
    for (const each of [caches, dirname(folder), folder]) {
      if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
    }
    nodeModule.enableCompileCache(folder);
    setTimeout(() => nodeModule.flushCompileCache?.(), WRITE_AFTER_MS).unref();
  } catch {
    // As without a cache.
  }
}
