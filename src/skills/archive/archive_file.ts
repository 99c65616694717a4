/**
 * The files of a skill as an archive and the discovery of skills take them: opened one after the other, wherever they
 * lie, with as much of what is known of them as there is.
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
  /** `sha256:` and 64 hexadecimal digits; absent where it is not known without reading. */
  readonly digest: string | undefined;
  /** CRC-32; absent as above. */
  readonly crc: number | undefined;
  /** The content; `undefined` when it is gone. */
  open(): Promise<ReadableStream<Uint8Array> | Uint8Array | undefined>;
}

/** One whose digest and checksum are known. */
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
 * The same files, each with what is wanted of it: one that lacks it is read, one after the other.
 * @throws {ContentChangedError} when a content is gone
 */
export async function complete<Wanted extends "digest" | "crc">(
  files: readonly ArchiveFile[],
  ...wanted: Wanted[]
): Promise<(ArchiveFile & Pick<KnownFile, Wanted>)[]> {
  const completed: ArchiveFile[] = [];
  for (const file of files) {
    completed.push(wanted.every((name) => file[name] !== undefined) ? file : await measure(file));
  }
  return completed as (ArchiveFile & Pick<KnownFile, Wanted>)[];
}

/** Uploaded files lack nothing, and a local one is read whole. */
async function measure(file: ArchiveFile): Promise<KnownFile> {
  const content = await file.open();
  if (!content) throw new ContentChangedError(`"${file.path}" is gone`);
  const bytes = content instanceof Uint8Array ? content : await readAll(content, file.size);
  return { ...file, size: bytes.length, digest: await digestOf(bytes), crc: crc32(bytes) };
}
