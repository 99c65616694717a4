/**
 * A local folder of skills on a file system: for Node, Deno and Bun. Links are reported, never followed, and nothing
 * outside the folder is read.
 *
 * @module
 */
import { constants } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import type { FolderEntry, SkillFolder } from "../skills/folder.ts";

/** Opens a folder, which may come into being later. */
export function skillFolder(path: string): SkillFolder {
  return {
    path,
    async list(relative) {
      const folder = join(path, relative);
      const names = await readdir(folder).catch(() => []);
      const entries = await Promise.all(names.sort().map((name) => describe(folder, name)));
      return entries.filter((entry) => entry !== undefined);
    },
    async read(relative, limit) {
      const target = join(path, relative);
      // A folder on the way may have become a link since it was listed.
      const real = await realpath(target).catch(() => undefined);
      if (real === undefined || !real.startsWith(await realpath(path) + sep)) return undefined;
      const file = await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(() => undefined);
      if (!file) return undefined;
      try {
        const { size } = await file.stat().then((stats) => stats.isFile() ? stats : { size: -1 });
        if (size < 0) return undefined;
        if (size > limit) throw new RangeError(`Cannot read "${target}": it has more than ${limit} bytes`);
        return new Uint8Array(await file.readFile());
      } finally {
        await file.close();
      }
    },
  };
}

async function describe(folder: string, name: string): Promise<FolderEntry | undefined> {
  const stats = await lstat(join(folder, name)).catch(() => undefined);
  if (!stats) return undefined;
  const type = stats.isSymbolicLink()
    ? "link"
    : stats.isDirectory()
    ? "folder"
    : stats.isFile()
    ? "file"
    : "other";
  const stamp = `${stats.mtimeMs}:${stats.size}:${stats.ino}`;
  return { name, type, size: stats.size, stamp, modified: stats.mtimeMs };
}
