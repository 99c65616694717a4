/**
 * A client of an open event stream: only a socket, because thousands of them are open at the same time.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { connect, type Socket } from "node:net";
import { type Message, Unsupported } from "./wire.ts";

const OPEN_TIMEOUT_MS = 5000;

/** Opens an event stream. Resolves to its socket after the stream has sent `start`. */
export function openStream(
  port: number,
  { method, headers, body = "" }: Message,
  start = "",
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    const timer = setTimeout(() => finish(`no stream within ${OPEN_TIMEOUT_MS} ms`), OPEN_TIMEOUT_MS);
    const finish = (problem?: string) => {
      clearTimeout(timer);
      socket.removeAllListeners("data");
      socket.resume();
      if (problem === undefined) return resolve(socket);
      socket.destroy();
      reject(new Unsupported(problem));
    };
    socket.setEncoding("latin1").on("error", (error) => finish(String(error)));
    socket.on("close", () => finish("the connection was closed"));
    socket.on("data", (text: string) => {
      received += text;
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const status = Number(received.slice(9, 12));
      const head = received.slice(0, end);
      if (status !== 200 || !/content-type: *text\/event-stream/i.test(head)) {
        finish(`status ${status}: ${received.slice(end + 4, end + 204).trim()}`);
      } else if (received.includes(start, end)) finish();
    });
    const fields = Object.entries({ host: `127.0.0.1:${port}`, ...headers });
    if (body !== "") fields.push(["content-length", String(body.length)]);
    const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(`${method} /mcp HTTP/1.1\r\n${head}\r\n${body}`, "latin1");
  });
}

/** Reads the maximum number of open files of a process. Each stream needs one, here and in the server. */
export function readMaxOpenFiles(): number {
  const limit = execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" })
    .trim();
  return limit === "unlimited" ? Infinity : Number(limit);
}
