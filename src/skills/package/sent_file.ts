/**
 * A file of an upload, before any check.
 *
 * @module
 */

/** A file as it was sent: its path may be anything. */
export interface SentFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** CRC-32, verified when the file was unpacked from an archive. */
  readonly crc?: number;
  /** `sha256:` and 64 hexadecimal digits, if they were computed while the file was unpacked. */
  readonly digest?: string;
}
