/**
 * Errors of the file system in words: Node, Deno and Bun describe them by code and system call.
 *
 * @module
 */

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder, not a file",
  EEXIST: "it exists already",
  ENOTDIR: "a part of the path is not a folder",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
};

/** What SQLite says where the files beside a database do not fit on the disk, too. Not where the question follows already. */
const DISK_ERROR = /disk I\/O error(?!:)/;

/** Why a file cannot be used. The message of an error that is not one of the file system stays as it is. */
export function describeFileError(error: unknown): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  const reason = typeof code === "string" && Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  return reason ?? String(message ?? error).replace(DISK_ERROR, "$&: is the disk full?");
}

/** The message of an error, with the path that it is about if it is one of the file system. */
export function describeError(error: unknown): string {
  const { path, dest } = Object(error) as { path?: unknown; dest?: unknown };
  // A copy that fails has read its source: the target is full or cannot be written.
  const subject = dest ?? path;
  const description = describeFileError(error);
  const isKnown = error instanceof Error && description !== error.message;
  return isKnown && typeof subject === "string" ? `"${subject}": ${description}` : description;
}
