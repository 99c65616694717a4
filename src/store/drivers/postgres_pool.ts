/**
 * Connections to PostgreSQL through postgres.js, for statements that may be given up and for an engine that goes away.
 *
 * postgres.js 3.4 forgets, when a connection breaks, that what it was about to write was not written: the connection
 * that it opens in its place never sends anything, and each statement that it is given waits in vain. So when a
 * connection breaks under a statement, all of them are replaced by new ones, and statements that were not sent go there.
 *
 * @module
 */
import postgres from "postgres";

/** The parts of a query of postgres.js that its types leave out. */
interface SentQuery extends PromiseLike<readonly unknown[]> {
  /** `null` until it is sent. */
  readonly state: unknown;
  cancelled: unknown;
  strings: string[];
  args: unknown[];
  cancel(): void;
}

/** A statement and where its answer goes. */
interface Call {
  readonly statement: string;
  readonly parameters: readonly unknown[];
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (reason: unknown) => void;
  query: SentQuery;
}

/** A statement that was asked for. */
export interface Asked<Row> {
  readonly rows: Promise<readonly Row[]>;
  /** Takes it back if it is not sent yet. */
  takeBack(): void;
}

/** What a broken connection rejects the statement with that it was to answer. */
const BROKEN = /^(CONNECTION_[A-Z]+|E[A-Z]+|08...|57P0[12])$/;
/** Seconds that statements which are under way on replaced connections have to end. */
const END_TIMEOUT = 5;

export class PostgresPool {
  readonly #open: () => postgres.Sql;
  readonly #prepares: boolean;
  #sql: postgres.Sql;
  #listener: postgres.Sql | undefined;
  #calls = new Set<Call>();
  #ended = false;

  /** @param prepares whether statements are prepared by name */
  constructor(url: string, options: postgres.Options<Record<never, never>>, prepares: boolean) {
    this.#open = () => postgres(url, options);
    this.#prepares = prepares;
    this.#sql = this.#open();
  }

  /** Sends a statement. */
  ask<Row>(statement: string, parameters: readonly unknown[]): Asked<Row> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
    const call = { statement, parameters, resolve, reject } as unknown as Call;
    this.#send(call);
    return { rows: promise as Promise<readonly Row[]>, takeBack: () => takeBack(call.query) };
  }

  /** Runs work in one transaction. */
  transact<Result>(work: (sql: postgres.TransactionSql) => Promise<Result>): Promise<Result> {
    return this.#sql.begin(work) as Promise<Result>;
  }

  /** Hears a channel, over a connection of its own that is opened again when it breaks. */
  listen(channel: string, heard: (payload: string) => void, listening: () => void): Promise<unknown> {
    this.#listener ??= this.#open();
    return this.#listener.listen(channel, heard, listening);
  }

  /** Lets what is under way end, within a time, and closes all connections. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all([this.#sql, this.#listener].map((sql) => sql?.end({ timeout: END_TIMEOUT })));
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
      // One that was not sent tells nothing: an engine that is down refuses new connections.
      const code = String((error as { code?: unknown } | undefined)?.code ?? "");
      if (query.state !== null && sql === this.#sql && BROKEN.test(code)) this.#replace();
    });
  }

  /** Opens new connections for all that is not sent yet, and lets the others end. */
  #replace(): void {
    if (this.#ended) return;
    const before = this.#sql;
    this.#sql = this.#open();
    for (const call of [...this.#calls]) {
      const { query } = call;
      if (query.state !== null) continue;
      this.#send(call);
      takeBack(query);
    }
    before.end({ timeout: END_TIMEOUT }).catch(() => {});
  }
}

/**
 * Takes back what is not sent yet. What is sent is never cancelled: postgres.js 3.4 forgets a cancelled query whose
 * answer still comes, and gives that answer to the next one.
 */
function takeBack(query: SentQuery): void {
  if (query.state !== null) return;
  query.cancel();
  // A connection that is being opened holds on to the query that it was opened for. Were that passed over, as cancelled
  // ones are, the connection would wait for its answer ever after: so it asks for nothing instead.
  query.cancelled = null;
  query.strings = ["SELECT"];
  query.args = [];
}
