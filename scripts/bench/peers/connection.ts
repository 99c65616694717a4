/**
 * A minimal HTTP/1.1 client for the compared servers, because the cost of the client must not hide the cost of the servers.
 * It sends one request at a time, on loopback, and reads ASCII responses with a length or in chunks.
 *
 * @module
 */
import { connect, type Socket } from "node:net";

export interface HttpResponse {
  readonly status: number;
  /** The lines between the status line and the body. */
  readonly head: string;
  readonly body: string;
}

export class Connection {
  readonly #socket: Socket;
  #received = "";
  #settle: { resolve(response: HttpResponse): void; reject(error: Error): void } | undefined;

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.setNoDelay(true);
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (text) => {
      this.#received += text;
      const response = parseResponse(this.#received);
      if (!response) return;
      this.#received = "";
      this.#settle?.resolve(response);
    });
    this.#socket.on("error", (error) => this.#settle?.reject(error));
    this.#socket.on("close", () => this.#settle?.reject(new Error("The server closed the connection")));
  }

  /** Servers close idle connections. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded;
  }

  /** @param fields lines that end with CRLF, without host and length */
  send(method: "GET" | "POST", path: string, fields: string, body = ""): Promise<HttpResponse> {
    const length = method === "POST" ? `content-length: ${body.length}\r\n` : "";
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields}${length}\r\n${body}`,
        "latin1",
      );
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }
}

/** Parses a response; `undefined` until it is complete. */
function parseResponse(text: string): HttpResponse | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = text.slice(0, end + 2);
  const rest = text.slice(end + 4);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    return rest.length < Number(length) ? undefined : { status, head, body: rest };
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return { status, head, body: "" };
  return rest.endsWith("0\r\n\r\n") ? { status, head, body: parseChunks(rest) } : undefined;
}

function parseChunks(text: string): string {
  let body = "";
  for (let at = 0;;) {
    const line = text.indexOf("\r\n", at);
    const length = parseInt(text.slice(at, line), 16);
    if (!(length > 0)) return body;
    body += text.slice(line + 2, line + 2 + length);
    at = line + 2 + length + 2;
  }
}
