/**
 * Writes a folder or a file completely or not at all: first beside its place, under a temporary name that is removed on
 * failure, and then by one rename.
 *
 * @module
 */
import { lstatSync, readdirSync } from "node:fs";
import { chmod, mkdir, open, realpath, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { makeFolder } from "../../store/drivers/sqlite/make_folder.ts";

/** Checks that a path can be written. @throws {Error} when it exists and must not be replaced */
export function checkTarget(target: string, kind: "folder" | "archive", force: boolean): void {
  const stats = lstatSync(target, { throwIfNoEntry: false });
  if (!stats) return;
  if (kind === "archive") {
    if (stats.isFile() && force) return;
    throw new Error(
      stats.isFile() ? `"${target}" exists. --force replaces it` : `"${target}" is not a file`,
    );
  }
  if (!stats.isDirectory()) throw new Error(`"${target}" exists and is not a folder`);
  const names = readdirSync(target);
  if (names.length === 0) return;
  // A folder without SKILL.md was not written by a pull.
  if (!names.includes("SKILL.md")) throw new Error(`"${target}" exists and is not a skill`);
  if (!force) throw new Error(`"${target}" exists. --force replaces the whole folder`);
}

/** @param files their paths stay inside the folder, as `unpackSkill` ensures */
export async function writeFolder(
  target: string,
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
  force: boolean,
  signal: AbortSignal,
): Promise<void> {
  await writeBeside(target, signal, async (part) => {
    await mkdir(part);
    for (const { path, bytes } of files) {
      const file = join(part, ...path.split("/"));
      if (!file.startsWith(part + sep)) throw new Error(`"${path}" is outside the folder`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes, { flag: "wx", signal });
    }
    checkTarget(target, "folder", force);
    const old = `${part}.old`;
    const isReplaced = lstatSync(target, { throwIfNoEntry: false }) !== undefined;
    if (isReplaced) await rename(target, old);
    try {
      await rename(part, target);
    } catch (error) {
      if (isReplaced) await rename(old, target);
      throw error;
    }
    if (isReplaced) await rm(old, { recursive: true, force: true });
  });
}

/** Returns how many bytes it wrote. */
export async function writeArchive(
  target: string,
  chunks: AsyncIterable<Uint8Array>,
  force: boolean,
  signal: AbortSignal,
): Promise<number> {
  let size = 0;
  await writeBeside(target, signal, async (part) => {
    const file = await open(part, "wx");
    try {
      for await (const chunk of chunks) {
        signal.throwIfAborted();
        await file.writeFile(chunk);
        size += chunk.length;
      }
    } finally {
      await file.close();
    }
    checkTarget(target, "archive", force);
    await rename(part, target);
  });
  return size;
}

/** Replaces or makes a small file. A file that is replaced keeps its mode; a new one is for its owner only. */
export async function replaceFile(path: string, text: string, signal: AbortSignal): Promise<void> {
  // A link stays a link: the file that it leads to is replaced.
  const target = await realpath(path).catch(() => path);
  const mode = (lstatSync(target, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
  await writeBeside(target, signal, async (part) => {
    await writeFile(part, text, { flag: "wx", mode, signal });
    await chmod(part, mode);
    await rename(part, target);
  });
}

async function writeBeside(
  target: string,
  signal: AbortSignal,
  work: (part: string) => Promise<void>,
): Promise<void> {
  signal.throwIfAborted();
  const folder = dirname(target);
  makeFolder(folder);
  const part = join(folder, `.${basename(target)}.${crypto.randomUUID()}.part`);
  try {
    await work(part);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}
