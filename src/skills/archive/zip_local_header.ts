/**
 * The local header before the data of a zip entry (PKWARE APPNOTE 6.3.10, 4.3.7), and the data descriptor that may follow
 * it (4.3.9). Streaming readers use these, others the central directory: both must agree.
 *
 * @module
 */
import { refuseArchive, refuseZip64, REPACK } from "./archive_refusal.ts";

/** An entry of the central directory. */
export interface ZipHeader {
  readonly path: string;
  readonly isFolder: boolean;
  /** 0 stored, 8 deflated. */
  readonly method: number;
  readonly flags: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
  /** Offset of its local header. */
  readonly local: number;
  /** The bytes of its name. */
  readonly name: Uint8Array;
  /** The upper half of the external attributes: the mode of Unix. */
  readonly mode: number;
  /** The lower half: the attributes of DOS and Windows. */
  readonly attributes: number;
}

const LOCAL = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
/** Flags that change how an entry is read: encryption, data descriptor, patch, UTF-8. */
const CHECKED_FLAGS = 0x2869;

/**
 * The offsets where the data begins, where the entry ends, and where its extra fields begin.
 * @param directory where the entries end
 * @throws {SkillError}
 */
export function findLocal(
  archive: Uint8Array,
  view: DataView,
  header: ZipHeader,
  directory: number,
): { start: number; end: number; extra: number } {
  const { path: file, local, name, flags, method, crc, packedSize, size } = header;
  if (local + 30 > directory || view.getUint32(local, true) !== LOCAL) {
    throw refuseArchive("archive-directory", "is not where the central directory says", { file });
  }
  const extra = local + 30 + view.getUint16(local + 26, true);
  const start = extra + view.getUint16(local + 28, true);
  const end = start + packedSize;
  if (end > directory) throw refuseArchive("archive-overlap", "extends into the central directory", { file });
  const described = (flags & 8) !== 0;
  const localName = archive.subarray(local + 30, extra);
  const agree = isSameBytes(localName, name) &&
    (view.getUint16(local + 6, true) & CHECKED_FLAGS) === (flags & CHECKED_FLAGS) &&
    view.getUint16(local + 8, true) === method &&
    [crc, packedSize, size].every((value, i) => {
      const said = view.getUint32(local + 14 + 4 * i, true);
      // With a data descriptor these may be zero here.
      return said === value || described && said === 0;
    });
  if (!agree) {
    // Some tools write Zip64 here although the central directory needs none.
    if (view.getUint32(local + 22, true) === 0xffffffff) throw refuseZip64(file);
    throw refuseArchive("archive-headers", "has local and central headers that differ", {
      file,
      hint: REPACK,
    });
  }
  if (!described) return { start, end, extra };
  return { start, end: end + descriptorLength(view, end, directory, header), extra };
}

/** The descriptor may have a signature, and must repeat the header. */
function descriptorLength(view: DataView, at: number, directory: number, header: ZipHeader): number {
  const fields = [header.crc, header.packedSize, header.size];
  const isAt = (start: number) =>
    start + 12 <= directory && fields.every((field, i) => view.getUint32(start + 4 * i, true) === field);
  if (at + 16 <= directory && view.getUint32(at, true) === DESCRIPTOR && isAt(at + 4)) return 16;
  if (isAt(at)) return 12;
  throw refuseArchive("archive-descriptor", "a data descriptor is damaged");
}

/** A loop: a callback for each byte takes ten times as long, and all names together may have megabytes. */
export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) {
    if (a[at] !== b[at]) return false;
  }
  return true;
}
