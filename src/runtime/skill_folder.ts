/**
 * A local folder of skills on a file system, for Node, Deno and Bun. Reads nothing outside the folder, also when a folder
 * is replaced by a symbolic link during a read. With `followLinks` a skill's own folder can be a link; then nothing
 * outside its target is read.
 *
 * @module
 */
// By its default, of which a member is read when it is needed: `promises` takes 3 ms to load.
import { checkNames, type Names } from "../options/option_check.ts";
import fs, { constants, type Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import { type FolderEntry, FolderError, type SkillFolder } from "../skills/local/folder.ts";

export type { FolderEntry, SkillFolder };

/** Options of a folder of skills. */
export interface SkillFolderOptions {
  /** Whether a skill's folder can be a link to a folder anywhere. @default false */
  readonly followLinks?: boolean;
  /** Whether the folder may be missing without a diagnostic. @default false */
  readonly optional?: boolean;
}

const NAMES: Names<SkillFolderOptions> = { followLinks: "boolean", optional: "boolean" };

/** A folder with more entries is refused: the listed ones would be arbitrary. */
const MAX_ENTRIES = 10_000;
/** How often a file that is being replaced is opened. */
const MAX_TRIES = 3;
/** How often the path is checked for links, where the system does not report the path of an open file. */
const PATH_CHECKS = 3;
/** A file that changed within this time may change again without new timestamps: their resolution is low. */
const RECENT_MS = 2000;
// `open` does not follow a link, and does not wait for the writer of a named pipe.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** Errors of the process, not of the file: a later read may succeed. */
const TRANSIENT_ERRORS = new Set(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"]);
const NOT_FOUND_ERRORS = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** Opens a folder. It can be created later. */
export function skillFolder(
  path: string,
  options: SkillFolderOptions = {},
): SkillFolder {
  checkNames("skillFolder", options, NAMES);
  const { followLinks = false, optional = false } = options;
  /** The real path, if it contains no link but an allowed one: that is still to be checked. */
  async function resolve(relative: string): Promise<string | undefined> {
    const segments = relative === "" ? [] : relative.split("/");
    if (!segments.every(isName)) return undefined;
    const [first, ...rest] = segments;
    const base = await orUndefined(fs.promises.realpath(path));
    if (base === undefined || first === undefined) return base;
    const top = join(base, first);
    const root = followLinks ? await orUndefined(fs.promises.realpath(top)) : top;
    return root === undefined ? undefined : join(root, ...rest);
  }

  async function locate(relative: string): Promise<string | undefined> {
    const target = await resolve(relative);
    return target !== undefined && await hasNoLink(target) ? target : undefined;
  }

  async function openFile(relative: string): Promise<FileHandle | undefined> {
    for (let i = 0; i < MAX_TRIES; i++) {
      const target = await locate(relative);
      if (target === undefined || !(await orUndefined(fs.promises.lstat(target)))?.isFile()) return undefined;
      const file = await orUndefined(fs.promises.open(target, FLAGS));
      if (!file) continue;
      try {
        if ((await file.stat()).isFile() && await isAt(file, target, () => locate(relative))) return file;
      } catch (error) {
        await file.close();
        throw error;
      }
      await file.close();
    }
    return undefined;
  }

  return {
    path,
    followLinks,
    optional,
    async list(relative) {
      const folder = await resolve(relative);
      const names = folder === undefined ? undefined : await orUndefined(listNames(folder));
      if (folder === undefined || !names) {
        const isFile = folder !== undefined && relative === "" &&
          (await orUndefined(fs.promises.stat(folder)))?.isDirectory() === false;
        if (isFile) throw new FolderError("It is not a folder");
        return undefined;
      }
      const entries = await Promise.all(names.map((name) => describe(folder, name, relative === "")));
      // Checked afterwards: a folder of the path may have been replaced by a link meanwhile.
      if (!await hasNoLink(folder)) return undefined;
      return entries.filter((entry) => entry !== undefined);
    },
    async read(relative, limit) {
      // The top folder contains skills, not files of skills.
      if (!relative.includes("/")) return undefined;
      const file = await openFile(relative);
      if (!file) return undefined;
      try {
        return await orUndefined(readAll(file, limit));
      } finally {
        await file.close();
      }
    },
  };
}

/**
 * Whether an open file is the one at a path without links. A check of the path can race with a swap of folder and link;
 * the path that the system reports for the open file cannot.
 */
async function isAt(
  file: FileHandle,
  target: string,
  locate: () => Promise<string | undefined>,
): Promise<boolean> {
  // On Linux.
  const path = await fs.promises.readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  if (path !== undefined) return path === target;
  const opened = await file.stat();
  for (let i = 0; i < PATH_CHECKS; i++) {
    const there = await locate() === target ? await orUndefined(fs.promises.lstat(target)) : undefined;
    if (there?.ino !== opened.ino || there.dev !== opened.dev) return false;
  }
  return await locate() === target;
}

async function hasNoLink(path: string): Promise<boolean> {
  return await orUndefined(fs.promises.realpath(path)) === path;
}

function isName(segment: string): boolean {
  return segment !== "" && segment !== "." && segment !== ".." && !segment.includes(sep) &&
    !segment.includes("\u0000");
}

/** The result of an operation; `undefined` for a missing file. @throws {FolderError} when it cannot be read */
async function orUndefined<Value>(operation: Promise<Value>): Promise<Value | undefined> {
  try {
    return await operation;
  } catch (cause) {
    const code = codeOf(cause);
    if (code !== undefined && NOT_FOUND_ERRORS.has(code)) return undefined;
    if (code === undefined || TRANSIENT_ERRORS.has(code)) throw cause;
    throw new FolderError(`It cannot be read (${code})`, { cause });
  }
}

/** The names in a folder, sorted. */
async function listNames(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await fs.promises.opendir(folder, { bufferSize: 256 })) {
    if (names.push(name) > MAX_ENTRIES) {
      throw new FolderError(`It has more than ${MAX_ENTRIES} entries`);
    }
  }
  return names.sort();
}

/** All bytes, also of a file that reports a wrong size, or grows. @throws {RangeError} above the limit */
async function readAll(file: FileHandle, limit: number): Promise<Uint8Array> {
  const { size } = await file.stat();
  let bytes = new Uint8Array(Math.min(size, limit) + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    length += bytesRead;
    if (length > limit) throw new RangeError(`It has more than ${limit} bytes`);
    if (bytesRead === 0) return bytes.slice(0, length);
    if (length < bytes.length) continue;
    const larger = new Uint8Array(Math.min(2 * length, limit) + 1);
    larger.set(bytes);
    bytes = larger;
  }
}

async function describe(folder: string, name: string, isTop: boolean): Promise<FolderEntry | undefined> {
  const target = join(folder, name);
  const stats = await orUndefined(fs.promises.lstat(target));
  if (!stats) return undefined;
  const { size, mtimeMs } = stats;
  const entry = { name, type: typeOf(stats), size, stamp: stampOf(stats), modified: mtimeMs };
  if (!isTop || entry.type !== "folder" && entry.type !== "link") return entry;
  if (entry.type === "folder") return { ...entry, realPath: target };
  const end = await followLink(target);
  if (typeof end === "string") return { ...entry, leadsTo: end };
  const leadsTo = end.isDirectory() ? "folder" : end.isFile() ? "file" : "other";
  const realPath = leadsTo === "folder" ? await orUndefined(fs.promises.realpath(target)) : undefined;
  return { ...entry, modified: end.mtimeMs, leadsTo, ...(realPath !== undefined && { realPath }) };
}

/** The target of a link. */
async function followLink(target: string): Promise<Stats | "nothing" | "itself" | "other"> {
  try {
    return await fs.promises.stat(target);
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || TRANSIENT_ERRORS.has(code)) throw error;
    return code === "ELOOP" ? "itself" : code === "ENOENT" || code === "ENOTDIR" ? "nothing" : "other";
  }
}

function typeOf(stats: Stats): FolderEntry["type"] {
  if (stats.isSymbolicLink()) return "link";
  return stats.isDirectory() ? "folder" : stats.isFile() ? "file" : "other";
}

let looks = 0;

function stampOf({ mtimeMs, ctimeMs, size, ino }: Stats): string {
  const stamp = `${mtimeMs}:${ctimeMs}:${size}:${ino}`;
  const now = Date.now();
  const isRecent = [mtimeMs, ctimeMs].some((time) => Math.abs(now - time) < RECENT_MS);
  return isRecent ? `${stamp}:${++looks}` : stamp;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as { code?: string }).code : undefined;
}
