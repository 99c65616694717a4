/**
 * A TCP proxy in front of an engine that simulates network faults: it refuses connections, closes all connections, makes them
 * silent, or forwards a message of the client and closes the connection before the response.
 *
 * @module
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export class CutProxy {
  port = 0;
  /** How often a connection was closed between a message and its response. */
  cuts = 0;
  /** The port of the engine, for new connections. */
  target: number;
  #server: Server;
  #pairs = new Set<readonly [Socket, Socket]>();
  #silent = new WeakSet<readonly [Socket, Socket]>();
  #refusing = false;
  #isNextCut: ((sent: string) => boolean) | undefined;

  constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  start(): Promise<void> {
    return new Promise((resolve) =>
      this.#server.listen(this.port, "127.0.0.1", () => {
        this.port = (this.#server.address() as { port: number }).port;
        resolve();
      })
    );
  }

  /** Closes every connection and refuses new ones, until `pass()`. */
  refuse(): void {
    this.#refusing = true;
    for (const pair of this.#pairs) this.#cut(pair);
  }

  pass(): void {
    this.#refusing = false;
  }

  /** Forwards nothing more on the open connections, as a router that has forgotten them. New ones work. */
  silence(): void {
    for (const pair of this.#pairs) this.#silent.add(pair);
  }

  /** Closes the connection after the next message of a client that matches, before the response of the engine. */
  cutResponseTo(matches: (sent: string) => boolean): void {
    this.#isNextCut = matches;
  }

  stop(): Promise<unknown> {
    this.refuse();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    if (this.#refusing) return void client.resetAndDestroy();
    const engine = connect(this.target, "127.0.0.1");
    const pair = [client, engine] as const;
    this.#pairs.add(pair);
    let isCut = false;
    client.on("data", (data) => {
      if (this.#silent.has(pair)) return;
      if (this.#isNextCut?.(data.toString("latin1"))) {
        this.#isNextCut = undefined;
        isCut = true;
        this.cuts++;
      }
      engine.write(data);
    });
    engine.on("data", (data) => {
      if (this.#silent.has(pair)) return;
      // The engine has processed the message; the client does not receive the response.
      if (isCut) return this.#cut(pair);
      client.write(data);
    });
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on("error", () => this.#cut(pair));
      socket.on("close", () => this.#cut(pair));
    }
  }

  #cut(pair: readonly [Socket, Socket]): void {
    if (!this.#pairs.delete(pair)) return;
    for (const socket of pair) socket.destroy();
  }
}
