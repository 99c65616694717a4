/**
 * Zip archives (PKWARE APPNOTE 6.3.10), read by their central directory, and only those that every reader takes
 * alike: stored or deflated, not encrypted, not split, no gaps and no overlaps. What is ambiguous is refused, since
 * what one tool checks another might not unpack. Limits count what comes out, not what a header declares.
 *
 * @module
 */
import { joinBytes } from "../http/body.ts";
import { crc32 } from "./crc32.ts";
import { SkillError } from "./error.ts";

export interface ZipEntry {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const MOST_ENTRIES = 2000;
/** Flags that change how an entry is read: encryption, data descriptor, UTF-8. */
const MEANT = 0x2849;
/** How much larger a file may come out than it went in, once it is over a mebibyte. */
const RATIO = 200;
const FREE = 1024 * 1024;

/** Whether bytes are an archive, by their first four: content types say little. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b &&
    (bytes[2] === 3 && bytes[3] === 4 || bytes[2] === 5 && bytes[3] === 6);
}

/**
 * The files of an archive; folders are left out.
 * @param limit bytes that may come out, of all files together
 * @throws {SkillError} naming what is wrong; `request_too_large` past the limit
 */
export async function readZip(archive: Uint8Array, limit: number): Promise<ZipEntry[]> {
  const headers = readDirectory(archive);
  const files: ZipEntry[] = [];
  let left = limit;
  for (const header of headers) {
    if (header.isFolder) continue;
    const packed = archive.subarray(header.start, header.start + header.packedSize);
    const bytes = header.method === 0 ? packed : await inflate(packed, left, limit, header.path);
    left -= bytes.length;
    if (left < 0) throw tooLarge(limit);
    if (bytes.length !== header.size) throw refusal(`"${header.path}" is not as long as it says`);
    if (crc32(bytes) !== header.crc) throw refusal(`"${header.path}" is damaged: its checksum differs`);
    files.push({ path: header.path, bytes });
  }
  return files;
}

interface Header {
  readonly path: string;
  readonly isFolder: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
  /** Where its data begins. */
  readonly start: number;
}

function readDirectory(archive: Uint8Array): Header[] {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  const size = view.getUint32(end + 12, true);
  const offset = view.getUint32(end + 16, true);
  if (
    view.getUint16(end + 4, true) !== 0 || view.getUint16(end + 6, true) !== 0 ||
    view.getUint16(end + 8, true) !== count
  ) {
    throw refusal("it is split over several disks");
  }
  if (count === 0xffff || size === 0xffffffff || offset === 0xffffffff) {
    throw refusal("it needs the Zip64 format");
  }
  if (count > MOST_ENTRIES) throw refusal(`it has more than ${MOST_ENTRIES} entries`);
  if (offset + size !== end) {
    throw refusal("something stands before, after or inside it that is no part of it");
  }
  const headers: Header[] = [];
  let expected = 0;
  for (let i = 0, at = offset; i < count; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL) throw refusal("its directory is damaged");
    const length = 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) +
      view.getUint16(at + 32, true);
    if (at + length > end) throw refusal("its directory is damaged");
    const header = readHeader(archive, view, at, offset, expected);
    headers.push(header);
    expected = header.end;
    at += length;
    if (i === count - 1 && at !== end) throw refusal("its directory is damaged");
  }
  if (expected !== offset) throw refusal("something stands between its files that is no part of it");
  return headers;
}

/** One entry: the directory's and its own header must agree, and it must begin where the one before ended. */
function readHeader(
  archive: Uint8Array,
  view: DataView,
  at: number,
  directory: number,
  expected: number,
): Header & { end: number } {
  const flags = view.getUint16(at + 8, true);
  const method = view.getUint16(at + 10, true);
  const crc = view.getUint32(at + 16, true);
  const packedSize = view.getUint32(at + 20, true);
  const size = view.getUint32(at + 24, true);
  const nameLength = view.getUint16(at + 28, true);
  const local = view.getUint32(at + 42, true);
  const name = archive.subarray(at + 46, at + 46 + nameLength);
  const path = readName(name);
  if (flags & 0x2041) throw refusal(`"${path}" is encrypted`);
  if (method !== 0 && method !== 8) throw refusal(`"${path}" must be stored or deflated`);
  // The upper half of the external attributes is the mode of Unix; some readers mind no other host's either.
  const mode = view.getUint16(at + 40, true) & 0xf000;
  if (mode !== 0 && mode !== 0x8000 && mode !== 0x4000) {
    throw refusal(`"${path}" must be a plain file: links are refused`);
  }
  if (local !== expected || local + 30 > directory) {
    throw refusal("its files overlap or have something between them");
  }
  if (view.getUint32(local, true) !== LOCAL) throw refusal(`"${path}" is not where the directory says`);
  const localNameLength = view.getUint16(local + 26, true);
  const start = local + 30 + localNameLength + view.getUint16(local + 28, true);
  let end = start + packedSize;
  if (end > directory) throw refusal(`"${path}" reaches beyond its place`);
  const localName = archive.subarray(local + 30, local + 30 + localNameLength);
  const described = (flags & 8) !== 0;
  const agree = localName.length === name.length && localName.every((byte, i) => byte === name[i]) &&
    (view.getUint16(local + 6, true) & MEANT) === (flags & MEANT) &&
    view.getUint16(local + 8, true) === method &&
    (described ||
      view.getUint32(local + 14, true) === crc && view.getUint32(local + 18, true) === packedSize &&
        view.getUint32(local + 22, true) === size);
  if (!agree) throw refusal(`"${path}" has two headers that differ`);
  if (described) end += descriptorLength(view, end, directory, [crc, packedSize, size]);
  const extra = at + 46 + nameLength;
  if (
    hasOtherName(view, extra, extra + view.getUint16(at + 30, true), name) ||
    hasOtherName(view, local + 30 + localNameLength, start, name)
  ) {
    throw refusal(`"${path}" has a second name`);
  }
  const isFolder = path.endsWith("/") || path.endsWith("\\");
  if (isFolder ? size > 0 : mode === 0x4000) throw refusal(`"${path}" is a folder with content`);
  return { path, isFolder, method, crc, packedSize, size, start, end };
}

/** A data descriptor after the data (APPNOTE 4.3.9), with or without its signature; it repeats the header. */
function descriptorLength(view: DataView, at: number, directory: number, fields: readonly number[]): number {
  const signed = at + 16 <= directory && view.getUint32(at, true) === 0x08074b50;
  const start = signed ? at + 4 : at;
  if (start + 12 > directory || !fields.every((field, i) => view.getUint32(start + 4 * i, true) === field)) {
    throw refusal("a data descriptor is damaged");
  }
  return start + 12 - at;
}

/** Whether an extra field gives the entry another name, which some readers would take (APPNOTE 4.6.9). */
function hasOtherName(view: DataView, from: number, to: number, name: Uint8Array): boolean {
  for (let at = from; at + 4 <= to;) {
    const start = at + 4;
    const end = start + view.getUint16(at + 2, true);
    if (view.getUint16(at, true) === 0x7075) {
      // A byte of version and four of checksum stand before the name.
      if (end > to || end - start - 5 !== name.length) return true;
      for (let i = 0; i < name.length; i++) if (view.getUint8(start + 5 + i) !== name[i]) return true;
    }
    at = end;
  }
  return false;
}

/** The one end record, which must be the last thing in the archive. */
function findEnd(view: DataView): number {
  const last = view.byteLength - 22;
  for (let at = last; at >= 0 && at >= last - 0xffff; at--) {
    if (view.getUint32(at, true) !== END) continue;
    if (at + 22 + view.getUint16(at + 20, true) !== view.byteLength) {
      throw refusal("something follows its end record");
    }
    for (let earlier = at - 1; earlier >= 0 && earlier >= last - 0xffff; earlier--) {
      if (view.getUint32(earlier, true) === END && earlier + 22 + view.getUint16(earlier + 20, true) >= at) {
        throw refusal("it has two end records");
      }
    }
    return at;
  }
  throw refusal("it has no end record: the archive is cut off or damaged");
}

function readName(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SkillError("invalid_request_error", "Cannot read the archive: its file names must be UTF-8", {
      cause,
    });
  }
}

async function inflate(packed: Uint8Array, left: number, limit: number, path: string): Promise<Uint8Array> {
  const stream = new Blob([packed as Uint8Array<ArrayBuffer>]).stream().pipeThrough(
    new DecompressionStream("deflate-raw"),
  );
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause) => {
      throw new SkillError("invalid_request_error", `Cannot read the archive: "${path}" is damaged`, {
        cause,
      });
    });
    if (done) break;
    length += value.length;
    const problem = length > left
      ? tooLarge(limit)
      : length > FREE && length > RATIO * packed.length
      ? refusal(`"${path}" unpacks to more than ${RATIO} times its size`)
      : undefined;
    if (problem) {
      await reader.cancel().catch(() => {});
      throw problem;
    }
    chunks.push(value);
  }
  return joinBytes(chunks, length);
}

function refusal(what: string): SkillError {
  return new SkillError("invalid_request_error", `Cannot read the archive: ${what}`);
}

function tooLarge(limit: number): SkillError {
  return new SkillError("request_too_large", `A skill may have at most ${limit} bytes, unpacked`);
}
