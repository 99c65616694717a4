/**
 * Files of databases for the tests of SQLite, in a folder of their own.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class TestFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), "trivet-sqlite-"));
  #count = 0;

  /** The path of a file that does not exist yet. */
  create(): string {
    this.#count++;
    return this.last;
  }

  /** The path that `create` returned last. */
  get last(): string {
    return join(this.#folder, `${this.#count}.db`);
  }

  /** Removes all files. */
  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
