/**
 * The load's side of one connection: as little HTTP/1.1 as these servers speak, since whatever the load costs hides what
 * the servers cost. One request at a time, on loopback, answers of ASCII with a length or in chunks.
 *
 * @module
 */
import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  /** The lines between the status line and the body. */
  readonly head: string;
  readonly body: string;
}

export class Connection {
  readonly #socket: Socket;
  #received = "";
  #settle: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.setNoDelay(true);
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (text) => {
      this.#received += text;
      const answer = readAnswer(this.#received);
      if (!answer) return;
      this.#received = "";
      this.#settle?.resolve(answer);
    });
    this.#socket.on("error", (error) => this.#settle?.reject(error));
    this.#socket.on("close", () => this.#settle?.reject(new Error("The server closed the connection")));
  }

  /** Servers close connections that wait long. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded;
  }

  /** @param fields lines that end with CRLF, without host and length */
  send(method: "GET" | "POST", path: string, fields: string, body = ""): Promise<Answer> {
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

/** The answer, once all of it is there. */
function readAnswer(text: string): Answer | undefined {
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
  return rest.endsWith("0\r\n\r\n") ? { status, head, body: readChunks(rest) } : undefined;
}

function readChunks(text: string): string {
  let body = "";
  for (let at = 0;;) {
    const line = text.indexOf("\r\n", at);
    const length = parseInt(text.slice(at, line), 16);
    if (!(length > 0)) return body;
    body += text.slice(line + 2, line + 2 + length);
    at = line + 2 + length + 2;
  }
}
