/**
 * Builds Trivet with `scripts/build.ts` in a temporary folder, as it is published: from sources the start is slower,
 * because Node strips the types.
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
/** Files and folders that the build reads. */
const INPUTS = [
  "src",
  "fixtures",
  "package.json",
  "README.md",
  "LICENSE",
  "node_modules",
];

export interface Build {
  /** The URL of the folder, with a slash at the end. */
  readonly url: string;
  remove(): void;
}

/** Builds Trivet, or returns why it cannot be built. The caller must call `remove`. */
export function buildTrivet(): Build | { readonly failure: string } {
  const folder = mkdtempSync(join(tmpdir(), "trivet-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  for (const input of INPUTS) symlinkSync(join(ROOT, input), join(folder, input));
  const { status, stderr } = spawnSync(process.execPath, [
    join(ROOT, "scripts/build.ts"),
  ], { cwd: folder, encoding: "utf8" });
  if (status !== 0) {
    remove();
    return { failure: /^\w*Error.*$/m.exec(stderr)?.[0] ?? stderr.trim() };
  }
  return { url: pathToFileURL(join(folder, "dist")).href + "/", remove };
}
