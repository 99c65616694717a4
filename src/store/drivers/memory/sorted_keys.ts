/**
 * A sorted set of encoded keys in chunks, for the memory driver. To add, remove or find a key takes a binary search over
 * the chunks and one short move.
 *
 * @module
 */
const MAX_CHUNK_KEYS = 256;

/** A sorted set of encoded keys. */
export class SortedKeys {
  #chunks: string[][] = [];

  /** @param keys in any order */
  constructor(keys: Iterable<string>) {
    const sorted = [...keys].sort();
    for (let at = 0; at < sorted.length; at += MAX_CHUNK_KEYS >> 1) {
      this.#chunks.push(sorted.slice(at, at + (MAX_CHUNK_KEYS >> 1)));
    }
  }

  add(key: string): void {
    const index = this.#chunkFor(key);
    const chunk = this.#chunks[index];
    if (!chunk) {
      this.#chunks.push([key]);
      return;
    }
    const at = lowerBound(chunk, key);
    if (chunk[at] === key) return;
    chunk.splice(at, 0, key);
    if (chunk.length > MAX_CHUNK_KEYS) this.#chunks.splice(index + 1, 0, chunk.splice(MAX_CHUNK_KEYS >> 1));
  }

  delete(key: string): void {
    const index = this.#chunkFor(key);
    const chunk = this.#chunks[index];
    if (!chunk) return;
    const at = lowerBound(chunk, key);
    if (chunk[at] !== key) return;
    chunk.splice(at, 1);
    if (chunk.length === 0) this.#chunks.splice(index, 1);
  }

  /** Keys strictly between `low` and `high`, ascending or (`reverse`) descending. */
  *between(low: string, high: string, reverse = false): Generator<string> {
    if (reverse) yield* this.#descending(low, high);
    else yield* this.#ascending(low, high);
  }

  *#ascending(low: string, high: string): Generator<string> {
    let index = this.#chunkFor(low);
    let at = lowerBound(this.#chunks[index] ?? [], low);
    for (; index < this.#chunks.length; index++, at = 0) {
      const chunk = this.#chunks[index]!;
      for (; at < chunk.length; at++) {
        const key = chunk[at]!;
        if (key >= high) return;
        if (key !== low) yield key;
      }
    }
  }

  *#descending(low: string, high: string): Generator<string> {
    let index = this.#chunkFor(high);
    let at = lowerBound(this.#chunks[index] ?? [], high) - 1;
    for (; index >= 0; index--, at = (this.#chunks[index]?.length ?? 0) - 1) {
      const chunk = this.#chunks[index] ?? [];
      for (; at >= 0; at--) {
        const key = chunk[at]!;
        if (key <= low) return;
        yield key;
      }
    }
  }

  /** The last chunk whose first key is not above `key`. */
  #chunkFor(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#chunks[middle]![0]! <= key) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }
}

function lowerBound(chunk: readonly string[], key: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunk[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
