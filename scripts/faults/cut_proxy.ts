/**
 * A TCP proxy before an engine that can be told to misbehave: to refuse, to cut everything, or to pass what a client
 * sends and cut the connection before the answer comes back.
 *
 * @module
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export class CutProxy {
  port = 0;
  /** How often a connection was cut between a message and its answer. */
  cuts = 0;
  #target: number;
  #server: Server;
  #pairs = new Set<readonly [Socket, Socket]>();
  #refusing = false;
  #cutNext: ((sent: string) => boolean) | undefined;

  constructor(target: number) {
    this.#target = target;
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

  /** Cuts every connection and lets none in, until `pass()`. */
  refuse(): void {
    this.#refusing = true;
    for (const pair of this.#pairs) this.#cut(pair);
  }

  pass(): void {
    this.#refusing = false;
  }

  /** The next message that a client sends and that looks so reaches the engine; its answer reaches nobody. */
  cutAnswerTo(looks: (sent: string) => boolean): void {
    this.#cutNext = looks;
  }

  stop(): Promise<unknown> {
    this.refuse();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    if (this.#refusing) return void client.resetAndDestroy();
    const engine = connect(this.#target, "127.0.0.1");
    const pair = [client, engine] as const;
    this.#pairs.add(pair);
    let isCut = false;
    client.on("data", (data) => {
      if (this.#cutNext?.(data.toString("latin1"))) {
        this.#cutNext = undefined;
        isCut = true;
        this.cuts++;
      }
      engine.write(data);
    });
    engine.on("data", (data) => {
      // The engine has done it, and nobody hears.
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
