/**
 * ZIP archives (PKWARE APPNOTE 6.3.10), right ones and hostile ones, from a description: `FORMAT.md` section 5. What the
 * description does not say is well-formed and always the same, bytes included.
 *
 * @module
 */
import { crc32, deflateRawSync } from "node:zlib";
import { type Bytes, fromBase64, join, utf8 } from "./bytes.ts";
import { KitError } from "../outcome.ts";
import { isMembers, type Members } from "../vector/vector_file.ts";

/** What the local and the central header say of an entry. */
interface Header {
  readonly name: Uint8Array;
  readonly method: number;
  readonly bits: number;
  readonly crc: number;
  readonly size: number;
  readonly compressed: number;
  readonly extra: Uint8Array;
}

interface Placed {
  readonly header: Header | undefined;
  readonly mode: number;
  readonly madeBy: number;
  readonly comment: Uint8Array;
  readonly offset: number;
}

const DATE = 0x5a21; // 2025-01-01
const DESCRIPTOR = 1 << 3;
const UTF8 = 1 << 11;

/** What an entry of a description holds; `undefined` when it is empty. */
export type BuildContent = (described: Members) => Promise<{ readonly bytes: Uint8Array } | undefined>;

/** The bytes of a described archive. @param buildContent reads what an entry holds */
export async function buildArchive(description: Members, buildContent: BuildContent): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const put = (...bytes: Uint8Array[]) => {
    for (const each of bytes) {
      parts.push(each);
      length += each.length;
    }
  };
  put(utf8(String(description["prefix"] ?? "")));
  const placed: Placed[] = [];
  const offsets: number[] = [];
  for (const entry of description["entries"] as readonly Members[]) {
    const whole = entry["data_of"] === undefined ? undefined : offsets[Number(entry["data_of"])];
    if (entry["data_of"] !== undefined && whole === undefined) {
      throw new KitError('Cannot build the archive: "data_of" must be the position of an earlier entry');
    }
    const content = (await buildContent(entry))?.bytes ?? new Uint8Array();
    const data = entry["method"] === "deflate" ? deflateRawSync(content) : content;
    const header = headerOf(entry, content, data);
    const offset = whole ?? length;
    offsets.push(offset);
    if (whole === undefined) {
      const local = entry["local"] === false ? undefined : overridden(header, entry["local"]);
      const late = entry["descriptor"] === true;
      if (local) put(localHeader(late ? { ...local, crc: 0, size: 0, compressed: 0 } : local));
      put(data);
      if (late) put(numbers([4, 0x08074b50], [4, header.crc], [4, header.compressed], [4, header.size]));
      put(utf8(String(entry["skip"] ?? "")));
    }
    placed.push({
      header: entry["central"] === false ? undefined : overridden(header, entry["central"]),
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
  put(endOf(count, length - start, start, length, description));
  put(utf8(String(description["suffix"] ?? "")));
  const whole = join(parts);
  return whole.subarray(0, whole.length - Number(description["cut"] ?? 0));
}

function headerOf(entry: Members, content: Uint8Array, data: Uint8Array): Header {
  const { method = "store", bits = 0, utf8: isUtf8 = true, descriptor } = entry;
  return {
    name: nameOf(entry) ?? new Uint8Array(),
    method: methodOf(method),
    bits: Number(bits) | (isUtf8 ? UTF8 : 0) | (descriptor === true ? DESCRIPTOR : 0),
    crc: Number(entry["crc"] ?? crc32(content)) >>> 0,
    size: Number(entry["size"] ?? content.length),
    compressed: Number(entry["compressed_size"] ?? data.length),
    extra: fromBase64(String(entry["extra_base64"] ?? "")),
  };
}

function overridden(header: Header, by: unknown): Header {
  if (!isMembers(by)) return header;
  return {
    name: nameOf(by) ?? header.name,
    method: by["method"] === undefined ? header.method : methodOf(by["method"]),
    bits: Number(by["bits"] ?? header.bits),
    crc: Number(by["crc"] ?? header.crc) >>> 0,
    size: Number(by["size"] ?? header.size),
    compressed: Number(by["compressed_size"] ?? header.compressed),
    extra: by["extra_base64"] === undefined ? header.extra : fromBase64(String(by["extra_base64"])),
  };
}

function nameOf({ path, path_base64 }: Members): Bytes | undefined {
  if (path_base64 !== undefined) return fromBase64(String(path_base64));
  return path === undefined ? undefined : utf8(String(path));
}

function methodOf(method: unknown): number {
  return method === "store" ? 0 : method === "deflate" ? 8 : Number(method);
}

function isFolder(name: Uint8Array): boolean {
  return name.at(-1) === 0x2f;
}

function localHeader({ name, method, bits, crc, size, compressed, extra }: Header): Uint8Array {
  return join([
    numbers([4, 0x04034b50], [2, 20], [2, bits], [2, method], [2, 0], [2, DATE], [4, crc], [4, compressed], [
      4,
      size,
    ]),
    numbers([2, name.length], [2, extra.length]),
    name,
    extra,
  ]);
}

function centralHeader({ mode, madeBy, comment, offset }: Placed, header: Header): Uint8Array {
  const { name, method, bits, crc, size, compressed, extra } = header;
  const attributes = madeBy === 3
    ? (mode << 16 | (isFolder(name) ? 0x10 : 0)) >>> 0
    : isFolder(name)
    ? 0x10
    : 0;
  return join([
    numbers([4, 0x02014b50], [2, madeBy << 8 | 20], [2, 20], [2, bits], [2, method], [2, 0], [2, DATE]),
    numbers([4, crc], [4, compressed], [4, size], [2, name.length], [2, extra.length], [2, comment.length]),
    numbers([2, 0], [2, 0], [4, attributes], [4, offset]),
    name,
    extra,
    comment,
  ]);
}

/** The end of the central directory, with its 64-bit records before it where they are asked for. */
function endOf(count: number, size: number, start: number, here: number, description: Members): Uint8Array {
  const comment = utf8(String(description["comment"] ?? ""));
  const end = join([
    numbers([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, start], [
      2,
      comment.length,
    ]),
    comment,
  ]);
  if (description["zip64"] !== true) return end;
  return join([
    numbers([4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, 0], [4, 0], [8, count], [8, count], [8, size], [
      8,
      start,
    ]),
    numbers([4, 0x07064b50], [4, 0], [8, here], [4, 1]),
    end,
  ]);
}

/** Little-endian numbers of 2, 4 or 8 bytes. */
function numbers(...all: readonly (readonly [size: 2 | 4 | 8, value: number])[]): Uint8Array {
  const bytes = new Uint8Array(all.reduce((sum, [size]) => sum + size, 0));
  let at = 0;
  for (const [size, value] of all) {
    for (let n = 0; n < size; n++) bytes[at++] = Math.floor(value / 2 ** (8 * n)) & 0xff;
  }
  return bytes;
}
