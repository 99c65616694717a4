/**
 * The software bill of materials (SPDX 2.3 JSON) of a package: what `npm sbom` lists for its dependencies, in the versions
 * of the lock file. Time and name are derived from the source, so that two builds have the same file.
 *
 * @module
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./pack.ts";

/**
 * @param built the folder of the built package
 * @param created ISO time, such as that of the source commit
 */
export function writeSbom(built: string, created: string, sha256: string): Record<string, unknown> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-sbom-"));
  try {
    copyFileSync(join(built, "package.json"), join(folder, "package.json"));
    if (existsSync("package-lock.json") && built === "dist") {
      copyFileSync("package-lock.json", join(folder, "package-lock.json"));
    }
    // Leaves development and optional peer dependencies out of the copied lock file.
    const quiet = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
    run("npm", ["install", "--package-lock-only", "--omit=dev", "--omit=peer", ...quiet], folder);
    const sbom = JSON.parse(run("npm", [
      "sbom",
      "--sbom-format=spdx",
      "--package-lock-only",
      "--omit=dev",
      "--omit=peer",
      "--silent",
    ], folder));
    const { name, documentNamespace: _, creationInfo, ...rest } = sbom;
    return {
      ...rest,
      name,
      documentNamespace: `urn:sha256:${sha256}`,
      creationInfo: { ...creationInfo, created },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
