/**
 * The port through which local skill folders are read; runtime entries give it. Paths are relative, with `/`, and one
 * that is written in another way, or leads through a link, finds nothing.
 *
 * @module
 */

export interface FolderEntry {
  readonly name: string;
  readonly type: "file" | "folder" | "link" | "other";
  /** Bytes. */
  readonly size: number;
  /** Changes whenever the file does: modification and change time, size and file number. */
  readonly stamp: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Of a link right below the top: what is at its end. */
  readonly leadsTo?: "file" | "folder" | "other" | "nothing" | "itself";
  /** Of a folder right below the top, or a link to one: where it lies, by which two ways to one folder are known. */
  readonly realPath?: string;
}

export interface SkillFolder {
  /** How people name it, for messages. */
  readonly path: string;
  /** Whether a skill's folder may be a link. No link in a skill is ever followed. @default false */
  readonly followLinks?: boolean;
  /** Whether nobody need be told that it is not there. @default false */
  readonly optional?: boolean;
  /**
   * What lies in a folder, in name order; `undefined` when it is not there.
   * @throws {FolderError} when it cannot be read
   */
  list(relative: string): Promise<readonly FolderEntry[] | undefined>;
  /**
   * A plain file's bytes; `undefined` when it is not there, is no plain file or leads out of the folder.
   * @throws {RangeError} past `limit` bytes
   * @throws {FolderError} when it cannot be read
   */
  read(relative: string, limit: number): Promise<Uint8Array | undefined>;
}

/** What is wrong with one folder or file, and will be at the next look: its message says what, for people. */
export class FolderError extends Error {
  override readonly name = "FolderError";
}
