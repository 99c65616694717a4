/**
 * Stores the bytes of skill files: objects that are written once, under names that are never reused, and read as streams.
 * `blob_ledger.ts` knows which objects there are. The default blob store is the store itself.
 *
 * @module
 */
import type { Entry, Key, Put, Store } from "../../store/store.ts";

/** Where the files of uploaded skills are. */
export interface BlobStore {
  /** The first segment of the names in this blob store: letters and digits. */
  readonly kind: string;
  /**
   * Writes an object; it is durable when the promise resolves. Writing the same object again is not an error.
   * @param size bytes of the content
   * @param digest `sha256:` and 64 hexadecimal digits of the content
   */
  put(name: string, content: BlobContent, size: number, digest: string): Promise<void>;
  /** The content, or `undefined` when there is no such object. */
  get(name: string): Promise<ReadableStream<Uint8Array> | undefined>;
  /** Removes an object. A missing object is not an error. */
  remove(name: string): Promise<void>;
}

export type BlobContent = Uint8Array | ReadableStream<Uint8Array>;

/** Bytes of one record: some engines limit a row to a megabyte or two. */
const CHUNK_BYTES = 512 * 1024;
/** Records of one commit: fewer writes to disk, and still little memory. */
const CHUNKS_PER_COMMIT = 2;

const chunkKey = (name: string, n: number) => ["blob_data", name, n] as const;

/** Objects as records of at most half a megabyte. */
export function storeBlobs(store: Store): BlobStore {
  return {
    kind: "store",
    async put(name, content) {
      let n = 0;
      let set: Put[] = [];
      for await (const chunk of content instanceof Uint8Array ? viewsOf(content) : inChunks(content)) {
        set.push({ key: chunkKey(name, n++), value: chunk });
        if (set.length < CHUNKS_PER_COMMIT) continue;
        await store.commit({ set });
        set = [];
      }
      if (set.length > 0) await store.commit({ set });
    },
    async get(name) {
      let entry = await store.get<Uint8Array>(chunkKey(name, 0));
      if (!entry) return undefined;
      let n = 0;
      return new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { value } = entry as Entry<Uint8Array>;
          if (value.length > 0) controller.enqueue(value);
          // A chunk that is not full is the last one.
          if (value.length < CHUNK_BYTES) return controller.close();
          entry = await store.get<Uint8Array>(chunkKey(name, ++n));
          if (!entry) controller.error(new Error("The object was removed while it was read"));
        },
      });
    },
    async remove(name) {
      let after: Key | undefined;
      for (;;) {
        // Continue after the last key, so that this also ends on a store that lags.
        const some = await store.list(["blob_data", name], { after, limit: 4 });
        if (some.length === 0) return;
        await store.commit({ remove: some.map(({ key }) => key) });
        after = some.at(-1)!.key;
      }
    },
  };
}

/** Pieces of exactly {@linkcode CHUNK_BYTES} bytes, and one shorter than that (perhaps empty) at the end; not copied. */
function* viewsOf(content: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at <= content.length; at += CHUNK_BYTES) yield content.subarray(at, at + CHUNK_BYTES);
}

/** The same chunks from a stream. */
async function* inChunks(content: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held = new Uint8Array(CHUNK_BYTES);
  let length = 0;
  for await (const piece of content) {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + CHUNK_BYTES - length);
      held.set(part, length);
      length += part.length;
      at += part.length;
      if (length < CHUNK_BYTES) continue;
      yield held;
      held = new Uint8Array(CHUNK_BYTES);
      length = 0;
    }
  }
  yield held.subarray(0, length);
}

/** Reads a whole stream. @throws {Error} when it does not have `size` bytes */
export async function readAll(stream: ReadableStream<Uint8Array>, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for await (const chunk of stream) {
    if (at + chunk.length > size) throw new Error(`The object is longer than its ${size} bytes`);
    bytes.set(chunk, at);
    at += chunk.length;
  }
  if (at < size) throw new Error(`The object is cut off: ${at} of ${size} bytes`);
  return bytes;
}
