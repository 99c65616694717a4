/**
 * A small round-robin balancer: every request, not every connection, is forwarded to the next instance, which the response
 * names in `x-instance`. A request that an instance has not received yet is retried at the next one.
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
  /** URLs of the instances, `http://host:port`. */
  instances: readonly string[] = [];
  url = "";
  #next = 0;
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #server: Server = createServer((incoming, outgoing) => this.#forward(incoming, outgoing, 0));

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

  #forward(incoming: IncomingMessage, outgoing: ServerResponse, tries: number): void {
    const index = this.#next++ % this.instances.length;
    const { hostname, port } = new URL(this.instances[index]!);
    const { method = "GET", url = "/", headers } = incoming;
    const forwarded = request(
      { agent: this.#agent, hostname, port, method, path: url, headers },
      (response) => {
        outgoing.writeHead(response.statusCode!, { ...response.headers, "x-instance": String(index) });
        response.pipe(outgoing);
      },
    );
    forwarded.on("error", (error: Error & { code?: string }) => {
      if (outgoing.headersSent) return void outgoing.destroy();
      // The instance did not receive the request, so another one may.
      if (error.code === "ECONNREFUSED" && tries < this.instances.length) {
        return this.#forward(incoming, outgoing, tries + 1);
      }
      outgoing.writeHead(502, { "content-type": "text/plain" }).end(
        "Bad gateway: the instance closed the connection.\n",
      );
    });
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  }
}
