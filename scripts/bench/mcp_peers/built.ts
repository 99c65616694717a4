/**
 * Trivet as it is published, built by `scripts/build.ts` in a folder of its own: sources start more slowly, since Node
 * takes their types out first, and no user of the package waits for that.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** What the build reads. */
const PARTS = [
  "src",
  "fixtures",
  "package.json",
  "README.md",
  "LICENSE",
  "node_modules",
];

export interface Build {
  /** The address of the folder, which ends with a slash. */
  readonly url: string;
  remove(): void;
}

/** Builds it, or says why it cannot be built. `remove` must be called. */
export function buildTrivet(): Build | { readonly refused: string } {
  const folder = mkdtempSync(join(tmpdir(), "trivet-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  for (const part of PARTS) symlinkSync(join(ROOT, part), join(folder, part));
  const { status, stderr } = spawnSync(process.execPath, [
    join(ROOT, "scripts/build.ts"),
  ], { cwd: folder, encoding: "utf8" });
  if (status !== 0) {
    remove();
    return { refused: /^\w*Error.*$/m.exec(stderr)?.[0] ?? stderr.trim() };
  }
  return { url: pathToFileURL(join(folder, "dist")).href + "/", remove };
}
