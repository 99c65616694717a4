/**
 * The files of a local skill: the list, one file, and all digests. A file is read for its digest only when its stamp
 * changed.
 *
 * @module
 */
import { type FolderEntry, FolderError, type SkillFolder } from "./folder.ts";
import { findExclusion } from "../package/excluded_files.ts";
import { mediaTypeByName, mediaTypeOf } from "../package/media_type_of.ts";
import { collisionKey } from "../package/path.ts";
import type { Problem } from "../package/problem.ts";
import { digestOf } from "../content_digest.ts";

/** A file of a manifest. */
export interface ManifestFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Absent when the type depends on content that was not read. */
  readonly type: string | undefined;
  /** `sha256:` and 64 hexadecimal digits; absent for all files of a skill that is too large. */
  readonly digest: string | undefined;
}

/** A file as one scan found it. */
export interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly stamp: string;
  readonly modified: number;
}

/** The result of one scan of a skill's folder. */
export interface FoundFiles {
  /** In path order. */
  readonly files: readonly FoundFile[];
  /** Which files are ignored, and why. */
  readonly problems: readonly Problem[];
  /** When a file or folder last changed, in milliseconds since the epoch. */
  readonly modified: number;
}

/** The digests of files, each with the stamp that its file had. */
export type Digested = ReadonlyMap<string, { readonly stamp: string; readonly file: ManifestFile }>;

/** A larger skill gets no digests: clients need not accept it (SEP-2640, limits). */
const MAX_DIGESTED_FILES = 512;
/** Bytes of all files of a skill. */
const MAX_DIGESTED_BYTES = 16 * 1024 * 1024;
/** A file up to this size is read without waiting for others. */
const SMALL_FILE_BYTES = 64 * 1024;
const MAX_FILES = 2000;
const MAX_DEPTH = 8;
/** Bytes. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MOVE_CREDENTIALS = "keep it outside the folder of the skill";

/** Whether every client accepts a skill with these files. */
export function isWithinClientLimits(files: readonly { readonly size: number }[]): boolean {
  return files.length <= MAX_DIGESTED_FILES &&
    files.reduce((sum, { size }) => sum + size, 0) <= MAX_DIGESTED_BYTES;
}

/**
 * The regular files below a skill's folder. Links, files that usually contain credentials and files beyond the limits are
 * ignored and reported; the other excluded files are only ignored.
 * @param top the entries of the folder itself
 */
export async function findFiles(
  folder: SkillFolder,
  directory: string,
  top: readonly FolderEntry[],
): Promise<FoundFiles> {
  const files: FoundFile[] = [];
  const problems: Problem[] = [];
  const spellings = new Map<string, string>();
  let entries = 0;
  let modified = 0;
  const report = (file: string, rule: string, message: string, hint?: string): void =>
    void problems.push({ file, line: undefined, rule, message, ...(hint !== undefined && { hint }) });

  async function walk(relative: string, depth: number): Promise<void> {
    const list = () => folder.list(`${directory}/${relative}`);
    for (const entry of relative === "" ? top : await listOrReport(relative, list, report) ?? []) {
      const { name, type, size, stamp } = entry;
      const path = relative === "" ? name : `${relative}/${name}`;
      const exclusion = findExclusion(path);
      if (exclusion === "credentials") {
        report(path, "credential-file", "usually contains credentials and is ignored", MOVE_CREDENTIALS);
      }
      // A lone surrogate cannot be part of a URI.
      if (exclusion || !name.isWellFormed()) continue;
      if (++entries > MAX_FILES) {
        if (entries === MAX_FILES + 1) report("", "too-many-files", `has more than ${MAX_FILES} files`);
        return;
      }
      const spelling = collisionKey(path);
      const other = spellings.get(spelling);
      spellings.set(spelling, path);
      if (other !== undefined) {
        const message = `differs from ${JSON.stringify(other)} only in case or accents`;
        report(
          path,
          "path-collision",
          message,
          "rename one: some file systems treat them as the same file",
        );
      }
      modified = Math.max(modified, entry.modified);
      if (type === "link") {
        report(path, "link", "is a link and is ignored", "replace the link with the file");
      } else if (type === "other") {
        report(path, "special-file", "is not a regular file and is ignored");
      } else if (type === "folder") {
        if (depth < MAX_DEPTH) await walk(path, depth + 1);
        else report(path, "path-depth", `is more than ${MAX_DEPTH} folders deep and is ignored`);
      } else if (size > MAX_FILE_BYTES) {
        report(path, "file-size", `has more than ${MAX_FILE_BYTES} bytes and is ignored`);
      } else files.push({ path, size, stamp, modified: entry.modified });
    }
  }

  await walk("", 1);
  return { files: files.sort((a, b) => a.path < b.path ? -1 : 1), problems, modified };
}

async function listOrReport(
  path: string,
  list: () => ReturnType<SkillFolder["list"]>,
  report: (file: string, rule: string, message: string) => void,
): ReturnType<SkillFolder["list"]> {
  try {
    return await list();
  } catch (error) {
    if (!(error instanceof FolderError)) throw error;
    report(path, "unreadable", error.message);
  }
}

/** Creates the function that digests files. A file that cannot be read is omitted and reported. */
export function createDigester(): (
  folder: SkillFolder,
  directory: string,
  files: readonly FoundFile[],
  known: Digested,
) => Promise<{ readonly digested: Digested; readonly problems: readonly Problem[] }> {
  // One large file at a time is in memory, however many skills are scanned.
  let turn: Promise<unknown> = Promise.resolve();
  return async (folder, directory, files, known) => {
    const digested = new Map<string, { readonly stamp: string; readonly file: ManifestFile }>();
    const problems: Problem[] = [];
    const isLarge = !isWithinClientLimits(files);
    for (const { path, size, stamp } of files) {
      const before = known.get(path);
      if (before?.stamp === stamp && (before.file.digest === undefined) === isLarge) {
        digested.set(path, before);
      } else if (isLarge) {
        digested.set(path, { stamp, file: { path, size, type: mediaTypeByName(path), digest: undefined } });
      } else {
        const reading = (size > SMALL_FILE_BYTES ? turn : Promise.resolve()).then(() =>
          digestFile(folder, directory, path)
        );
        if (size > SMALL_FILE_BYTES) turn = reading.catch(() => {});
        const file = await reading;
        if (!("rule" in file)) digested.set(path, { stamp, file });
        else problems.push(file);
      }
    }
    return { digested, problems };
  };
}

async function digestFile(
  folder: SkillFolder,
  directory: string,
  path: string,
): Promise<ManifestFile | Problem> {
  const problem = { file: path, line: undefined, rule: "unreadable" };
  try {
    const bytes = await folder.read(`${directory}/${path}`, MAX_FILE_BYTES);
    if (!bytes) return { ...problem, message: "The file was removed while it was read" };
    return { path, size: bytes.length, type: mediaTypeOf(path, bytes), digest: await digestOf(bytes) };
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof FolderError)) throw error;
    return { ...problem, message: error.message };
  }
}

/**
 * A file of a skill by its path in the list: paths outside the list are never read. `undefined` when the list has no such
 * path, or when the file was removed, became unreadable or grew too large since the scan.
 */
export async function readLocalFile(
  { folder, directory, files }: LocalPlace,
  path: string,
): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | undefined> {
  if (!files.some((file) => file.path === path)) return undefined;
  const bytes = await folder.read(`${directory}/${path}`, MAX_FILE_BYTES).catch((error) => {
    if (error instanceof RangeError || error instanceof FolderError) return undefined;
    throw error;
  });
  return bytes && { bytes, mediaType: mediaTypeOf(path, bytes) };
}

interface LocalPlace {
  readonly folder: SkillFolder;
  readonly directory: string;
  readonly files: readonly ManifestFile[];
}
