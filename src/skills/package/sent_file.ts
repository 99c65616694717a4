/**
 * A file of an upload, before anything is known of it.
 *
 * @module
 */

/** A file as it was sent: its path may be anything. */
export interface SentFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** CRC-32, where an archive has proved it. */
  readonly crc?: number;
}
