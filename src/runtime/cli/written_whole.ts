/**
 * Writes a folder or a file whole or not at all: beside its place, under a name that is taken away when something goes
 * wrong, and then by one rename.
 *
 * @module
 */
import { lstatSync, readdirSync } from "node:fs";
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

/** What lies at a path is not written over. @throws {Error} that says what is there */
export function refuseTaken(target: string, kind: "folder" | "archive", force: boolean): void {
  const stats = lstatSync(target, { throwIfNoEntry: false });
  if (!stats) return;
  if (kind === "archive") {
    if (stats.isFile() && force) return;
    throw new Error(
      stats.isFile() ? `"${target}" is there already: --force replaces it` : `"${target}" is no file`,
    );
  }
  if (!stats.isDirectory()) throw new Error(`"${target}" is there already, and is no folder`);
  const names = readdirSync(target);
  if (names.length === 0) return;
  // Whatever else is in the way was not made by a pull.
  if (!names.includes("SKILL.md")) throw new Error(`"${target}" is there already, and holds no skill`);
  if (!force) throw new Error(`"${target}" is there already: --force replaces all of it`);
}

/** @param files whose paths stay in the folder, as `unpackSkill` makes sure of */
export async function writeFolder(
  target: string,
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
  force: boolean,
  signal: AbortSignal,
): Promise<void> {
  await beside(target, signal, async (part) => {
    await mkdir(part);
    for (const { path, bytes } of files) {
      const file = join(part, ...path.split("/"));
      if (!file.startsWith(part + sep)) throw new Error(`"${path}" leads out of the folder`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes, { flag: "wx", signal });
    }
    refuseTaken(target, "folder", force);
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

/** Gives how many bytes it wrote. */
export async function writeArchive(
  target: string,
  chunks: AsyncIterable<Uint8Array>,
  force: boolean,
  signal: AbortSignal,
): Promise<number> {
  let size = 0;
  await beside(target, signal, async (part) => {
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
    refuseTaken(target, "archive", force);
    await rename(part, target);
  });
  return size;
}

async function beside(
  target: string,
  signal: AbortSignal,
  work: (part: string) => Promise<void>,
): Promise<void> {
  signal.throwIfAborted();
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  const part = join(folder, `.${basename(target)}.${crypto.randomUUID()}.part`);
  try {
    await work(part);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}
