/**
 * Reads zip archives that `zip_directory.ts` accepts: stored and deflated files, checked against their declared length and
 * checksum.
 *
 * @module
 */
import { formatDigest } from "../../crypto/large_digest.ts";
import { WorkSlice } from "../../http/work_slice.ts";
import { refuseArchive, refuseSize, REPACK } from "./archive_refusal.ts";
import { crc32 } from "./crc32.ts";
import { SkillError } from "../error.ts";
import { inflate } from "./inflate.ts";
import { InflateError } from "./inflate_error.ts";
import { nativeBytes } from "../native_bytes.ts";
import { checkPath } from "../package/path.ts";
import { describe, type Problem } from "../package/problem.ts";
import type { SentFile } from "../package/sent_file.ts";
import { readDirectory, type ZipEntryPlace } from "./zip_directory.ts";

export interface ZipFile extends SentFile {
  /** A view of the archive if none of its files is deflated, else a copy. */
  readonly bytes: Uint8Array;
  /** CRC-32, verified. */
  readonly crc: number;
}

/** Maximum ratio of unpacked to packed size, for files over a mebibyte. */
const MAX_RATIO = 200;
const RATIO_FREE_BYTES = 1024 * 1024;
/** Bytes of one step of the checksum. */
const STEP_BYTES = 1024 * 1024;

/** Whether bytes are an archive, by their first four bytes. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b &&
    (bytes[2] === 3 && bytes[3] === 4 || bytes[2] === 5 && bytes[3] === 6);
}

/**
 * The files of an archive, without folders. A nested archive is a file like any other.
 * @param limit unpacked bytes of all files together
 * @param reserve waits until so many bytes of memory are available beside the archive
 * @throws {SkillError} naming what is wrong; `request_too_large` past the limit
 */
export async function readZip(
  archive: Uint8Array,
  limit: number,
  reserve?: (bytes: number) => Promise<void>,
): Promise<ZipFile[]> {
  const slice = new WorkSlice();
  const all = await readDirectory(archive);
  await checkFolders(all, slice);
  const entries = all.filter(({ isFolder }) => !isFolder);
  let size = 0;
  for (const entry of entries) {
    size += entry.size;
    if (size > limit) throw refuseSize(limit, "unpacked");
    if (entry.method === 0 && entry.size !== entry.packedSize) throw refuseLength(entry);
    if (entry.size > RATIO_FREE_BYTES && entry.size > MAX_RATIO * entry.packedSize) {
      throw refuseArchive("archive-ratio", `unpacks to more than ${MAX_RATIO} times its size`, {
        file: entry.path,
      });
    }
  }
  const unpacks = entries.some(({ method }) => method !== 0);
  if (unpacks) await reserve?.(size);
  const files: ZipFile[] = [];
  for (const entry of entries) {
    if (slice.isOver) await slice.yield();
    const file = await unpack(archive, entry, unpacks, slice);
    if (file.crc !== entry.crc) {
      throw refuseArchive("archive-damaged", "is damaged: its checksum differs", { file: entry.path });
    }
    files.push(file);
  }
  return files;
}

/** Folders are dropped, but a bad folder path shows that the archive is hostile. */
async function checkFolders(entries: readonly ZipEntryPlace[], slice: WorkSlice): Promise<void> {
  const problems: Problem[] = [];
  for (const { path, isFolder } of entries) {
    if (slice.isOver) await slice.yield();
    const checked = isFolder ? checkPath(path.replace(/[\\/]$/, "")) : undefined;
    if (checked && "problem" in checked) problems.push(checked.problem);
  }
  if (problems.length > 0) throw new SkillError("invalid_request_error", describe(problems), { problems });
}

/** @param apart whether a stored file is copied too, so that the archive can be freed */
async function unpack(
  archive: Uint8Array,
  entry: ZipEntryPlace,
  apart: boolean,
  slice: WorkSlice,
): Promise<ZipFile> {
  const { path } = entry;
  const packed = archive.subarray(entry.start, entry.start + entry.packedSize);
  if (entry.method === 0) {
    const bytes = apart ? packed.slice() : packed;
    return { path, bytes, crc: await checksum(bytes, slice) };
  }
  try {
    const native = nativeBytes();
    // Only portable code counts costly blocks, each of which takes it 21 microseconds. zlib takes 0.8, so that without the
    // count an upload of such blocks takes no longer; data larger than its content, which no packer writes, is refused.
    if (native && packed.length <= entry.size) {
      const { digest, ...unpacked } = await native.inflate(packed, entry.size, slice);
      return { path, ...unpacked, digest: formatDigest(digest) };
    }
    const bytes = new Uint8Array(entry.size);
    await inflate(packed, bytes, slice);
    return { path, bytes, crc: await checksum(bytes, slice) };
  } catch (cause) {
    if (!(cause instanceof InflateError)) throw cause;
    if (cause.fault === "costly") {
      throw refuseArchive("archive-blocks", "is deflated in too many small blocks", {
        file: path,
        hint: REPACK,
        cause,
      });
    }
    if (cause.fault !== "damaged") throw refuseLength(entry);
    throw refuseArchive("archive-damaged", "is damaged", { file: path, cause });
  }
}

async function checksum(bytes: Uint8Array, slice: WorkSlice): Promise<number> {
  let crc = 0;
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    crc = crc32(bytes.subarray(at, at + STEP_BYTES), crc);
    if (slice.isOver) await slice.yield();
  }
  return crc;
}

function refuseLength({ path }: ZipEntryPlace): ReturnType<typeof refuseArchive> {
  return refuseArchive("archive-size", "does not have its declared size", { file: path });
}
