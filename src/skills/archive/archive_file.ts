/**
 * The files of a skill for archives and discovery: the same interface for uploaded and local files, opened one at a time.
 *
 * @module
 */
import type { Ledger } from "../blobs/blob_ledger.ts";
import { readAll } from "../blobs/blob_store.ts";
import { crc32 } from "./crc32.ts";
import type { LocalSkill } from "../local/directory.ts";
import { readLocalFile } from "../local/local_files.ts";
import { digestOf } from "../content_digest.ts";
import type { SkillFile } from "../records.ts";
import { ContentChangedError } from "./zip_writer.ts";

export interface ArchiveFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly type: string | undefined;
  /** `sha256:` and 64 hexadecimal digits; absent when it is unknown until the file is read. */
  readonly digest: string | undefined;
  /** CRC-32; absent when it is unknown until the file is read. */
  readonly crc: number | undefined;
  /** The content; `undefined` when it is gone. */
  open(): Promise<ReadableStream<Uint8Array> | Uint8Array | undefined>;
}

/** A file with known digest and checksum. */
export type KnownFile = ArchiveFile & { readonly digest: string; readonly crc: number };

/** The files of an uploaded version. */
export function uploadedFiles(ledger: Ledger, files: readonly SkillFile[]): ArchiveFile[] {
  return files.map((file) => ({ ...file, open: () => ledger.open(file) }));
}

/** The files of a local skill. */
export function localFiles(skill: LocalSkill): ArchiveFile[] {
  return skill.files.map((file) => ({
    ...file,
    crc: undefined,
    open: async () => (await readLocalFile(skill, file.path))?.bytes,
  }));
}

/**
 * The files with the wanted members. A file that lacks one is read, one file at a time, and gets those of its present
 * content.
 * @throws {ContentChangedError} when a content is gone
 */
export async function complete<File extends ArchiveFile, Wanted extends "digest" | "crc">(
  files: readonly File[],
  ...wanted: Wanted[]
): Promise<(File & Pick<KnownFile, Wanted>)[]> {
  const completed: ArchiveFile[] = [];
  for (const file of files) {
    completed.push(wanted.every((name) => file[name] !== undefined) ? file : await measure(file));
  }
  return completed as (File & Pick<KnownFile, Wanted>)[];
}

/** Reads a local file to compute its digest and checksum; uploaded files have both. */
async function measure(file: ArchiveFile): Promise<KnownFile> {
  const content = await file.open();
  if (!content) throw new ContentChangedError(`"${file.path}" is gone`);
  const bytes = content instanceof Uint8Array ? content : await readAll(content, file.size);
  return verified({ ...file, size: bytes.length, digest: await digestOf(bytes), crc: crc32(bytes) });
}

/**
 * The file, but opening it fails when its content is not that of its digest any more. A local file may change at any time;
 * the content of an uploaded one, a stream, never does.
 */
export function verified<File extends ArchiveFile & Pick<KnownFile, "digest">>(file: File): File {
  return {
    ...file,
    async open() {
      const content = await file.open();
      if (content instanceof Uint8Array && await digestOf(content) !== file.digest) {
        throw new ContentChangedError(`"${file.path}" has changed`);
      }
      return content;
    },
  };
}
