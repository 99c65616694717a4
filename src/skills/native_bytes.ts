/**
 * What runtimes compute faster than portable code: checksums, digests in steps, and inflating. A runtime entry sets it
 * (`../runtime/upload/native_bytes.ts`); without one, as on workerd, portable code and Web Crypto do the same.
 *
 * @module
 */
import type { WorkSlice } from "../http/work_slice.ts";
import type { Sha256 } from "../crypto/sha256.ts";

export interface NativeBytes {
  /** CRC-32 as an unsigned number. @param before the checksum of the bytes before these */
  crc32(bytes: Uint8Array, before: number): number;
  createSha256(): Sha256;
  /**
   * Unpacks deflated data of a known length (RFC 1951), in time slices, and computes its checksum and digest meanwhile.
   * @throws {InflateError} when the data is damaged, has data after its end, or does not unpack to exactly `size` bytes
   */
  inflate(packed: Uint8Array, size: number, slice: WorkSlice): Promise<Inflated>;
}

export interface Inflated {
  /** A view of a buffer of its own. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** CRC-32 as an unsigned number. */
  readonly crc: number;
  /** SHA-256, 32 bytes. */
  readonly digest: Uint8Array<ArrayBuffer>;
}

let native: NativeBytes | undefined;

/** Uses the functions of a runtime from now on, or with `undefined` portable code. They belong to the runtime, not to a request. */
export function useNativeBytes(functions: NativeBytes | undefined): void {
  native = functions;
}

export function nativeBytes(): NativeBytes | undefined {
  return native;
}
