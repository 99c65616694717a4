/**
 * A small round-robin balancer: every request, not every connection, goes to the next instance, and its answer says to
 * which (`x-instance`). One that does not answer is passed over for a request that has not been sent yet.
 *
 * @module
 */
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";

export class Balancer {
  /** Where the instances listen, as `http://host:port`. */
  instances: readonly string[] = [];
  url = "";
  #turn = 0;
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #server: Server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing, 0));

  start(port: number = 0): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", () => {
        this.url = `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
        resolve();
      });
    });
  }

  stop(): Promise<unknown> {
    this.#agent.destroy();
    this.#server.closeAllConnections?.();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse, tries: number): void {
    const number = this.#turn++ % this.instances.length;
    const { hostname, port } = new URL(this.instances[number]!);
    const { method = "GET", url = "/", headers } = incoming;
    const forwarded = request(
      { agent: this.#agent, hostname, port, method, path: url, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, { ...answer.headers, "x-instance": String(number) });
        answer.pipe(outgoing);
      },
    );
    forwarded.on("error", (error: Error & { code?: string }) => {
      if (outgoing.headersSent) return void outgoing.destroy();
      // Nobody was there to hear it, so the next one may.
      if (error.code === "ECONNREFUSED" && tries < this.instances.length) {
        return this.#pass(incoming, outgoing, tries + 1);
      }
      outgoing.writeHead(502, { "content-type": "text/plain" }).end("The instance broke off.\n");
    });
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  }
}
