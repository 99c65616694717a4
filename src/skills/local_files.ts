/**
 * The files of a local skill: which there are, one of them, and all of them with digests. A file is read for its
 * digest when its stamp is new, and not again until that changes.
 *
 * @module
 */
import type { LocalSkill } from "./directory.ts";
import { keepFresh } from "./fresh.ts";
import { mediaTypeByName, mediaTypeOf } from "./media_type_of.ts";
import { digestOf } from "./publish.ts";

/** A file as a manifest has it. */
export interface ManifestFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Absent where only the content could tell. */
  readonly type: string | undefined;
  /** `sha256:` and 64 hexadecimal digits; absent for all files of a skill that is too large. */
  readonly digest: string | undefined;
}

interface ListedFile {
  readonly path: string;
  readonly size: number;
  readonly stamp: string;
}

/** Of a skill that has more, no digests are made: nobody is bound to take it (SEP-2640, limits). */
const MOST_DIGESTS = 512;
/** Bytes of all files of a skill. */
const MOST_DIGESTED = 16 * 1024 * 1024;
const MOST_FILES = 2000;
const DEEPEST = 8;
/** Bytes. */
const LARGEST_FILE = 8 * 1024 * 1024;
/** Milliseconds. */
const FRESH = 1000;
const LEFT_OUT = new Set([".git", "node_modules", ".DS_Store"]);

/** Whether a skill with these files is one that every client takes. */
export function isTakenByAll(files: readonly { readonly size: number }[]): boolean {
  return files.length <= MOST_DIGESTS && files.reduce((sum, { size }) => sum + size, 0) <= MOST_DIGESTED;
}

/** The plain files below a local skill, in path order; links and what is too large are left out. */
export async function listLocalFiles({ folder, directory: root }: LocalSkill): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  async function walk(relative: string, depth: number): Promise<void> {
    for (const entry of await folder.list(relative === "" ? root : `${root}/${relative}`)) {
      const { name, type, size, stamp } = entry;
      const path = relative === "" ? name : `${relative}/${name}`;
      // Half of a surrogate pair has no place in a URI.
      if (files.length >= MOST_FILES || LEFT_OUT.has(name) || !name.isWellFormed()) continue;
      if (type === "file" && size <= LARGEST_FILE) files.push({ path, size, stamp });
      if (type === "folder" && depth < DEEPEST) await walk(path, depth + 1);
    }
  }
  await walk("", 1);
  return files.sort((a, b) => a.path < b.path ? -1 : 1);
}

/** A file that is in the list; `undefined` when it is gone, or has grown too large since. */
export async function readLocalFile(
  { folder, directory }: LocalSkill,
  path: string,
): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | undefined> {
  const bytes = await folder.read(`${directory}/${path}`, LARGEST_FILE).catch((error) => {
    if (error instanceof RangeError) return undefined;
    throw error;
  });
  return bytes && { bytes, mediaType: mediaTypeOf(path, bytes) };
}

/** Gives the files of local skills with digests; folders are looked at again after a second. */
export function createLocalManifests(
  now: () => number,
): (skill: LocalSkill) => Promise<readonly ManifestFile[]> {
  // A skill whose SKILL.md changes is another object.
  const known = new WeakMap<LocalSkill, () => Promise<readonly ManifestFile[]>>();
  // One file is in memory at a time, however many skills are asked for at once.
  let turn: Promise<unknown> = Promise.resolve();

  function open(skill: LocalSkill): () => Promise<readonly ManifestFile[]> {
    let before = new Map<string, { readonly stamp: string; readonly file: ManifestFile }>();

    async function digest({ path, stamp }: ListedFile): Promise<ManifestFile | undefined> {
      // The bytes that its front matter was read from.
      if (path === "SKILL.md") return { path, type: "text/markdown", ...skill.markdown };
      const seen = before.get(path);
      if (seen?.stamp === stamp) return seen.file;
      const reading = turn.then(async () => {
        const content = await readLocalFile(skill, path);
        return content &&
          {
            path,
            size: content.bytes.length,
            type: content.mediaType,
            digest: await digestOf(content.bytes),
          };
      });
      turn = reading.catch(() => {});
      return await reading;
    }

    return keepFresh(FRESH, now, async () => {
      const listed = await listLocalFiles(skill);
      if (!isTakenByAll(listed)) {
        return listed.map(({ path, size }) => ({
          path,
          size,
          type: mediaTypeByName(path),
          digest: undefined,
        }));
      }
      const digested: typeof before = new Map();
      for (const each of listed) {
        const file = await digest(each);
        if (file) digested.set(each.path, { stamp: each.stamp, file });
      }
      before = digested;
      return Array.from(digested.values(), ({ file }) => file);
    });
  }

  return (skill) => {
    let manifest = known.get(skill);
    if (!manifest) known.set(skill, manifest = open(skill));
    return manifest();
  };
}
