/**
 * A list of breached passwords in a file. A file of SHA-1 digests as Have I Been Pwned publishes it (one `DIGEST:COUNT` a
 * line, in the order of the digests, tens of gigabytes) is searched in place, a list of plain passwords is read at once.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";

export interface BreachedPasswords {
  isBreached(password: string): Promise<boolean>;
  close(): Promise<void>;
}

/** A longer list of plain passwords is refused: it would take several times this memory. */
export const MAX_PLAIN_BYTES: number = 32 * 1024 * 1024;
const DIGEST_CHARACTERS = 40;
const DIGEST_LINE = /^[0-9A-F]{40}(?::\d+)?\r?$/i;
/** Longer than any line of digests. */
const CHUNK_BYTES = 4096;
/** Places at which the order of a list of digests is checked when it is opened. */
const CHECKED_PLACES = 64;

/**
 * Opens a list. It is of digests when its first line is one.
 * @throws {Error} naming the file and what is wrong: unreadable, empty, digests in another order, too long
 */
export async function openBreachedPasswords(path: string): Promise<BreachedPasswords> {
  const file = await open(path, "r").catch((cause) => {
    throw refusal(path, cause.code === "ENOENT" ? "there is no such file" : String(cause.message), cause);
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refusal(path, "it is not a file");
    const { size } = stats;
    const first = (await readChunk(file, 0)).split("\n", 1)[0]!;
    if (size === 0) throw refusal(path, "it is empty");
    if (!DIGEST_LINE.test(first)) return await readPlain(file, path, size);
    await checkOrder(file, path, size);
    return {
      isBreached: (password) =>
        hasDigest(file, size, createHash("sha1").update(password).digest("hex").toUpperCase()),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readPlain(file: FileHandle, path: string, size: number): Promise<BreachedPasswords> {
  if (size > MAX_PLAIN_BYTES) {
    throw refusal(
      path,
      `a list of plain passwords may have ${MAX_PLAIN_BYTES} bytes. Use one of SHA-1 digests`,
    );
  }
  const known = new Set((await file.readFile("utf8")).split(/\r?\n/));
  await file.close();
  return { isBreached: (password) => Promise.resolve(known.has(password)), close: () => Promise.resolve() };
}

/** @throws {Error} when the digests are not in ascending order, as far as places over the whole file show it */
async function checkOrder(file: FileHandle, path: string, size: number): Promise<void> {
  let last = "";
  const step = Math.max(CHUNK_BYTES, Math.ceil(size / CHECKED_PLACES));
  for (let at = 0; at < size; at += step) {
    for (const { digest } of await readDigests(file, at)) {
      if (!DIGEST_LINE.test(digest) || digest < last) {
        throw refusal(path, "its SHA-1 digests are not in ascending order. Use the list ordered by hash");
      }
      last = digest;
    }
  }
}

/** Halves the range of bytes in which the digest can be, until one chunk decides. */
async function hasDigest(file: FileHandle, size: number, wanted: string): Promise<boolean> {
  let [low, high] = [0, size];
  while (high - low > CHUNK_BYTES / 2) {
    const middle = Math.floor((low + high) / 2);
    const found = (await readDigests(file, middle))[0];
    if (found && found.digest <= wanted) low = found.at;
    else high = middle;
  }
  return (await readDigests(file, low)).some(({ digest }) => digest === wanted);
}

/** The digests of the whole lines in the chunk at this place, and where they begin. */
async function readDigests(file: FileHandle, place: number): Promise<{ digest: string; at: number }[]> {
  const text = await readChunk(file, Math.max(0, place - 1));
  // The byte before shows whether a line begins at the place.
  let at = place === 0 ? 0 : text.indexOf("\n") + 1;
  if (place > 0 && at === 0) return [];
  const found: { digest: string; at: number }[] = [];
  while (at + DIGEST_CHARACTERS <= text.length) {
    found.push({
      digest: text.slice(at, at + DIGEST_CHARACTERS).toUpperCase(),
      at: Math.max(0, place - 1) + at,
    });
    const end = text.indexOf("\n", at);
    if (end < 0) break;
    at = end + 1;
  }
  return found;
}

async function readChunk(file: FileHandle, at: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, at);
  // One character for each byte.
  return new TextDecoder("latin1").decode(buffer.subarray(0, bytesRead));
}

function refusal(path: string, reason: string, cause?: unknown): Error {
  return new Error(`Cannot read the breached passwords in ${path}: ${reason}`, { cause });
}
