/**
 * Connections to PostgreSQL through postgres.js, for statements with a timeout and for an engine that restarts.
 *
 * When a connection breaks, postgres.js 3.4 opens a new one that never sends anything, because it still waits for a write
 * of the old one; every statement on it hangs. So when a connection breaks during a statement, all connections are
 * replaced, and statements that were not sent go to the new ones.
 *
 * @module
 */
import postgres from "postgres";

/** Members of a query of postgres.js that are missing in its types. */
interface SentQuery extends PromiseLike<readonly unknown[]> {
  /** `null` until it is sent. */
  readonly state: unknown;
  cancelled: unknown;
  strings: string[];
  args: unknown[];
  cancel(): void;
}

/** A statement and the functions that settle its promise. */
interface Call {
  readonly statement: string;
  readonly parameters: readonly unknown[];
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (reason: unknown) => void;
  query: SentQuery;
}

/** A statement and its result. */
export interface RunningStatement<Row> {
  readonly rows: Promise<readonly Row[]>;
  /** Cancels the statement if it was not sent yet. */
  cancel(): void;
}

/** The error codes of a statement whose connection broke. */
const BROKEN = /^(CONNECTION_[A-Z]+|E[A-Z]+|08...|57P0[12])$/;
/**
 * One statement at a time on a connection through pgbouncer in transaction mode: postgres.js sends an unprepared statement
 * in two parts, and pgbouncer gives the server connection to another client between them when an earlier statement of the
 * same connection ends then. Both parts wait forever.
 */
const ONE_AT_A_TIME = { prepare: false, max_pipeline: 0 };
/** How long pending statements on replaced connections may take to end. */
const END_TIMEOUT_SECONDS = 5;

export class PostgresPool {
  readonly #open: () => postgres.Sql;
  readonly #openAlone: () => postgres.Sql;
  readonly #prepares: boolean;
  #sql: postgres.Sql;
  #listener: postgres.Sql | undefined;
  #calls = new Set<Call>();
  #ended = false;

  /** @param prepares whether statements are prepared by name */
  constructor(url: string, options: postgres.Options<Record<never, never>>, prepares: boolean) {
    const each = prepares ? options : { ...options, ...ONE_AT_A_TIME };
    this.#open = () => postgres(url, each);
    this.#openAlone = () => postgres(url, { ...options, prepare: prepares, max: 1 });
    this.#prepares = prepares;
    this.#sql = this.#open();
  }

  /** Sends a statement. */
  run<Row>(statement: string, parameters: readonly unknown[]): RunningStatement<Row> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
    const call = { statement, parameters, resolve, reject } as unknown as Call;
    this.#send(call);
    return { rows: promise as Promise<readonly Row[]>, cancel: () => cancelUnsent(call.query) };
  }

  /** Runs work in one transaction, on a connection of its own: postgres.js cannot begin one with `ONE_AT_A_TIME`. @param mode such as `READ ONLY` */
  async transact<Result>(
    work: (sql: postgres.TransactionSql) => Promise<Result>,
    mode = "",
  ): Promise<Result> {
    const alone = this.#openAlone();
    try {
      return await alone.begin(mode, work) as Result;
    } finally {
      await alone.end({ timeout: END_TIMEOUT_SECONDS });
    }
  }

  /** Listens to a channel, on a connection of its own that reopens when it breaks. */
  listen(channel: string, onPayload: (payload: string) => void, onListening: () => void): Promise<unknown> {
    this.#listener ??= this.#open();
    return this.#listener.listen(channel, onPayload, onListening);
  }

  /** Waits for pending statements, up to a timeout, and closes all connections. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all([this.#sql, this.#listener].map((sql) => sql?.end({ timeout: END_TIMEOUT_SECONDS })));
  }

  #send(call: Call): void {
    const query = this.#sql.unsafe(
      call.statement,
      call.parameters as postgres.ParameterOrJSON<never>[],
      { prepare: this.#prepares },
    ) as unknown as SentQuery;
    call.query = query;
    this.#calls.add(call);
    const sql = this.#sql;
    query.then((rows) => {
      if (call.query !== query) return;
      this.#calls.delete(call);
      call.resolve(rows);
    }, (error) => {
      if (call.query !== query) return;
      this.#calls.delete(call);
      call.reject(error);
      // A statement that was not sent proves nothing: an engine that is down refuses new connections.
      const code = String((error as { code?: unknown } | undefined)?.code ?? "");
      if (query.state !== null && sql === this.#sql && BROKEN.test(code)) this.#replace();
    });
  }

  /** Opens new connections for the statements that were not sent, and lets the others end. */
  #replace(): void {
    if (this.#ended) return;
    const before = this.#sql;
    this.#sql = this.#open();
    for (const call of [...this.#calls]) {
      const { query } = call;
      if (query.state !== null) continue;
      this.#send(call);
      cancelUnsent(query);
    }
    before.end({ timeout: END_TIMEOUT_SECONDS }).catch(() => {});
  }
}

/**
 * Cancels a query that was not sent yet. Sent queries are never cancelled: postgres.js 3.4 gives the answer of a cancelled
 * query to the next one.
 */
function cancelUnsent(query: SentQuery): void {
  if (query.state !== null) return;
  query.cancel();
  // A connection that is opening keeps the query that it was opened for. If it skipped that query, as it does with
  // cancelled ones, it would wait for an answer forever. So it runs an empty query instead.
  query.cancelled = null;
  query.strings = ["SELECT"];
  query.args = [];
}
