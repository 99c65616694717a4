/**
 * Checksums, digests and inflating by `node:zlib` and `node:crypto`, which Node, Deno and Bun have: importing this file makes
 * uploads of skills use them. Compared with portable code on Node 24, for 8 MiB of text: inflating takes 7 ms instead of
 * 46, the checksum 2 instead of 7, and the digest copies no bytes, as Web Crypto does.
 *
 * On Node and Bun, it also makes uploads search their boundaries by `Buffer.indexOf`: 1 ms instead of 6 for 8 MiB. On Deno 2.9
 * that takes 42. Bun compiles the portable loop with its last compiler, which takes 2 to 4 MB of resident memory.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import process from "node:process";
import type * as Crypto from "node:crypto";
import type * as Zlib from "node:zlib";
import { useByteSearch } from "../../http/body/delimiter_search.ts";
import type { WorkSlice } from "../../http/work_slice.ts";
import { InflateError } from "../../skills/archive/inflate_error.ts";
import { type Inflated, type NativeBytes, useNativeBytes } from "../../skills/native_bytes.ts";

// Loaded when first used: most processes never unpack a skill.
const zlib = (): typeof Zlib => process.getBuiltinModule("node:zlib");
const crypto = (): typeof Crypto => process.getBuiltinModule("node:crypto");

/**
 * Data up to these sizes is unpacked at once on this thread: 128 KB of text take 0.1 ms so, and 0.3 ms with a stream. 64 KB
 * of the costliest blocks take 8 ms.
 */
const MAX_SYNC_PACKED_BYTES = 64 * 1024;
const MAX_SYNC_BYTES = 256 * 1024;
/** Packed bytes of one step. Deno unpacks a step on this thread, and each byte to at most 1032. */
const STEP_BYTES = 64 * 1024;
/** Unpacked bytes of one step of the checksum and the digest: 1.5 ms. */
const MEASURED_BYTES = 1024 * 1024;
/** The smallest buffer that zlib accepts. */
const MIN_BUFFER_BYTES = 64;

/** The functions of this runtime. */
export const NATIVE_BYTES: NativeBytes = {
  crc32: (bytes, before) => zlib().crc32(bytes, before),
  createSha256() {
    const hash = crypto().createHash("sha256");
    return { update: (bytes) => void hash.update(bytes), digest: () => new Uint8Array(hash.digest()) };
  },
  async inflate(packed, size, slice) {
    const isSmall = packed.length <= MAX_SYNC_PACKED_BYTES && size <= MAX_SYNC_BYTES;
    if (!isSmall) return await inflateInSteps(packed, size, slice);
    const bytes = inflateAtOnce(packed, size);
    const { add, result } = createMeasurement(slice);
    await add(bytes);
    return { bytes, ...result() };
  },
};

useNativeBytes(NATIVE_BYTES);
if (!("Deno" in globalThis)) {
  useByteSearch((bytes, needle) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(needle));
}

/** Computes the checksum and the digest of bytes that arrive in chunks, in time slices. */
function createMeasurement(slice: WorkSlice): {
  add(chunk: Uint8Array): Promise<void>;
  result(): Omit<Inflated, "bytes">;
} {
  const { crc32, createSha256 } = NATIVE_BYTES;
  const hash = createSha256();
  let crc = 0;
  return {
    async add(chunk) {
      for (let at = 0; at < chunk.length; at += MEASURED_BYTES) {
        const step = chunk.subarray(at, at + MEASURED_BYTES);
        crc = crc32(step, crc);
        hash.update(step);
        if (slice.isOver) await slice.yield();
      }
    },
    result: () => ({ crc, digest: hash.digest() }),
  };
}

/** One byte more than the declared size, so that a longer content shows. */
function bufferSize(size: number): number {
  return Math.max(size + 1, MIN_BUFFER_BYTES);
}

function inflateAtOnce(packed: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  try {
    // With `info`, which the types do not know, the result says how many bytes were used.
    const options = { chunkSize: bufferSize(size), maxOutputLength: Math.max(size, 1), info: true };
    const { buffer, engine } = zlib().inflateRawSync(packed, options) as unknown as {
      buffer: Buffer<ArrayBuffer>;
      engine: { bytesWritten: number };
    };
    return check([buffer], size, engine.bytesWritten === packed.length);
  } catch (error) {
    throw toInflateError(error);
  }
}

/**
 * Node and Bun unpack on another thread, while this one computes the checksum and the digest of the step before. No more than
 * a step is unpacked after the content became too long.
 */
async function inflateInSteps(packed: Uint8Array, size: number, slice: WorkSlice): Promise<Inflated> {
  const stream = zlib().createInflateRaw({ chunkSize: bufferSize(size) });
  const chunks: Buffer<ArrayBuffer>[] = [];
  let length = 0;
  const ended = new Promise<void>((resolve, reject) => {
    stream.on("data", (chunk: Buffer<ArrayBuffer>) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > size) stream.destroy(new InflateError("longer"));
    });
    stream.once("end", resolve);
    stream.once("error", reject);
  });
  // The stream ends before its last step when data follows the end of the content.
  let isOver = false;
  const settled = ended.then(() => isOver = true, () => isOver = true);
  const { add, result } = createMeasurement(slice);
  let measured = 0;
  const addNewChunks = async (): Promise<void> => {
    while (measured < chunks.length) await add(chunks[measured++]!);
  };
  try {
    for (let at = 0; at < packed.length && !isOver; at += STEP_BYTES) {
      const step = packed.subarray(at, at + STEP_BYTES);
      const written = new Promise((resolve) => stream.write(step, resolve));
      await addNewChunks();
      await Promise.race([settled, written]);
      if (slice.isOver) await slice.yield();
    }
    stream.end();
    await ended;
    const bytes = check(chunks, size, stream.bytesWritten === packed.length);
    await addNewChunks();
    return { bytes, ...result() };
  } catch (error) {
    throw toInflateError(error);
  } finally {
    stream.destroy();
  }
}

/** The whole content, in a buffer of its own. zlib fills one buffer piece by piece, so that nothing is copied. */
function check(
  chunks: readonly Buffer<ArrayBuffer>[],
  size: number,
  isAllUsed: boolean,
): Uint8Array<ArrayBuffer> {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (!isAllUsed) throw new InflateError("damaged");
  if (length !== size) throw new InflateError(length > size ? "longer" : "shorter");
  const [first] = chunks;
  if (first && isOneBuffer(chunks, bufferSize(size))) {
    return new Uint8Array(first.buffer, first.byteOffset, size);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Whether the chunks lie side by side in a buffer of this size, which nothing else uses: small ones come from a pool. */
function isOneBuffer(chunks: readonly Buffer<ArrayBuffer>[], capacity: number): boolean {
  const { buffer } = chunks[0]!;
  let at = 0;
  return buffer.byteLength === capacity && chunks.every((chunk) => {
    const isNext = chunk.buffer === buffer && chunk.byteOffset === at;
    at += chunk.length;
    return isNext;
  });
}

function toInflateError(error: unknown): unknown {
  if (error instanceof InflateError) return error;
  const { code } = error as { code?: unknown };
  if (code === "ERR_BUFFER_TOO_LARGE") return new InflateError("longer");
  return typeof code === "string" && code.startsWith("Z_") ? new InflateError("damaged") : error;
}
