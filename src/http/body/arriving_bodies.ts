/**
 * Limits the memory of all large bodies that arrive at the same time in one process. Each body has a limit of its own, but
 * many that are held back together could still fill the memory.
 *
 * @module
 */

/** Bytes of all together. A buffer can be twice as large as what it holds (`ByteBuffer`). */
const MAX_ARRIVING_BYTES = 128 * 1024 * 1024;
/** A body up to this is not counted and never ended, so forms and most calls are not affected. */
const UNCOUNTED_BYTES = 64 * 1024;

/** A body of which more is to come. */
export interface ArrivingBody {
  /** Drops what has arrived: other bodies need the memory. */
  end(): void;
}

/**
 * Counts the bytes of bodies. Above the limit it ends the body whose last chunk arrived the longest ago, not the newest or
 * the largest: a sender that holds back its body loses to those that send.
 */
export class ArrivingBodies {
  readonly #limit: number;
  /** With their bytes, in the order of their last chunks. */
  readonly #bodies = new Map<ArrivingBody, number>();
  #bytes = 0;

  constructor(limit: number = MAX_ARRIVING_BYTES) {
    this.#limit = limit;
  }

  /** Sets how many bytes of a body have arrived. The only one is not ended, whatever its size. */
  count(body: ArrivingBody, bytes: number): void {
    if (bytes <= UNCOUNTED_BYTES) return;
    this.remove(body);
    this.#bodies.set(body, bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.#limit && this.#bodies.size > 1) {
      const [idlest] = this.#bodies.keys();
      this.remove(idlest!);
      idlest!.end();
    }
  }

  /** Stops counting a body. */
  remove(body: ArrivingBody): void {
    this.#bytes -= this.#bodies.get(body) ?? 0;
    this.#bodies.delete(body);
  }
}
