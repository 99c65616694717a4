/**
 * The entries of a zip archive (PKWARE APPNOTE 6.3.10), from its central directory. Accepts only archives that every reader
 * understands in the same way: one end record, one disk, no encryption, equal headers, and entries side by side without
 * gaps or overlaps. An ambiguous archive could be checked as one thing and unpacked as another.
 *
 * @module
 */
import { refuseArchive, refuseZip64, REPACK } from "./archive_refusal.ts";
import { WorkSlice } from "../../http/work_slice.ts";
import { findLocal, isSameBytes, type ZipHeader } from "./zip_local_header.ts";

/** An entry and where its data begins. */
export interface ZipEntryPlace extends ZipHeader {
  readonly start: number;
}

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const ZIP64_LOCATOR = 0x07064b50;
const MAX_ENTRIES = 2000;
/** The file type bits of the Unix mode. */
const FILE_TYPE_MASK = 0xf000;
const REGULAR_FILE = 0x8000;
const FOLDER = 0x4000;
/** Windows attributes: a folder; a device or reparse point. */
const DOS_FOLDER = 0x10;
const DOS_SPECIAL = 0x440;
/** Packed bytes of a folder: some writers deflate its empty content. */
const MAX_FOLDER_DATA_BYTES = 16;

/**
 * The entries in the order of the directory.
 * @throws {SkillError} naming what is wrong
 */
export async function readDirectory(archive: Uint8Array): Promise<ZipEntryPlace[]> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const { end, count, offset } = readEnd(view);
  const headers: ZipHeader[] = [];
  const slice = new WorkSlice();
  let at = offset;
  for (let i = 0; i < count; i++) {
    if (slice.isOver) await slice.yield();
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL) throw damagedDirectory();
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    const next = at + 46 + nameLength + extraLength + view.getUint16(at + 32, true);
    if (next > end) throw damagedDirectory();
    headers.push(readHeader(archive, view, at, nameLength, extraLength));
    at = next;
  }
  if (at !== end) throw damagedDirectory();
  return await place(archive, view, headers, offset, slice);
}

/** The one end record, at the very end of the archive, and the central directory that it points to. */
function readEnd(view: DataView): { end: number; count: number; offset: number } {
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  const size = view.getUint32(end + 12, true);
  const offset = view.getUint32(end + 16, true);
  if (
    count === 0xffff || size === 0xffffffff || offset === 0xffffffff ||
    end >= 20 && view.getUint32(end - 20, true) === ZIP64_LOCATOR
  ) {
    throw refuseZip64();
  }
  if (
    view.getUint16(end + 4, true) !== 0 || view.getUint16(end + 6, true) !== 0 ||
    view.getUint16(end + 8, true) !== count
  ) {
    throw refuseDisks();
  }
  if (count > MAX_ENTRIES) {
    throw refuseArchive("archive-entries", `it has more than ${MAX_ENTRIES} entries`);
  }
  if (offset + size !== end) {
    throw refuseArchive("archive-gap", "it has unexpected data around its central directory", {
      hint: REPACK,
    });
  }
  return { end, count, offset };
}

function findEnd(view: DataView): number {
  const last = view.byteLength - 22;
  for (let at = last; at >= 0 && at >= last - 0xffff; at--) {
    if (view.getUint32(at, true) !== END) continue;
    if (at + 22 + view.getUint16(at + 20, true) !== view.byteLength) {
      throw refuseArchive("archive-trailing", "it has unexpected data after its end record", {
        hint: REPACK,
      });
    }
    for (let earlier = at - 1; earlier >= 0 && earlier >= last - 0xffff; earlier--) {
      if (view.getUint32(earlier, true) === END && earlier + 22 + view.getUint16(earlier + 20, true) >= at) {
        throw refuseArchive("archive-two-ends", "it has two end records", { hint: REPACK });
      }
    }
    return at;
  }
  throw refuseArchive("archive-end", "its end record is missing: it is cut off or damaged", {
    hint: "send the whole archive",
  });
}

/** Reads an entry of the central directory, and checks what can be checked without its local header. */
function readHeader(
  archive: Uint8Array,
  view: DataView,
  at: number,
  nameLength: number,
  extraLength: number,
): ZipHeader {
  const name = archive.subarray(at + 46, at + 46 + nameLength);
  const path = readName(name);
  const header: ZipHeader = {
    path,
    isFolder: path.endsWith("/") || path.endsWith("\\"),
    flags: view.getUint16(at + 8, true),
    method: view.getUint16(at + 10, true),
    crc: view.getUint32(at + 16, true),
    packedSize: view.getUint32(at + 20, true),
    size: view.getUint32(at + 24, true),
    attributes: view.getUint16(at + 38, true),
    mode: view.getUint16(at + 40, true),
    local: view.getUint32(at + 42, true),
    name,
  };
  const { flags, method, packedSize, size, isFolder, attributes } = header;
  // Encryption, strong encryption, masked headers.
  if (flags & 0x2041) throw refuse(header, "encrypted", "is encrypted", "pack the folder without a password");
  // 5 is a patch of another file (APPNOTE 4.4.4).
  if (method !== 0 && method !== 8 || flags & 0x20) {
    throw refuse(header, "method", "must be stored or deflated", "use the default compression method");
  }
  if (packedSize === 0xffffffff || size === 0xffffffff || header.local === 0xffffffff) {
    throw refuseZip64(path);
  }
  // Some readers apply the Unix mode whatever system the archive names.
  const kind = header.mode & FILE_TYPE_MASK;
  if (kind !== 0 && kind !== REGULAR_FILE && kind !== FOLDER || attributes & DOS_SPECIAL) {
    throw refuse(
      header,
      "link",
      "must be a regular file: links are not allowed",
      "replace the link with the file",
    );
  }
  if (view.getUint16(at + 34, true) !== 0) {
    throw refuseDisks();
  }
  const saysFolder = kind === FOLDER || (attributes & DOS_FOLDER) !== 0;
  if (isFolder ? size > 0 || packedSize > MAX_FOLDER_DATA_BYTES : saysFolder) {
    throw refuse(header, "folder", "is a folder with content");
  }
  checkExtra(view, at + 46 + nameLength, extraLength, header);
  return header;
}

/** Finds the data of each entry. Together the entries must fill the archive up to the central directory. */
async function place(
  archive: Uint8Array,
  view: DataView,
  headers: readonly ZipHeader[],
  directory: number,
  slice: WorkSlice,
): Promise<ZipEntryPlace[]> {
  const starts = new Map<ZipHeader, number>();
  let expected = 0;
  // The central directory may have another order.
  for (const header of headers.toSorted((a, b) => a.local - b.local)) {
    if (slice.isOver) await slice.yield();
    if (header.local < expected) {
      throw refuse(header, "overlap", "overlaps another entry", REPACK);
    }
    if (header.local > expected) throw refuseGap();
    const { start, end, extra } = findLocal(archive, view, header, directory);
    checkExtra(view, extra, start - extra, header);
    starts.set(header, start);
    expected = end;
  }
  if (expected !== directory) throw refuseGap();
  return headers.map((header) => ({ ...header, start: starts.get(header)! }));
}

/**
 * Refuses an extra field that gives the entry another name (APPNOTE 4.6.9) or other sizes (4.5.3), which some readers
 * would take.
 */
function checkExtra(view: DataView, from: number, length: number, header: ZipHeader): void {
  const to = from + length;
  for (let at = from; at + 4 <= to;) {
    const start = at + 4;
    const end = start + view.getUint16(at + 2, true);
    const id = view.getUint16(at, true);
    if (id === 0x7075 && (end > to || !isSameBytes(bytesOf(view, start + 5, end), header.name))) {
      throw refuse(header, "second-name", "has a second name in an extra field", REPACK);
    }
    // Some tools write the field although the sizes do not need it.
    if (id === 0x0001) {
      for (let value = start; value + 8 <= end && value + 8 <= to; value += 8) {
        const size = view.getUint32(value, true);
        const isSaid = size === 0 || size === header.size || size === header.packedSize;
        if (!isSaid || view.getUint32(value + 4, true) !== 0) {
          throw refuseZip64(header.path);
        }
      }
    }
    at = end;
  }
}

function bytesOf(view: DataView, from: number, to: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + from, Math.max(0, to - from));
}

function readName(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw refuseArchive("archive-name-encoding", "its file names must be UTF-8", {
      hint: "pack it with a tool that writes UTF-8, or use ASCII file names",
      cause,
    });
  }
}

function refuse(
  header: ZipHeader,
  rule: string,
  what: string,
  hint?: string,
): ReturnType<typeof refuseArchive> {
  return refuseArchive(`archive-${rule}`, what, { file: header.path, ...(hint !== undefined && { hint }) });
}

function refuseDisks(): ReturnType<typeof refuseArchive> {
  return refuseArchive("archive-disks", "it is split over several disks", { hint: "send it in one piece" });
}

function refuseGap(): ReturnType<typeof refuseArchive> {
  return refuseArchive("archive-gap", "it has unexpected data before or between its entries", {
    hint: REPACK,
  });
}

function damagedDirectory(): ReturnType<typeof refuseArchive> {
  return refuseArchive("archive-directory", "its central directory is damaged", { hint: REPACK });
}
