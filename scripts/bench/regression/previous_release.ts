/**
 * The sources of the previous release, to compare with: of the newest tag `v*` before this commit, else of the commit in
 * `previous_release.json`. The published package is the same files without their types.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../../..", import.meta.url));

export interface PreviousRelease {
  /** The tag or the commit. */
  readonly name: string;
  /** A folder with its `src/`, and with the packages of this checkout. */
  readonly folder: string;
  remove(): void;
}

/** Extracts the sources to a temporary folder, or returns why that is not possible. The caller must call `remove`. */
export function extractPreviousRelease(): PreviousRelease | { readonly missing: string } {
  const name = findPreviousRelease();
  if (name === undefined) {
    return { missing: "the history of the repository does not contain the previous release" };
  }
  const folder = mkdtempSync(join(tmpdir(), "trivet-previous-"));
  try {
    const archive = git("archive", "--format=tar", name, "src", "package.json");
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return { name, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function findPreviousRelease(): string | undefined {
  try {
    const head = git("rev-parse", "HEAD").toString().trim();
    const tags = git("tag", "--list", "v*", "--merged", "HEAD", "--no-contains", head, "--sort=-v:refname");
    const newest = tags.toString().split("\n")[0]!;
    if (newest !== "") return newest;
    const file = new URL("previous_release.json", import.meta.url);
    const { commit } = JSON.parse(readFileSync(file, "utf8")) as { commit: string };
    git("cat-file", "-e", `${commit}^{commit}`);
    return commit;
  } catch {
    // No git, no repository (a downloaded archive), or a history that was cut.
    return undefined;
  }
}

function git(...args: string[]) {
  return execFileSync("git", args, { cwd: ROOT, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 2 ** 28 });
}
