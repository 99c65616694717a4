/**
 * Archives for discovery: files at the root, and a digest that the index contains. Computing the digest requires writing
 * the archive once; the result is cached in memory, and for uploaded skills in the store, so that a new instance reads no
 * files.
 *
 * @module
 */
import { createSha256 } from "../../crypto/sha256.ts";
import type { Key, Store } from "../../store/store.ts";
import { archiveTag } from "./archive.ts";
import { complete, verified } from "./archive_file.ts";
import { formatDigest } from "../../crypto/large_digest.ts";
import { WorkSlice } from "../../http/work_slice.ts";
import { SkillError } from "../error.ts";
import type { PublicFile } from "../discovery/public_skills.ts";
import { ContentChangedError, sortByPath, writeZip, type ZipArchive } from "./zip_writer.ts";

export interface FlatArchive {
  readonly archive: ZipArchive;
  /** `sha256:` and 64 hexadecimal digits, of the archive. */
  readonly digest: string;
  /** With its quotes. */
  readonly tag: string;
}

export interface FlatArchives {
  /**
   * The archive of these files; `undefined` when one has a name that cannot be packed, or
   * changed while it was read.
   * @param isLasting whether to keep its digest in the store
   */
  of(files: readonly PublicFile[], isLasting: boolean): Promise<FlatArchive | undefined>;
  /** Its digest alone, cached for the same list of files. */
  digestOf(files: readonly PublicFile[], isLasting: boolean): Promise<string | undefined>;
}

interface Known {
  readonly digest: string;
  /** CRC-32 of the files, in the order of their paths. */
  readonly crcs: readonly number[];
}

/** Written at the first request; expires, and each request extends it. */
interface ArchiveDigest {
  readonly digest: string;
}

const archiveDigestKey = (tag: string): Key => ["archive_digest", tag.slice(1, -1)];

const DAY_MS = 24 * 60 * 60 * 1000;
const DIGEST_LIFETIME_MS = 30 * DAY_MS;
/** Digests in memory. */
const MAX_CACHED_DIGESTS = 4000;
/** Bytes of one step of the digest. */
const STEP_BYTES = 256 * 1024;

export function createFlatArchives(store: Store, now: () => number): FlatArchives {
  // Values only: on workerd a promise of one request never settles for another.
  const known = new Map<string, Known>();
  const digests = new WeakMap<readonly PublicFile[], string>();

  async function readDigest(tag: string): Promise<string | undefined> {
    const entry = await store.get<ArchiveDigest>(archiveDigestKey(tag));
    if (entry && (entry.expires ?? Infinity) - now() < DIGEST_LIFETIME_MS / 2) {
      await writeDigest(tag, entry.value.digest);
    }
    return entry?.value.digest;
  }

  async function writeDigest(tag: string, digest: string): Promise<void> {
    const value: ArchiveDigest = { digest };
    await store.commit({ set: [{ key: archiveDigestKey(tag), value, expires: now() + DIGEST_LIFETIME_MS }] });
  }

  async function open(files: readonly PublicFile[], isLasting: boolean): Promise<FlatArchive> {
    // Each step below takes milliseconds for a thousand files, and many requests may come to it in one turn.
    const slice = new WorkSlice();
    if (slice.isOver) await slice.yield();
    const listed = archiveTag(files, undefined);
    const sorted = sortByPath(files);
    const before = known.get(listed);
    if (before) {
      const archive = writeZip(
        sorted.map((file, i) => verified({ ...file, crc: before.crcs[i]! })),
        undefined,
      );
      return { archive, digest: before.digest, tag: listed };
    }
    const measured = await complete(sorted, "crc");
    if (slice.isOver) await slice.yield();
    // A local file may have changed since it was listed.
    const tag = archiveTag(measured, undefined);
    if (slice.isOver) await slice.yield();
    const archive = writeZip(measured, undefined);
    const stored = isLasting ? await readDigest(tag) : undefined;
    const digest = stored ?? await digestOfStream(archive.stream());
    if (isLasting && stored === undefined) await writeDigest(tag, digest);
    if (known.size >= MAX_CACHED_DIGESTS) known.delete(known.keys().next().value!);
    known.set(tag, { digest, crcs: measured.map(({ crc }) => crc) });
    return { archive, digest, tag };
  }

  const archives: FlatArchives = {
    async of(files, isLasting) {
      try {
        return await open(files, isLasting);
      } catch (error) {
        if (error instanceof SkillError || error instanceof ContentChangedError) return undefined;
        throw error;
      }
    },
    async digestOf(files, isLasting) {
      const before = digests.get(files);
      if (before !== undefined) return before;
      const digest = (await archives.of(files, isLasting))?.digest;
      if (digest !== undefined) digests.set(files, digest);
      return digest;
    },
  };
  return archives;
}

async function digestOfStream(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createSha256();
  const slice = new WorkSlice();
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length; at += STEP_BYTES) {
      hash.update(chunk.subarray(at, at + STEP_BYTES));
      if (slice.isOver) await slice.yield();
    }
  }
  return formatDigest(hash.digest());
}
