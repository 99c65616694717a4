/**
 * The connection of a store to its database: statements within the timeout of the address, and which errors are temporary.
 *
 * @module
 */
import { type EngineTimeout, withinTimeout } from "../engine_timeout.ts";
import { codeOf } from "./commits.ts";
import { PostgresPool, type Transaction } from "./pool.ts";
import { BY_INDEX, readAddress } from "./rows.ts";

/** The timeout of the server for a statement, as a part of that of the caller. */
const STATEMENT_TIMEOUT_RATIO = 0.9;

export class PostgresConnection {
  readonly schema: string;
  /** How long a caller waits for an answer. */
  readonly timeoutMs: number;
  /** Whether a pooler in transaction mode is in front of the database. It supports no settings of one client, and no LISTEN. */
  readonly isPooled: boolean;
  readonly #pool: PostgresPool;
  readonly #timeout: EngineTimeout;
  #isTlsRefused = false;
  #isClosed = false;

  /** Connects at the first statement. @throws {TypeError} for an invalid address */
  constructor(address: string) {
    const { url, schema, timeout, pooled, max } = readAddress(address);
    this.schema = schema;
    this.timeoutMs = timeout * 1000;
    this.isPooled = pooled;
    this.#timeout = {
      engine: "PostgreSQL",
      milliseconds: this.timeoutMs,
      reasonOf: (error) =>
        this.#isClosed || !isUnavailable(error)
          ? undefined
          : this.#isTlsRefused
          ? "it refused TLS, which sslmode requires"
          : codeOf(error),
    };
    this.#pool = new PostgresPool(url, {
      max,
      fetch_types: false,
      onnotice: () => {},
      onTlsAnswer: (isAccepted) => this.#isTlsRefused = !isAccepted,
      // Finds a server that is available again within half a second, without flooding one that is down.
      backoff: (retries: number) => Math.min(0.05 * 2 ** Math.min(retries, 10), 0.5),
      ...(!/[?&]connect_timeout=/.test(address) && { connect_timeout: timeout }),
      ...(!pooled && {
        settings: {
          // The server gives up before the caller does, so that waiting statements do not add up.
          statement_timeout: Math.ceil(this.timeoutMs * STATEMENT_TIMEOUT_RATIO),
          ...BY_INDEX,
        },
      }),
    }, !pooled);
  }

  /** Whether `close()` was called. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The rows of a statement. @throws {StoreUnavailableError} when the engine does not answer in time or is unavailable */
  run<Row>(statement: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    const { rows, cancel } = this.#pool.run<Row>(statement, parameters);
    return this.inTime(rows, cancel);
  }

  /** Runs work in one transaction. */
  transact<Result>(work: (sql: Transaction) => Promise<Result>): Promise<Result> {
    return this.inTime(this.#pool.transact(work));
  }

  /** Listens to a channel, and again by itself after each interruption. `onListening` is called each time. */
  listen(channel: string, onPayload: (payload: string) => void, onListening: () => void): Promise<unknown> {
    return this.inTime(this.#pool.listen(channel, onPayload, onListening));
  }

  /** Replaces the listening connection unless it answers: only a statement shows that the peer is gone. */
  async checkListener(): Promise<void> {
    await this.inTime(this.#pool.probeListener()).catch(() => this.#pool.replaceListener());
  }

  /** The result of something that was sent, or an error when it takes too long. @param cancel gives it up then */
  inTime<Result>(answer: Promise<Result>, cancel?: () => unknown): Promise<Result> {
    return withinTimeout(this.#timeout, answer, cancel);
  }

  /** Errors of statements that are still pending are no longer temporary. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.end();
  }
}

/**
 * Whether the error is temporary: of the network, or of a server that stops, starts, is full or is a standby
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html, classes 08, 53, 57, and 25006).
 */
function isUnavailable(error: unknown): boolean {
  return /^(E[A-Z_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|08...|53...|57P0.|57014|55P03|25006)$/.test(
    codeOf(error),
  );
}
