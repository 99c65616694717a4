/**
 * The version of the package `trivet` and of the kit: the files that contain them, and their new values.
 *
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs";

const VERSION = /^\d+\.\d+\.\d+(?:-[\da-z.-]+)?$/i;
/** The first is at the top of the file, the second in `packages[""]`. */
const LOCK_MEMBERS = 2;

/** Versions of the two packages. */
export interface Versions {
  readonly trivet: string;
  readonly kit: string;
}

/** The versions in the package files. */
export function readVersions(): Versions {
  const read = (file: string): string => JSON.parse(readFileSync(file, "utf8")).version;
  return { trivet: read("package.json"), kit: read("conformance/package.json") };
}

/** Writes new versions. @throws {Error} for a version that is not `major.minor.patch` or not newer */
export function writeVersions(next: Partial<Versions>): string[] {
  const current = readVersions();
  const changed: string[] = [];
  const replace = (file: string, pattern: RegExp, text: string, count = 1) => {
    let left = count;
    const content = readFileSync(file, "utf8");
    const result = content.replace(
      pattern,
      (all, before, _, after) => left-- > 0 ? before + text + after : all,
    );
    if (left > 0) throw new Error(`${file} has no version to replace`);
    writeFileSync(file, result);
    changed.push(file);
  };
  const member = /("version": ")([^"]*)(")/g;
  if (next.trivet !== undefined) {
    checkNewer(current.trivet, next.trivet);
    replace("package.json", member, next.trivet);
    replace("package-lock.json", member, next.trivet, LOCK_MEMBERS);
    replace("src/version.ts", /(VERSION = ")([^"]*)(")/g, next.trivet);
  }
  if (next.kit !== undefined) {
    checkNewer(current.kit, next.kit);
    replace("conformance/package.json", member, next.kit);
  }
  return changed;
}

/** Checks the form and the order of two versions. @throws {Error} */
export function checkNewer(current: string, next: string): void {
  if (!VERSION.test(next)) throw new Error(`"${next}" is not a version: write it as 1.2.3 or 1.2.3-beta.1`);
  if (compareVersions(next, current) <= 0) throw new Error(`${next} is not newer than ${current}`);
}

/** Compares two versions as Semantic Versioning does (section 11). */
export function compareVersions(a: string, b: string): number {
  const [[coreA, preA], [coreB, preB]] = [split(a), split(b)];
  const core = compareParts(coreA, coreB);
  if (core !== 0) return core;
  if (preA === "" || preB === "") return preA === preB ? 0 : preA === "" ? 1 : -1;
  return compareParts(preA, preB);
}

function split(version: string): [string, string] {
  const dash = version.indexOf("-");
  return dash < 0 ? [version, ""] : [version.slice(0, dash), version.slice(dash + 1)];
}

function compareParts(a: string, b: string): number {
  const [left, right] = [a.split("."), b.split(".")];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [x, y] = [left[i], right[i]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    if (x === y) continue;
    const [isNumberX, isNumberY] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (isNumberX && isNumberY) return Number(x) - Number(y);
    if (isNumberX !== isNumberY) return isNumberX ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return 0;
}
