/**
 * Builds ZIP archives (PKWARE APPNOTE 6.3.10), valid and hostile ones, from a description (`FORMAT.md`
 * section 5). The same description always gives the same bytes.
 *
 * @module
 */
import { crc32, deflateRawSync } from "node:zlib";
import { type Bytes, fromBase64, join, utf8 } from "./bytes.ts";
import { KitError } from "../outcome.ts";
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";

/** Fields that the local and the central header of an entry share. */
interface Header {
  readonly name: Uint8Array;
  readonly method: number;
  readonly bits: number;
  readonly crc: number;
  readonly size: number;
  readonly compressed: number;
  readonly extra: Uint8Array;
}

interface PlacedEntry {
  readonly header: Header | undefined;
  readonly mode: number;
  readonly madeBy: number;
  readonly comment: Uint8Array;
  readonly offset: number;
}

const DATE = 0x5a21; // 2025-01-01
const DESCRIPTOR = 1 << 3;
const UTF8 = 1 << 11;

/** Builds the content of a described entry. `undefined` if it is empty. */
export type BuildContent = (described: JsonObject) => Promise<{ readonly bytes: Uint8Array } | undefined>;

/** Builds the bytes of a described archive. */
export async function buildArchive(description: JsonObject, buildContent: BuildContent): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const put = (...bytes: Uint8Array[]) => {
    for (const each of bytes) {
      parts.push(each);
      length += each.length;
    }
  };
  put(utf8(String(description["prefix"] ?? "")));
  const placed: PlacedEntry[] = [];
  const offsets: number[] = [];
  for (const entry of description["entries"] as readonly JsonObject[]) {
    const sharedOffset = entry["data_of"] === undefined ? undefined : offsets[Number(entry["data_of"])];
    if (entry["data_of"] !== undefined && sharedOffset === undefined) {
      throw new KitError('Invalid archive: "data_of" must be the position of an earlier entry');
    }
    const content = (await buildContent(entry))?.bytes ?? new Uint8Array();
    const data = entry["method"] === "deflate" ? deflateRawSync(content) : content;
    const header = toHeader(entry, content, data);
    const offset = sharedOffset ?? length;
    offsets.push(offset);
    if (sharedOffset === undefined) {
      const local = entry["local"] === false ? undefined : overrideHeader(header, entry["local"]);
      const hasDescriptor = entry["descriptor"] === true;
      if (local) put(localHeader(hasDescriptor ? { ...local, crc: 0, size: 0, compressed: 0 } : local));
      put(data);
      if (hasDescriptor) {
        put(littleEndian([4, 0x08074b50], [4, header.crc], [4, header.compressed], [4, header.size]));
      }
      put(utf8(String(entry["skip"] ?? "")));
    }
    placed.push({
      header: entry["central"] === false ? undefined : overrideHeader(header, entry["central"]),
      mode: parseInt(String(entry["mode"] ?? (isFolder(header.name) ? "040755" : "100644")), 8),
      madeBy: Number(entry["made_by"] ?? 3),
      comment: utf8(String(entry["comment"] ?? "")),
      offset: Number(entry["offset"] ?? offset),
    });
  }
  const start = length;
  const listed = placed.filter((each) => each.header);
  for (const each of listed) put(centralHeader(each, each.header!));
  const count = Number(description["count"] ?? listed.length);
  put(endRecords(count, length - start, start, length, description));
  put(utf8(String(description["suffix"] ?? "")));
  const whole = join(parts);
  return whole.subarray(0, whole.length - Number(description["cut"] ?? 0));
}

function toHeader(entry: JsonObject, content: Uint8Array, data: Uint8Array): Header {
  const { method = "store", bits = 0, utf8: isUtf8 = true, descriptor } = entry;
  return {
    name: findName(entry) ?? new Uint8Array(),
    method: toMethodNumber(method),
    bits: Number(bits) | (isUtf8 ? UTF8 : 0) | (descriptor === true ? DESCRIPTOR : 0),
    crc: Number(entry["crc"] ?? crc32(content)) >>> 0,
    size: Number(entry["size"] ?? content.length),
    compressed: Number(entry["compressed_size"] ?? data.length),
    extra: fromBase64(String(entry["extra_base64"] ?? "")),
  };
}

function overrideHeader(header: Header, by: unknown): Header {
  if (!isJsonObject(by)) return header;
  return {
    name: findName(by) ?? header.name,
    method: by["method"] === undefined ? header.method : toMethodNumber(by["method"]),
    bits: Number(by["bits"] ?? header.bits),
    crc: Number(by["crc"] ?? header.crc) >>> 0,
    size: Number(by["size"] ?? header.size),
    compressed: Number(by["compressed_size"] ?? header.compressed),
    extra: by["extra_base64"] === undefined ? header.extra : fromBase64(String(by["extra_base64"])),
  };
}

function findName({ path, path_base64 }: JsonObject): Bytes | undefined {
  if (path_base64 !== undefined) return fromBase64(String(path_base64));
  return path === undefined ? undefined : utf8(String(path));
}

function toMethodNumber(method: unknown): number {
  return method === "store" ? 0 : method === "deflate" ? 8 : Number(method);
}

function isFolder(name: Uint8Array): boolean {
  return name.at(-1) === 0x2f;
}

function localHeader({ name, method, bits, crc, size, compressed, extra }: Header): Uint8Array {
  return join([
    littleEndian([4, 0x04034b50], [2, 20], [2, bits], [2, method], [2, 0], [2, DATE], [4, crc], [
      4,
      compressed,
    ], [
      4,
      size,
    ]),
    littleEndian([2, name.length], [2, extra.length]),
    name,
    extra,
  ]);
}

function centralHeader({ mode, madeBy, comment, offset }: PlacedEntry, header: Header): Uint8Array {
  const { name, method, bits, crc, size, compressed, extra } = header;
  const attributes = madeBy === 3
    ? (mode << 16 | (isFolder(name) ? 0x10 : 0)) >>> 0
    : isFolder(name)
    ? 0x10
    : 0;
  return join([
    littleEndian([4, 0x02014b50], [2, madeBy << 8 | 20], [2, 20], [2, bits], [2, method], [2, 0], [2, DATE]),
    littleEndian([4, crc], [4, compressed], [4, size], [2, name.length], [2, extra.length], [
      2,
      comment.length,
    ]),
    littleEndian([2, 0], [2, 0], [4, attributes], [4, offset]),
    name,
    extra,
    comment,
  ]);
}

/** The end of the central directory, with the 64-bit records before it if the description asks for them. */
function endRecords(
  count: number,
  size: number,
  start: number,
  here: number,
  description: JsonObject,
): Uint8Array {
  const comment = utf8(String(description["comment"] ?? ""));
  const end = join([
    littleEndian([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, start], [
      2,
      comment.length,
    ]),
    comment,
  ]);
  if (description["zip64"] !== true) return end;
  return join([
    littleEndian([4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, 0], [4, 0], [8, count], [8, count], [
      8,
      size,
    ], [
      8,
      start,
    ]),
    littleEndian([4, 0x07064b50], [4, 0], [8, here], [4, 1]),
    end,
  ]);
}

/** Little-endian numbers of 2, 4 or 8 bytes. */
function littleEndian(...all: readonly (readonly [size: 2 | 4 | 8, value: number])[]): Uint8Array {
  const bytes = new Uint8Array(all.reduce((sum, [size]) => sum + size, 0));
  let at = 0;
  for (const [size, value] of all) {
    for (let n = 0; n < size; n++) bytes[at++] = Math.floor(value / 2 ** (8 * n)) & 0xff;
  }
  return bytes;
}
