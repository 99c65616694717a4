/**
 * The source of an upload: a folder, whose files are named from it on, or one archive. It is checked before anything is
 * sent; files are read while they are sent. Of a folder, the files that are not part of the skill are left out.
 *
 * @module
 */
import { constants, lstatSync, readdirSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { refuseSize } from "../../../skills/archive/archive_refusal.ts";
import { findExclusion } from "../../../skills/package/excluded_files.ts";
import type { SentFile } from "../../../skills/package/sent_file.ts";
import { isZip, readZip } from "../../../skills/archive/zip_reader.ts";
import type { FormFile } from "../api/multipart_body.ts";
import { printError } from "../output.ts";
import { printableText } from "../printable_text.ts";
import type { Progress } from "../progress_bar.ts";

export interface SkillSource {
  /** The name of the folder or the archive. */
  readonly name: string;
  readonly isArchive: boolean;
  /** Bytes of all files together. */
  readonly size: number;
  readonly files: readonly FormFile[];
  /** Paths in the folder that are left out; those of folders end with `/`. */
  readonly excluded: readonly string[];
}

/** More than any server accepts: they catch a home folder that is named by mistake. */
const MAX_FILES = 10_000;
export const MAX_SOURCE_BYTES: number = 256 * 1024 * 1024;
/** Names of files that are left out. */
const MAX_PRINTED = 20;
const CHUNK_BYTES = 64 * 1024;
// `open` does not follow a symbolic link, and does not wait for a named pipe.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens a folder or an archive. @throws {Error} when it is neither, or cannot be a skill */
export async function openSource(path: string): Promise<SkillSource> {
  const top = resolve(path);
  // The path that the user names can be a symbolic link.
  const stats = statSync(top, { throwIfNoEntry: false });
  if (!stats) throw new Error(`File not found: "${path}"`);
  return stats.isDirectory() ? openFolder(top) : await openArchive(path, top);
}

function openFolder(top: string): SkillSource {
  const files: FormFile[] = [];
  let size = 0;
  const excluded: string[] = [];
  const folders = [""];
  for (const folder of folders) {
    for (const entry of readdirSync(join(top, folder), { withFileTypes: true })) {
      const path = folder + entry.name;
      const target = join(top, path);
      if (findExclusion(path)) {
        excluded.push(entry.isDirectory() ? path + "/" : path);
        continue;
      }
      if (entry.isSymbolicLink()) {
        throw new Error(`"${target}" is a symbolic link. A skill must contain its files`);
      }
      if (entry.isDirectory()) {
        folders.push(path + "/");
        continue;
      }
      if (!entry.isFile()) throw new Error(`"${target}" is not a regular file`);
      const { size: length } = lstatSync(target);
      files.push({
        name: `${basename(top)}/${path}`,
        size: length,
        open: () => readChunks(target, length, FLAGS),
      });
      size += length;
      if (files.length > MAX_FILES || size > MAX_SOURCE_BYTES) {
        throw new Error(
          `"${top}" is too large: it has more than ${MAX_FILES} files or ${MAX_SOURCE_BYTES} bytes`,
        );
      }
    }
  }
  // The order must not depend on the file system.
  files.sort((a, b) => a.name < b.name ? -1 : 1);
  return { name: basename(top), isArchive: false, size, files, excluded: excluded.sort() };
}

/** Prints which files of a folder are left out, on standard error. */
export function printExcluded({ excluded }: SkillSource): void {
  if (excluded.length === 0) return;
  const more = excluded.length > MAX_PRINTED ? `, and ${excluded.length - MAX_PRINTED} more` : "";
  const names = excluded.slice(0, MAX_PRINTED).map((path) => printableText(path));
  printError(`Left out: ${names.join(", ")}${more}`);
}

async function openArchive(path: string, top: string): Promise<SkillSource> {
  const flags = FLAGS & ~(constants.O_NOFOLLOW ?? 0);
  const file = await open(top, flags);
  try {
    const stats = await file.stat();
    const { size } = stats;
    const head = new Uint8Array(4);
    if (stats.isFile()) await file.read(head, 0, 4, 0);
    if (!isZip(head)) throw new Error(`"${path}" must be a folder or a zip archive`);
    if (size > MAX_SOURCE_BYTES) {
      throw new Error(`"${path}" is too large: it has more than ${MAX_SOURCE_BYTES} bytes`);
    }
    const name = basename(top);
    const files = [{ name, size, open: () => readChunks(top, size, flags) }];
    return { name, isArchive: true, size, files, excluded: [] };
  } finally {
    await file.close();
  }
}

/** The bytes of a file. @throws {Error} when its size has changed */
async function* readChunks(path: string, size: number, flags: number): AsyncGenerator<Uint8Array> {
  const file: FileHandle = await open(path, flags);
  try {
    const changed = () => new Error(`"${path}" changed while it was read. Try again`);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size !== size) throw changed();
    let at = 0;
    while (at < size) {
      const chunk = new Uint8Array(Math.min(CHUNK_BYTES, size - at));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) throw changed();
      yield chunk.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

/**
 * Reads all files of a source into memory; an archive is unpacked.
 * @param maxBytes of all files together
 * @throws {SkillError} past the limit, or for an invalid archive
 */
export async function readSource(
  source: SkillSource,
  maxBytes: number,
  progress: Progress,
): Promise<SentFile[]> {
  if (source.size > maxBytes) throw refuseSize(maxBytes, `but "${source.name}" has ${source.size}`);
  progress.begin(source.size);
  const files: SentFile[] = [];
  for (const { name, size, open } of source.files) {
    const bytes = new Uint8Array(size);
    let at = 0;
    for await (const chunk of open()) {
      bytes.set(chunk, at);
      at += chunk.length;
      progress.advance(chunk.length);
    }
    files.push({ path: name, bytes });
  }
  return source.isArchive ? await readZip(files[0]!.bytes, maxBytes) : files;
}
