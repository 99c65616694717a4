/**
 * The port through which local skill folders are read; runtime entries give it. Paths are relative, with `/`.
 *
 * @module
 */

export interface FolderEntry {
  readonly name: string;
  /** A link is never followed. */
  readonly type: "file" | "folder" | "link" | "other";
  /** Bytes. */
  readonly size: number;
  /** Changes whenever the file does: modification time, size and file number. */
  readonly stamp: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

export interface SkillFolder {
  /** How people name it, for messages. */
  readonly path: string;
  /** What lies in a folder, in name order; empty when it is not there. */
  list(relative: string): Promise<readonly FolderEntry[]>;
  /**
   * A plain file's bytes; `undefined` when it is not there, is no plain file or leads out of the folder.
   * @throws {RangeError} past `limit` bytes
   */
  read(relative: string, limit: number): Promise<Uint8Array | undefined>;
}
