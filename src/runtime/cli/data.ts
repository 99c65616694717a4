/**
 * The data folder: `trivet.db` (everything stored), `skills/` (local skills), `demo.json` (the demo's secrets).
 *
 * @module
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { sqliteStore } from "../../store/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { textOption, type Values } from "./output.ts";

/** The option that every command on stored data takes. */
export const DATA_OPTION = { data: { type: "string" } } as const;
export const DATA_HELP = "  --data DIR     the data folder (default: ./data, or TRIVET_DATA)";

/** The data folder that the options name, as an absolute path. */
export function dataFolder(values: Values, env: Readonly<Record<string, string | undefined>>): string {
  return resolve(textOption(values, "data") ?? env.TRIVET_DATA ?? "data");
}

/** Opens the folder's store, making both when they are not there. @throws {Error} saying what cannot be opened */
export function openStore(folder: string): Store {
  const file = join(folder, "trivet.db");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return sqliteStore(file);
  } catch (cause) {
    throw new Error(`Cannot open "${file}": ${(cause as Error).message}`, { cause });
  }
}

/** Runs work on the store of a data folder and closes it. */
export async function withStore(folder: string, work: (store: Store) => Promise<void>): Promise<void> {
  const store = openStore(folder);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}
