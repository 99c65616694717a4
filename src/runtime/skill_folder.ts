/**
 * A local folder of skills on a file system: for Node, Deno and Bun. Nothing outside the folder is read, also when folders
 * become links meanwhile; with `followLinks` a skill's own folder may be a link, which is resolved once, and then
 * nothing outside of where it leads is.
 *
 * @module
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, opendir, readlink, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { type FolderEntry, FolderError, type SkillFolder } from "../skills/local/folder.ts";

export interface SkillFolderOptions {
  /** Whether a skill's folder may be a link to a folder, wherever that lies. @default false */
  readonly followLinks?: boolean;
  /** Whether it is no mistake when the folder is not there. @default false */
  readonly optional?: boolean;
}

/** Of a folder with more nothing is listed: which of them came first would be chance. */
const MOST_ENTRIES = 10_000;
/** How often a file is opened that is replaced meanwhile. */
const TRIES = 3;
/** How often it is looked whether a folder on the way is a link, where the system does not say what was opened. */
const LOOKS = 3;
/** A file that changed so few milliseconds ago may change again and keep its times: clocks of disks are coarse. */
const YOUNG = 2000;
// A link is not followed by `open`, and a named pipe does not keep it waiting for a writer.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** The process, not the file, has come to its end: the next look may do better. */
const PASSING = new Set(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"]);
const NOT_THERE = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** Opens a folder, which may come into being later. */
export function skillFolder(
  path: string,
  { followLinks = false, optional = false }: SkillFolderOptions = {},
): SkillFolder {
  /** Where a path leads when no link but an allowed one is on the way, which is still to be seen. */
  async function resolve(relative: string): Promise<string | undefined> {
    const segments = relative === "" ? [] : relative.split("/");
    if (!segments.every(isName)) return undefined;
    const [first, ...rest] = segments;
    const base = await orNothing(realpath(path));
    if (base === undefined || first === undefined) return base;
    const top = join(base, first);
    const root = followLinks ? await orNothing(realpath(top)) : top;
    return root === undefined ? undefined : join(root, ...rest);
  }

  async function locate(relative: string): Promise<string | undefined> {
    const target = await resolve(relative);
    return target !== undefined && await hasNoLink(target) ? target : undefined;
  }

  async function openFile(relative: string): Promise<FileHandle | undefined> {
    for (let i = 0; i < TRIES; i++) {
      const target = await locate(relative);
      if (target === undefined || !(await orNothing(lstat(target)))?.isFile()) return undefined;
      const file = await orNothing(open(target, FLAGS));
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
      const names = folder === undefined ? undefined : await orNothing(namesIn(folder));
      if (folder === undefined || !names) return undefined;
      const entries = await Promise.all(names.map((name) => describe(folder, name, relative === "")));
      // Afterwards, since a folder on the way may have become a link meanwhile.
      if (!await hasNoLink(folder)) return undefined;
      return entries.filter((entry) => entry !== undefined);
    },
    async read(relative, limit) {
      // Right below the top there are skills, and no files of theirs.
      if (!relative.includes("/")) return undefined;
      const file = await openFile(relative);
      if (!file) return undefined;
      try {
        return await orNothing(readAll(file, limit));
      } finally {
        await file.close();
      }
    },
  };
}

/**
 * Whether an opened file is the one at a path, and no link was on the way. Looks at the path may each be met by another
 * swap of folder and link; the system's own word for what was opened may not.
 */
async function isAt(
  file: FileHandle,
  target: string,
  locate: () => Promise<string | undefined>,
): Promise<boolean> {
  // On Linux.
  const path = await readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  if (path !== undefined) return path === target;
  const opened = await file.stat();
  for (let i = 0; i < LOOKS; i++) {
    const there = await locate() === target ? await orNothing(lstat(target)) : undefined;
    if (there?.ino !== opened.ino || there.dev !== opened.dev) return false;
  }
  return await locate() === target;
}

async function hasNoLink(path: string): Promise<boolean> {
  return await orNothing(realpath(path)) === path;
}

function isName(segment: string): boolean {
  return segment !== "" && segment !== "." && segment !== ".." && !segment.includes(sep) &&
    !segment.includes("\u0000");
}

/** What an operation gives; nothing, when there is nothing. @throws {FolderError} when it may not be looked at */
async function orNothing<Value>(operation: Promise<Value>): Promise<Value | undefined> {
  try {
    return await operation;
  } catch (cause) {
    const code = codeOf(cause);
    if (code !== undefined && NOT_THERE.has(code)) return undefined;
    if (code === undefined || PASSING.has(code)) throw cause;
    throw new FolderError(`It cannot be read (${code})`, { cause });
  }
}

/** In order. */
async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder, { bufferSize: 256 })) {
    if (names.push(name) > MOST_ENTRIES) {
      throw new FolderError(`It has more than ${MOST_ENTRIES} entries`);
    }
  }
  return names.sort();
}

/** All bytes, also of a file that says a wrong size, or grows. @throws {RangeError} past the limit */
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
  const stats = await orNothing(lstat(target));
  if (!stats) return undefined;
  const { size, mtimeMs } = stats;
  const entry = { name, type: typeOf(stats), size, stamp: stampOf(stats), modified: mtimeMs };
  if (!isTop || entry.type !== "folder" && entry.type !== "link") return entry;
  if (entry.type === "folder") return { ...entry, realPath: target };
  const end = await followLink(target);
  if (typeof end === "string") return { ...entry, leadsTo: end };
  const leadsTo = end.isDirectory() ? "folder" : end.isFile() ? "file" : "other";
  const realPath = leadsTo === "folder" ? await orNothing(realpath(target)) : undefined;
  return { ...entry, modified: end.mtimeMs, leadsTo, ...(realPath !== undefined && { realPath }) };
}

/** What is at the end of a link. */
async function followLink(target: string): Promise<Stats | "nothing" | "itself" | "other"> {
  try {
    return await stat(target);
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || PASSING.has(code)) throw error;
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
  const isYoung = [mtimeMs, ctimeMs].some((time) => Math.abs(now - time) < YOUNG);
  return isYoung ? `${stamp}:${++looks}` : stamp;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as { code?: string }).code : undefined;
}
