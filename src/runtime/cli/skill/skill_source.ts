/**
 * What is to be uploaded: a folder, whose files are named from it on, or one archive. It is looked over before anything is
 * sent; files are read as they go.
 *
 * @module
 */
import { constants, lstatSync, readdirSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { refuseSize } from "../../../skills/archive/archive_refusal.ts";
import type { SentFile } from "../../../skills/package/sent_file.ts";
import { isZip, readZip } from "../../../skills/archive/zip_reader.ts";
import type { FormFile } from "../api/multipart_body.ts";
import type { Progress } from "../progress_bar.ts";

export interface SkillSource {
  /** Of the folder or the archive. */
  readonly name: string;
  readonly isArchive: boolean;
  /** Bytes of all files. */
  readonly size: number;
  readonly files: readonly FormFile[];
}

/** More than any server takes: whoever names a home folder by mistake is told so. */
const MOST_FILES = 10_000;
export const MOST_BYTES: number = 256 * 1024 * 1024;
const CHUNK = 64 * 1024;
// A link is not followed by `open`, and a named pipe does not keep it waiting.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Looks at a folder or an archive. @throws {Error} saying why it is none, or cannot be a skill */
export async function openSource(path: string): Promise<SkillSource> {
  const top = resolve(path);
  // What is named by hand may be a link.
  const stats = statSync(top, { throwIfNoEntry: false });
  if (!stats) throw new Error(`There is nothing at "${path}"`);
  return stats.isDirectory() ? openFolder(top) : await openArchive(path, top);
}

function openFolder(top: string): SkillSource {
  const files: FormFile[] = [];
  let size = 0;
  for (const entry of readdirSync(top, { recursive: true, withFileTypes: true })) {
    const target = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) throw new Error(`"${target}" is a link: a skill must hold its files itself`);
    if (entry.isDirectory()) continue;
    if (!entry.isFile()) throw new Error(`"${target}" is no plain file`);
    const { size: length } = lstatSync(target);
    const name = [basename(top), ...relative(top, target).split(sep)].join("/");
    files.push({ name, size: length, open: () => readChunks(target, length, FLAGS) });
    size += length;
    if (files.length > MOST_FILES || size > MOST_BYTES) {
      throw new Error(`"${top}" is no skill: it has more than ${MOST_FILES} files or ${MOST_BYTES} bytes`);
    }
  }
  // In one order everywhere, whatever the file system gives.
  files.sort((a, b) => a.name < b.name ? -1 : 1);
  return { name: basename(top), isArchive: false, size, files };
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
    if (size > MOST_BYTES) throw new Error(`"${path}" is no skill: it has more than ${MOST_BYTES} bytes`);
    const name = basename(top);
    return { name, isArchive: true, size, files: [{ name, size, open: () => readChunks(top, size, flags) }] };
  } finally {
    await file.close();
  }
}

/** The bytes of a file, which must still have its size. */
async function* readChunks(path: string, size: number, flags: number): AsyncGenerator<Uint8Array> {
  const file: FileHandle = await open(path, flags);
  try {
    const changed = () => new Error(`"${path}" changed while it was read: try again`);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size !== size) throw changed();
    let at = 0;
    while (at < size) {
      const chunk = new Uint8Array(Math.min(CHUNK, size - at));
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
 * All files of a source in memory, those of an archive unpacked.
 * @param limit bytes of all of them
 * @throws {SkillError} past the limit, or for an archive that cannot be read
 */
export async function readSource(
  source: SkillSource,
  limit: number,
  progress: Progress,
): Promise<SentFile[]> {
  if (source.size > limit) throw refuseSize(limit, `but "${source.name}" has ${source.size}`);
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
  return source.isArchive ? await readZip(files[0]!.bytes, limit) : files;
}
