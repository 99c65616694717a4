/**
 * Builds and packs both packages, measures them against their budgets, and computes their digests.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import process from "node:process";
import type { Artifact } from "./provenance.ts";

/** Packages that are built, with their budgets. That of Trivet has its modules twice: the command is a bundle of them. */
const PACKAGES = [
  { folder: "dist", maxPackedKilobytes: 3600, maxUnpackedKilobytes: 13_500 },
  { folder: "dist-conformance", maxPackedKilobytes: 760, maxUnpackedKilobytes: 6000 },
] as const;

// Scripts run on this Node, not on the one of the machine.
const env = { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env.PATH };

/** Runs a program, and returns what it prints. @throws {Error} if it fails */
export function run(command: string, args: readonly string[], cwd = "."): string {
  return execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** Builds in a folder of sources, and packs into `out`. Returns the tarballs, `trivet` first. */
export function buildAndPack(sources: string, out: string): [trivet: Artifact, kit: Artifact] {
  run(process.execPath, ["scripts/build.ts"], sources);
  mkdirSync(out, { recursive: true });
  const [trivet, kit] = PACKAGES.map(({ folder }) => {
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", resolve(out)];
    const report = JSON.parse(run("npm", args, join(sources, folder)));
    const { filename } = (Array.isArray(report) ? report : Object.values(report))[0] as { filename: string };
    return describe(join(out, filename));
  });
  return [trivet!, kit!];
}

/** Builds the commit in an empty folder. Returns the names of the tarballs that differ. */
export function findDifferences(commit: string, artifacts: readonly Artifact[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "trivet-rebuild-"));
  try {
    const archive = join(folder, "sources.tar");
    const sources = join(folder, "sources");
    mkdirSync(sources);
    run("git", ["archive", "--format=tar", `--output=${archive}`, commit]);
    run("tar", ["-xf", archive, "-C", sources]);
    symlinkSync(resolve("node_modules"), join(sources, "node_modules"), "dir");
    const again = buildAndPack(sources, join(folder, "out"));
    return artifacts.filter(({ name, sha512 }) =>
      !again.some((other) => other.name === name && other.sha512 === sha512)
    ).map(({ name }) => name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compares the packages with their budgets. Returns a line for each. @throws {Error} if one is too large */
export function measure(out: string, artifacts: readonly Artifact[]): string[] {
  return PACKAGES.map(({ maxPackedKilobytes, maxUnpackedKilobytes }, i) => {
    const file = join(out, artifacts[i]!.name);
    const packed = Math.ceil(statSync(file).size / 1024);
    const sizes = run("tar", ["-tvzf", file]).trim().split("\n").map((line) => Number(line.split(/\s+/)[2]));
    const unpacked = Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1024);
    const line = `${artifacts[i]!.name}: ${packed} KB packed (at most ${maxPackedKilobytes}), ` +
      `${unpacked} KB unpacked (at most ${maxUnpackedKilobytes}), ${sizes.length} files`;
    if (packed > maxPackedKilobytes || unpacked > maxUnpackedKilobytes) {
      throw new Error(
        `${line}: leave files out, or raise the budget in scripts/release/pack.ts with a reason`,
      );
    }
    return line;
  });
}

export function digest(file: string, algorithm: "sha256" | "sha512"): string {
  return createHash(algorithm).update(readFileSync(file)).digest("hex");
}

function describe(file: string): Artifact {
  const name = file.split(/[\\/]/).at(-1)!;
  return { name, sha256: digest(file, "sha256"), sha512: digest(file, "sha512") };
}
