/**
 * The store in the SQL storage of one Durable Object, for code that runs in that object. One object has all state of a
 * Trivet and handles about a thousand requests per second. The simplest way is to run Trivet in the object, and to let the
 * worker forward requests:
 *
 * ```ts ignore
 * export class Trivet extends DurableObject {
 *   #store = durableObjectStore(this.ctx.storage);
 *   #trivet = createTrivet({ issuer, store: this.#store });
 *   fetch = (request: Request) => this.#trivet.fetch(request);
 *   alarm = () => this.#store.sweep();
 * }
 * ```
 *
 * Cloudflare delays an object's responses until its writes are durable (output gate), and resets the object when that
 * fails. So a response that left the object acknowledges its writes.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import {
  changedBy,
  CHECK_FAILED,
  commitStatements,
  formatAnswer,
  formatStatement,
  type Row,
  SCHEMA,
  selectOne,
  selectPage,
  type Statement,
  sweepSome,
  toEntry,
} from "./cloudflare_rows.ts";
import { ensureFormatSync, type FormatOptions } from "../format.ts";
import { SWEEP_BATCH_RECORDS, SweepGuard } from "../sweep_guard.ts";
import {
  type Commit,
  type Entry,
  type Guarantees,
  type Key,
  type ListOptions,
  type Store,
  StoreClosedError,
} from "../store.ts";
import { Watchers } from "../watchers.ts";
export type { Store } from "../store.ts";

/** The part of `ctx.storage` that is used. */
export interface DurableObjectBinding {
  readonly sql: {
    exec(sql: string, ...parameters: unknown[]): { toArray(): unknown[]; readonly rowsWritten: number };
  };
  transactionSync<Result>(work: () => Result): Result;
}

/** Options of the store in a Durable Object. */
export interface DurableObjectOptions extends FormatOptions {
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
  /** Milliseconds since any moment, for tests. @default `now`, else `performance.now()` */
  readonly monotonic?: () => number;
}

const NAMES: Names<DurableObjectOptions> = { allowOlder: "boolean", now: "function", monotonic: "function" };

/**
 * Opens a store in an object's storage, and creates missing tables.
 * @throws {StoreFormatError} when its records are of another format
 */
export function durableObjectStore(storage: DurableObjectBinding, options: DurableObjectOptions = {}): Store {
  checkNames("durableObjectStore", options, NAMES);
  return new DurableObjectStore(storage, options);
}

class DurableObjectStore implements Store {
  readonly guarantees: Guarantees = { atomic: true, readYourWrites: true, durable: "power" };
  #storage: DurableObjectBinding;
  #watchers = new Watchers();
  #now: () => number;
  #guard: SweepGuard;
  #closed = false;

  constructor(storage: DurableObjectBinding, options: DurableObjectOptions) {
    this.#storage = storage;
    this.#now = options.now ?? Date.now;
    this.#guard = new SweepGuard(options);
    for (const sql of SCHEMA) storage.sql.exec(sql);
    ensureFormatSync((step) => formatAnswer(step, this.#run(formatStatement(step)) as Row[]), options);
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    const [row] = this.#run(selectOne(key, this.#now()));
    return row === undefined ? undefined : { ...toEntry<Value>(row as Row), key };
  }

  async list<Value>(prefix: Key, options: ListOptions = {}): Promise<Entry<Value>[]> {
    return (this.#run(selectPage(prefix, options, this.#now())) as Row[]).map(toEntry<Value>);
  }

  async commit(commit: Commit): Promise<boolean> {
    const statements = commitStatements(commit, this.#now());
    try {
      this.#storage.transactionSync(() => {
        for (const statement of statements) this.#run(statement);
      });
    } catch (error) {
      if (CHECK_FAILED.test(String(error))) return false;
      throw error;
    }
    if (this.#watchers.size > 0) this.#watchers.changed(changedBy(commit));
    return true;
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    return this.#watchers.watch(prefix);
  }

  async sweep(): Promise<number> {
    if (!this.#guard.maySweep()) return 0;
    for (let removed = 0;;) {
      const [sql, ...parameters] = sweepSome(this.#now(), SWEEP_BATCH_RECORDS);
      const gone = this.#run([`${sql} RETURNING 1`, ...parameters]).length;
      removed += gone;
      if (gone < SWEEP_BATCH_RECORDS) return removed;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watchers.close();
  }

  #run([sql, ...parameters]: Statement): unknown[] {
    if (this.#closed) throw new StoreClosedError();
    return this.#storage.sql.exec(sql, ...parameters).toArray();
  }
}
