/**
 * Zip archives (PKWARE APPNOTE 6.3.10) whose bytes depend on nothing but paths and contents: sorted, of one time, stored
 * and not deflated, since what deflate makes of a file differs from runtime to runtime. Sizes and checksums are known
 * beforehand, so the length is too, and no more than one chunk of one file is in memory.
 *
 * @module
 */
import { joinBytes } from "../../http/body/byte_buffer.ts";
import { SkillError } from "../error.ts";

/** A file to be packed. */
export interface ZipSource {
  /** Relative, with `/`. */
  readonly path: string;
  /** Bytes that the content has. */
  readonly size: number;
  /** CRC-32 of the content. */
  readonly crc: number;
  /** The content, when its turn comes; `undefined` when it is gone. */
  open(): Promise<ReadableStream<Uint8Array> | Uint8Array | undefined>;
}

export interface ZipArchive {
  /** Bytes that the stream gives. */
  readonly length: number;
  /** The archive; nothing is opened before somebody reads. Fails ({@linkcode ContentChangedError}) when a content is not as long as was said. */
  stream(): ReadableStream<Uint8Array>;
}

/** A content that is not what it was when the archive was begun: a local file changed, or a skill was deleted. */
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
/** What a reader must know: version 2.0 of the format. */
const VERSION = 20;
const MADE_BY_UNIX = 3 << 8 | VERSION;
/** Names are UTF-8 (APPNOTE 4.4.4, bit 11). */
const UTF8 = 0x0800;
/** 1980-01-01, the first day that the format has: seven bits of year, four of month, five of day. */
const DATE = 1 << 5 | 1;
/** A plain file that its owner writes and everybody reads. */
const MODE = 0o100644;
/** Past these the format needs Zip64, which not every reader knows. */
const ZIP64_BYTES = 0xffffffff;
const ZIP64_ENTRIES = 0xffff;

const encoder = new TextEncoder();

/**
 * An archive of these files.
 * @param folder that all of them lie in, one segment; `undefined` for none
 * @throws {SkillError} `invalid_request_error` for a name that some reader would unpack to another place
 */
export function writeZip(files: readonly ZipSource[], folder: string | undefined): ZipArchive {
  const prefix = folder === undefined ? "" : folder + "/";
  const named = sortByPath(files).map((source) => ({ source, name: encodeName(prefix, source.path) }));
  const entries: Entry[] = [];
  const directory: Uint8Array[] = [];
  let length = 0;
  for (const { source, name } of named) {
    const { size, crc } = source;
    // The fields that both headers have (APPNOTE 4.3.7 and 4.3.12).
    const shared = [[VERSION, 2], [UTF8, 2], [0, 2], [0, 2], [DATE, 2], [crc, 4], [size, 4], [size, 4], [
      name.length,
      2,
    ], [0, 2]] as const;
    const header = joinBytes([fields([[LOCAL, 4], ...shared]), name], 30 + name.length);
    const place = [[0, 2], [0, 2], [0, 2], [MODE * 0x10000, 4], [length, 4]] as const;
    directory.push(fields([[CENTRAL, 4], [MADE_BY_UNIX, 2], ...shared, ...place]), name);
    entries.push({ source, header });
    length += header.length + size;
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

/** In the order of the bytes of their paths, which is that of code points; `<` on strings differs past U+FFFF. */
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

/** Local folders hold what they like; here a name must mean the same place to every reader. */
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

/** Header, content, header, content, and the directory: one chunk for each that is asked for. */
function streamOf(entries: readonly Entry[], directory: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Whether the header of the entry has gone, and what is to come of its content. */
  let left: number | undefined;
  let isCancelled = false;

  async function next(): Promise<Uint8Array> {
    for (;;) {
      const entry = entries[at];
      if (!entry) return directory;
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
        const chunk = await next();
        // Who cancelled while a content was being opened hears nothing more.
        if (isCancelled) return;
        controller.enqueue(chunk);
        if (chunk === directory) controller.close();
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
