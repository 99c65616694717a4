/**
 * The interface through which local folders are read; runtimes implement it. Paths are relative, with `/`. A path in
 * another form, or through a link, finds nothing.
 *
 * @module
 */

/** A file, folder or link in a folder of skills. */
export interface FolderEntry {
  readonly name: string;
  readonly type: "file" | "folder" | "link" | "other";
  /** Bytes. */
  readonly size: number;
  /** Changes whenever the file does: modification and change time, size and file number. */
  readonly stamp: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** For a link directly in the folder: the type of its target. */
  readonly leadsTo?: "file" | "folder" | "other" | "nothing" | "itself";
  /** For a folder directly in the folder, or a link to one: its real path, to recognize duplicates. */
  readonly realPath?: string;
}

/** A folder of local skills. */
export interface SkillFolder {
  /** Its path, for messages. */
  readonly path: string;
  /** Whether a skill's folder may be a link. No link in a skill is ever followed. @default false */
  readonly followLinks?: boolean;
  /** Whether a missing folder is not a problem. @default false */
  readonly optional?: boolean;
  /**
   * The entries of a folder, sorted by name; `undefined` when it does not exist.
   * @throws {FolderError} when it cannot be read
   */
  list(relative: string): Promise<readonly FolderEntry[] | undefined>;
  /**
   * The bytes of a regular file; `undefined` when it does not exist, is not a regular file or is outside the folder.
   * @throws {RangeError} past `limit` bytes
   * @throws {FolderError} when it cannot be read
   */
  read(relative: string, limit: number): Promise<Uint8Array | undefined>;
}

/** A permanent problem of one folder or file; the message is for people. */
export class FolderError extends Error {
  override readonly name = "FolderError";
}
