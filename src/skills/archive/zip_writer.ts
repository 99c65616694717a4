/**
 * Writes zip archives (PKWARE APPNOTE 6.3.10) whose bytes depend only on paths and contents: sorted, with a fixed time, and
 * stored, because deflate output differs between runtimes. The length is known before the files are read, and only one
 * chunk of one file is in memory.
 *
 * @module
 */
import { joinBytes } from "../../http/body/byte_buffer.ts";
import { WorkSlice } from "../../http/work_slice.ts";
import { SkillError } from "../error.ts";

/** A file to be packed. */
export interface ZipSource {
  /** Relative, with `/`. */
  readonly path: string;
  /** Bytes of the content. */
  readonly size: number;
  /** CRC-32 of the content. */
  readonly crc: number;
  /** Opens the content; `undefined` when it is gone. */
  open(): Promise<ReadableStream<Uint8Array> | Uint8Array | undefined>;
}

export interface ZipArchive {
  /** Bytes that the stream gives. */
  readonly length: number;
  /** The archive. Files are opened as the stream is read. Fails with {@linkcode ContentChangedError} when a content does not have its declared length. */
  stream(): ReadableStream<Uint8Array>;
}

/** A content changed while the archive was written: a local file changed, or a skill was deleted. */
export class ContentChangedError extends Error {
  override readonly name = "ContentChangedError";
}

interface Entry {
  readonly source: ZipSource;
  readonly header: Uint8Array;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** Version 2.0 of the format is needed to extract. */
const VERSION = 20;
const MADE_BY_UNIX = 3 << 8 | VERSION;
/** Names are UTF-8 (APPNOTE 4.4.4, bit 11). */
const UTF8 = 0x0800;
/** 1980-01-01, the first day that the format has: seven bits of year, four of month, five of day. */
const DATE = 1 << 5 | 1;
/** A regular file, mode 0644. */
const MODE = 0o100644;
/** From these limits on the format needs Zip64, which not every reader supports. */
const ZIP64_BYTES = 0xffffffff;
const ZIP64_ENTRIES = 0xffff;

/** Headers and small files are sent together up to this size. */
const CHUNK_BYTES = 64 * 1024;

/** The fields that both headers have, with zero for what differs between files (APPNOTE 4.3.7 and 4.3.12). */
const SHARED = [[VERSION, 2], [UTF8, 2], [0, 2], [0, 2], [DATE, 2], [0, 4], [0, 4], [0, 4], [0, 2], [
  0,
  2,
]] as const;
const LOCAL_HEADER = fields([[LOCAL, 4], ...SHARED]);
const CENTRAL_HEADER = fields([[CENTRAL, 4], [MADE_BY_UNIX, 2], ...SHARED, [0, 2], [0, 2], [0, 2], [
  MODE * 0x10000,
  4,
], [0, 4]]);
/** Of the central header: where the local one begins in the archive. */
const OFFSET_AT = 42;

const encoder = new TextEncoder();

/**
 * An archive of these files.
 * @param folder the folder around the files, one segment; `undefined` for none
 * @throws {SkillError} `invalid_request_error` for a name that some reader would unpack to another place
 */
export function writeZip(files: readonly ZipSource[], folder: string | undefined): ZipArchive {
  const prefix = folder === undefined ? "" : folder + "/";
  const named = sortByPath(files).map((source) => ({ source, name: encodeName(prefix, source.path) }));
  const entries: Entry[] = [];
  const directory: Uint8Array[] = [];
  let length = 0;
  for (const { source, name } of named) {
    const header = headerOf(LOCAL_HEADER, name, source);
    const central = headerOf(CENTRAL_HEADER, name, source);
    new DataView(central.buffer).setUint32(OFFSET_AT, length, true);
    directory.push(central);
    entries.push({ source, header });
    length += header.length + source.size;
  }
  const size = directory.reduce((sum, each) => sum + each.length, 0);
  const end = [[END, 4], [0, 4], [entries.length, 2], [entries.length, 2], [size, 4], [length, 4], [
    0,
    2,
  ]] as const;
  if (length + size > ZIP64_BYTES || entries.length >= ZIP64_ENTRIES) {
    throw new SkillError(
      "invalid_request_error",
      "Cannot pack the skill: a zip archive has at most 4 GB and 65,534 files",
    );
  }
  directory.push(fields(end));
  const last = joinBytes(directory, size + 22);
  return { length: length + last.length, stream: () => streamOf(entries, last) };
}

/** In the order of UTF-8 bytes, which is that of code points; `<` on strings differs beyond U+FFFF. */
export function sortByPath<File extends { readonly path: string }>(files: readonly File[]): File[] {
  return files.map((file) => ({ file, bytes: encoder.encode(file.path) }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes))
    .map(({ file }) => file);
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

/** The bytes of a name that every reader unpacks to the same path. Local files may have other names. */
function encodeName(prefix: string, file: string): Uint8Array {
  const path = prefix + file;
  const bytes = encoder.encode(path);
  // deno-lint-ignore no-control-regex
  const isPlain = path.isWellFormed() && !/[\\\u0000-\u001f\u007f]|^[A-Za-z]:/.test(path) &&
    path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
  if (isPlain && bytes.length <= 0xffff) return bytes;
  const message = `Cannot pack the skill: some systems would unpack the file ${
    JSON.stringify(file.slice(0, 200))
  } to another place. Rename it.`;
  const problem = { file, line: undefined, rule: "path-form", message };
  throw new SkillError("invalid_request_error", message, { problems: [problem] });
}

/** A header with what differs between files, and the name behind it. */
function headerOf(template: Uint8Array, name: Uint8Array, { size, crc }: ZipSource): Uint8Array {
  const header = new Uint8Array(template.length + name.length);
  header.set(template);
  header.set(name, template.length);
  const view = new DataView(header.buffer);
  // The central header has the version that made it before these.
  const at = template === LOCAL_HEADER ? 14 : 16;
  view.setUint32(at, crc, true);
  view.setUint32(at + 4, size, true);
  view.setUint32(at + 8, size, true);
  view.setUint16(at + 12, name.length, true);
  return header;
}

/** Little-endian numbers, each of two or four bytes. */
function fields(numbers: readonly (readonly [value: number, bytes: 2 | 4])[]): Uint8Array {
  const bytes = new Uint8Array(numbers.reduce((sum, [, length]) => sum + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [value, length] of numbers) {
    if (length === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += length;
  }
  return bytes;
}

/** The headers, contents and central directory, one chunk for each pull: small files are joined, large ones are not. */
function streamOf(entries: readonly Entry[], directory: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Bytes of the content still to be sent; `undefined` before the header was sent. */
  let left: number | undefined;
  let isCancelled = false;
  // Some stores read without waiting, so that the loop would get no turn until the last file.
  const slice = new WorkSlice();

  /** The next header or piece of a content; `undefined` after the last. */
  async function next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const entry = entries[at];
      if (!entry) return undefined;
      if (slice.isOver) await slice.yield();
      const { source, header } = entry;
      if (left === undefined) {
        left = source.size;
        return header;
      }
      reader ??= await open(source);
      const { done, value } = await reader.read();
      if (done) {
        if (left > 0) {
          throw new ContentChangedError(`"${source.path}" has ${left} bytes fewer than its ${source.size}`);
        }
        [at, reader, left] = [at + 1, undefined, undefined];
      } else if (value.length > left) {
        throw new ContentChangedError(`"${source.path}" has more than its ${source.size} bytes`);
      } else if (value.length > 0) {
        left -= value.length;
        return value;
      }
    }
  }

  /** Pieces of small files up to about `CHUNK_BYTES`, or one piece of a large file. */
  async function nextChunk(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    while (length < CHUNK_BYTES) {
      const piece = await next();
      if (!piece) return joinBytes([...pieces, directory], length + directory.length);
      pieces.push(piece);
      length += piece.length;
      // What follows is a piece of a large file: it is read when it is wanted.
      if (isCancelled || (entries[at]?.source.size ?? 0) > CHUNK_BYTES) break;
    }
    return pieces.length === 1 ? pieces[0]! : joinBytes(pieces, length);
  }

  async function open(source: ZipSource): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const content = await source.open();
    if (!content) throw new ContentChangedError(`"${source.path}" is gone`);
    const opened = (content instanceof Uint8Array ? streamOfOne(content) : content).getReader();
    if (isCancelled) await opened.cancel();
    return opened;
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const chunk = await nextChunk();
        // The stream was cancelled while a file was being opened.
        if (isCancelled) return;
        controller.enqueue(chunk);
        if (at === entries.length) controller.close();
      } catch (error) {
        await reader?.cancel(error).catch(() => {});
        throw error;
      }
    },
    async cancel(reason) {
      isCancelled = true;
      await reader?.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

function streamOfOne(chunk: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(chunk);
      controller.close();
    },
  });
}
