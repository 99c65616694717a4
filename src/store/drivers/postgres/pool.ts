/**
 * Connections to PostgreSQL through postgres.js, for statements with a timeout and for an engine that restarts.
 *
 * When a connection breaks, postgres.js 3.4 opens a new one that never sends anything, because it still waits for a write
 * of the old one; every statement on it hangs. So when a connection breaks during a statement, or no longer answers, all
 * connections are replaced, and statements that were not sent go to the new ones. The same when a server does not write,
 * as a primary that a failover made a standby: its connections stay open.
 *
 * @module
 */
import postgres from "postgres";
import { codeOf } from "./commits.ts";

/** Members of a query of postgres.js that are missing in its types. */
interface SentQuery extends PromiseLike<readonly unknown[]> {
  /** An object for each connection; `null` until it is sent. */
  readonly state: object | null;
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
  /** The connections of `query`. */
  on: Connections;
  /** By `performance.now()`. */
  since: number;
}

/** A statement and its result. */
export interface RunningStatement<Row> {
  readonly rows: Promise<readonly Row[]>;
  /** Gives up the statement: cancels it if it was not sent yet, else replaces a connection that no longer answers. */
  cancel(): void;
}

/** How a pool connects. */
export interface PoolOptions extends postgres.Options<Record<never, never>> {
  /** Settings of the server for statements outside of `transact`. Poolers that do not pass them are used without them. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Called when a server answered a request for TLS. */
  readonly onTlsAnswer?: (isAccepted: boolean) => void;
}

/** The statements of one transaction. */
export type Transaction = postgres.TransactionSql;

/** The error codes of a statement whose connection broke. */
const BROKEN = /^(CONNECTION_[A-Z]+|E[A-Z]+|08...|57P0[12])$/;
/** The code of a write to a standby: since a failover, the address may lead to another server. */
const READ_ONLY = "25006";
/** Connections to a standby are replaced no more often, as the address may still lead to it. */
const READ_ONLY_INTERVAL_MS = 1000;
/**
 * One statement at a time on a connection through pgbouncer in transaction mode: postgres.js sends an unprepared statement
 * in two parts, and pgbouncer gives the server connection to another client between them when an earlier statement of the
 * same connection ends then. Both parts wait forever.
 */
const ONE_AT_A_TIME = { prepare: false, max_pipeline: 0 };
/** How long pending statements on replaced connections may take to end. */
const END_TIMEOUT_SECONDS = 5;

/** The only channel that no one sends to: listening to it shows whether a connection answers. */
const PROBE_CHANNEL = "trivet_probe";
/** A setting that a pooler does not pass (https://www.pgbouncer.org/config.html#ignore_startup_parameters). */
const REFUSED_SETTING = "08P01";

/** The answer of a server that does not use TLS: `N`. */
const TLS_REFUSED = 78;

/** The part of `node:net` that is used. */
interface Net {
  connect(port: number, host: string | undefined): Socket;
  connect(path: string): Socket;
}
interface Socket {
  readonly destroyed: boolean;
  once(event: "data", listener: (bytes: Uint8Array) => void): unknown;
  destroy(): unknown;
}
/** Not imported, so that this file loads on workerd too, where postgres.js has sockets of its own. */
const net = globalThis.navigator?.userAgent === "Cloudflare-Workers"
  ? undefined
  : (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process
    ?.getBuiltinModule?.("node:net") as Net | undefined;

/** The connections of one instance of postgres.js. */
class Connections {
  readonly sql: postgres.Sql;
  /** By `performance.now()`. */
  readonly since: number = performance.now();
  readonly #sockets = new Set<Socket>();
  readonly #onTlsAnswer: PoolOptions["onTlsAnswer"];

  constructor(url: string, { onTlsAnswer, ...options }: Omit<PoolOptions, "settings">) {
    this.#onTlsAnswer = onTlsAnswer;
    // postgres.js itself tries several hosts in turn.
    const isOwn = net && !("socket" in options) && !/^[^/]*\/\/[^/?]*,/.test(url);
    const socket = (given: ConnectOptions) => this.#connect(net!, given);
    this.sql = postgres(url, isOwn ? { ...options, socket } as typeof options : options);
  }

  #connect(net: Net, { host: [host], port: [port], path }: ConnectOptions): Socket {
    const socket = path ? net.connect(path) : net.connect(port!, host);
    for (const each of this.#sockets) if (each.destroyed) this.#sockets.delete(each);
    this.#sockets.add(socket);
    // https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL
    socket.once("data", ({ 0: first, length }) => {
      if (length === 1) this.#onTlsAnswer?.(first !== TLS_REFUSED);
    });
    // postgres.js reads them for TLS and for messages.
    return Object.assign(socket, { host, port });
  }

  /** Waits for pending statements, up to a timeout, and closes all connections, also those that no longer answer. */
  async end(): Promise<void> {
    await this.sql.end({ timeout: END_TIMEOUT_SECONDS });
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** What postgres.js passes to its option `socket`. */
interface ConnectOptions {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
}

export class PostgresPool {
  #open: () => Connections;
  readonly #openAlone: () => Connections;
  readonly #prepares: boolean;
  #current: Connections;
  #listener: Connections | undefined;
  /** The channel of the listening connection. */
  #channel = PROBE_CHANNEL;
  /** Listens again, on new connections. */
  #listenAgain = (): void => {};
  #calls = new Set<Call>();
  /** When a connection last answered, by `performance.now()`. */
  #answered = new WeakMap<object, number>();
  /** Opens connections without the settings, of which a pooler refused one. */
  #withoutSettings: (() => Connections) | undefined;
  #ended = false;

  /** @param prepares whether statements are prepared by name */
  constructor(url: string, { settings, ...options }: PoolOptions, prepares: boolean) {
    const each = prepares ? options : { ...options, ...ONE_AT_A_TIME };
    const open = () => new Connections(url, each);
    this.#open = open;
    if (settings) {
      const connection = { ...options.connection, ...settings };
      this.#open = () => new Connections(url, { ...each, connection });
      this.#withoutSettings = open;
    }
    this.#openAlone = () => new Connections(url, { ...options, prepare: prepares, max: 1 });
    this.#prepares = prepares;
    this.#current = this.#open();
  }

  /** Sends a statement. */
  run<Row>(statement: string, parameters: readonly unknown[]): RunningStatement<Row> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
    const call = { statement, parameters, resolve, reject } as unknown as Call;
    this.#send(call);
    return { rows: promise as Promise<readonly Row[]>, cancel: () => this.#giveUp(call) };
  }

  /** Runs work in one transaction, on a connection of its own: postgres.js cannot begin one with `ONE_AT_A_TIME`. @param mode such as `READ ONLY` */
  async transact<Result>(
    work: (sql: Transaction) => Promise<Result>,
    mode = "",
  ): Promise<Result> {
    const alone = this.#openAlone();
    try {
      return await alone.sql.begin(mode, work) as Result;
    } finally {
      await alone.end();
    }
  }

  /** Listens to a channel, on a connection of its own that reopens when it breaks. */
  listen(channel: string, onPayload: (payload: string) => void, onListening: () => void): Promise<unknown> {
    this.#listener ??= this.#open();
    this.#channel = channel;
    const listen = () => this.#listener!.sql.listen(channel, onPayload, onListening);
    // postgres.js retries by itself.
    this.#listenAgain = () => void listen().catch(() => {});
    return listen();
  }

  /** Resolves when the listening connection listens and answers. */
  async probeListener(): Promise<void> {
    // The outcome of LISTEN, which postgres.js does not repeat where a server refused it, as a standby does. The other one
    // is sent each time.
    for (const channel of [this.#channel, PROBE_CHANNEL]) {
      const probe = await this.#listener?.sql.listen(channel, () => {});
      await probe?.unlisten();
    }
  }

  /** Listens on a new connection instead of one that does not answer. */
  replaceListener(): void {
    if (!this.#listener || this.#ended) return;
    this.#listener.end().catch(() => {});
    this.#listener = this.#open();
    this.#listenAgain();
  }

  /** Waits for pending statements, up to a timeout, and closes all connections. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all([this.#current.end(), this.#listener?.end()]);
  }

  #send(call: Call): void {
    const on = this.#current;
    const query = on.sql.unsafe(
      call.statement,
      call.parameters as postgres.ParameterOrJSON<never>[],
      { prepare: this.#prepares },
    ) as unknown as SentQuery;
    call.query = query;
    call.on = on;
    call.since = performance.now();
    this.#calls.add(call);
    query.then((rows) => {
      this.#answered.set(query.state!, performance.now());
      if (call.query !== query) return;
      this.#calls.delete(call);
      call.resolve(rows);
    }, (error) => {
      if (call.query !== query) return;
      this.#calls.delete(call);
      const code = codeOf(error);
      if (query.state === null && code === REFUSED_SETTING && this.#dropSettings(on)) return this.#send(call);
      call.reject(error);
      // A statement that was not sent proves nothing: an engine that is down refuses new connections.
      if (query.state === null) return;
      const isBroken = BROKEN.test(code);
      if (!isBroken) this.#answered.set(query.state, performance.now());
      const isStandby = code === READ_ONLY && performance.now() - on.since >= READ_ONLY_INTERVAL_MS;
      if ((isBroken || isStandby) && on === this.#current) this.#replace();
    });
  }

  #giveUp({ query, on, since }: Call): void {
    if (query.state === null) return cancelUnsent(query);
    if (on === this.#current && (this.#answered.get(query.state) ?? -Infinity) < since) this.#replace();
  }

  /** Connects without the settings from now on. Returns whether the statement can be sent again. */
  #dropSettings(refused: Connections): boolean {
    if (!this.#withoutSettings) return refused !== this.#current;
    this.#open = this.#withoutSettings;
    this.#withoutSettings = undefined;
    this.#replace();
    return true;
  }

  /** Opens new connections for the statements that were not sent, and lets the others end. */
  #replace(): void {
    if (this.#ended) return;
    const before = this.#current;
    this.#current = this.#open();
    for (const call of [...this.#calls]) {
      const { query } = call;
      if (query.state !== null) continue;
      this.#send(call);
      cancelUnsent(query);
    }
    before.end().catch(() => {});
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
