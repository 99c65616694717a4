/**
 * Writes lines to a byte stream, in order. Lines that come while others are written go out together: a write of its own for
 * each took half of the processor time of 64 concurrent calls.
 *
 * @module
 */

/** The part of a stream of Node that is written, such as `process.stdout`. */
export interface NodeOutput {
  write(text: string, onWritten: OnWritten): unknown;
  on(event: "error", onError: (error: Error) => void): unknown;
}

type OnWritten = (error?: Error | null) => void;

/** A batch of so many characters takes no more lines. */
const MAX_BATCH_CHARACTERS = 64 * 1024;

interface Batch {
  text: string;
  /** Called when it is written. */
  readonly waiting: OnWritten[];
}

export class LineWriter {
  /** Writes a batch. */
  readonly #put: (text: string, onWritten: OnWritten) => unknown;
  readonly #release: () => void;
  /** The batches that wait; only the last one takes lines. */
  readonly #batches: Batch[] = [];
  #isWriting = false;
  /** Why the output failed. */
  #failure: Error | undefined;

  constructor(output: WritableStream<Uint8Array> | NodeOutput) {
    if ("getWriter" in output) {
      const writer = output.getWriter();
      const encoder = new TextEncoder();
      this.#put = (text, onWritten) =>
        writer.write(encoder.encode(text)).then(
          () => onWritten(),
          // A stream may be aborted without a reason.
          (error) => onWritten(error ?? new Error("The output failed")),
        );
      this.#release = () => writer.releaseLock();
    } else {
      // Without a listener Node ends the process. `write` and `finish` reject.
      output.on("error", () => {});
      this.#put = (text, onWritten) => output.write(text, onWritten);
      this.#release = () => {};
    }
  }

  /** Writes a line. No promise for each: what becomes of the line is known to `write` and `finish`. */
  send(line: string): void {
    this.#openBatch().text += line + "\n";
  }

  /** Writes a line. Resolves when the next may be written; rejects when the client does not read any more. */
  write(line: string): Promise<void> {
    this.send(line);
    return this.#flush();
  }

  /** Resolves when all is written, and releases the output; rejects when the client did not read all. */
  async finish(): Promise<void> {
    await this.#flush();
    this.#release();
  }

  #flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#openBatch().waiting.push((error) => error ? reject(error) : resolve());
    });
  }

  /** The batch that takes lines. */
  #openBatch(): Batch {
    const last = this.#batches.at(-1);
    if (last && last.text.length < MAX_BATCH_CHARACTERS) return last;
    const batch: Batch = { text: "", waiting: [] };
    this.#batches.push(batch);
    if (!this.#isWriting) {
      this.#isWriting = true;
      // Later: the responses to the lines of a chunk go out together.
      queueMicrotask(() => this.#writeNext());
    }
    return batch;
  }

  #writeNext(): void {
    const batch = this.#batches.shift();
    this.#isWriting = batch !== undefined;
    if (!batch) return;
    const onWritten: OnWritten = (error) => {
      if (error) this.#failure ??= error;
      for (const resolve of batch.waiting) resolve(this.#failure);
      this.#writeNext();
    };
    if (batch.text === "") onWritten();
    else this.#put(batch.text, onWritten);
  }
}
