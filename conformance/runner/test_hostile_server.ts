/**
 * A server with one fault per path, for the tests of the runner. Imported by tests only.
 *
 * @module
 */
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface HostileServer {
  readonly url: string;
  /** Connections that are open now. */
  open(): number;
  close(): Promise<void>;
}

const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

/** What the server writes, by path. Connections that are not ended stay open. */
const WRONGS: Readonly<Record<string, (socket: Socket) => void>> = {
  "/hangs": () => {},
  "/hangs-in-fields": (socket) => void socket.write(HEAD),
  "/hangs-in-body": (socket) => void socket.write(`${HEAD}Content-Length: 10\r\n\r\nabc`),
  "/closes": (socket) => void socket.end(),
  "/resets": (socket) => void socket.resetAndDestroy(),
  "/closes-in-fields": (socket) => void socket.end(HEAD),
  "/says-too-much": (socket) => void socket.end(`${HEAD}Content-Length: 100\r\n\r\nshort`),
  "/says-too-little": (socket) => void socket.end(`${HEAD}Content-Length: 3\r\n\r\nmuch longer`),
  "/says-two-lengths": (socket) =>
    void socket.end(`${HEAD}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde`),
  "/says-no-number": (socket) => void socket.end(`${HEAD}Content-Length: -3\r\n\r\nabc`),
  "/cuts-chunks": (socket) => void socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nab`),
  "/writes-no-chunks": (socket) => void socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\nab`),
  "/overruns-chunks": (socket) =>
    void socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n`),
  "/is-no-http": (socket) => void socket.end("\x00\x01\x02 SSH-2.0-nothing\r\n\r\n"),
  "/has-no-names": (socket) => void socket.end("HTTP/1.1 200 OK\r\nnothing here\r\n\r\n"),
  "/floods": (socket) => writeOn(socket, `${HEAD}\r\n`, "x".repeat(65_536)),
  "/floods-fields": (socket) => writeOn(socket, "HTTP/1.1 200 OK\r\n", `X-More: ${"x".repeat(1000)}\r\n`),
  "/floods-a-line": (socket) => writeOn(socket, "", "x".repeat(65_536)),
  "/floods-interim": (socket) => writeOn(socket, "", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(40)),
  "/floods-events": (socket) =>
    writeOn(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", "data: 1\n\n".repeat(1000)),
  "/drips": (socket) => {
    socket.write(`${HEAD}\r\n`);
    const timer = setInterval(() => socket.write("x"), 20);
    socket.on("close", () => clearInterval(timer));
  },
  "/is-right": (socket) => void socket.end(`${HEAD}Content-Length: 5\r\n\r\nright`),
  "/is-right-after-interim": (socket) =>
    void socket.end(
      `HTTP/1.1 100 Continue\r\n\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nright\r\n0\r\nT: 1\r\n\r\n`,
    ),
  "/is-right-until-close": (socket) => void socket.end(`${HEAD}\r\nright`),
  "/answers-early": (socket) =>
    void socket.end("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"),
};

/** Writes the same text repeatedly until the connection closes. */
export function writeOn(socket: Socket, start: string, more: string): void {
  socket.write(start);
  const go = () => {
    while (!socket.destroyed && more !== "" && socket.write(more));
    if (!socket.destroyed && more !== "") socket.once("drain", () => setTimeout(go));
  };
  go();
}

/** A TCP server that calls `act` for each connection, after its first bytes. */
export async function serveRaw(
  act: (socket: Socket, asked: string) => void,
): Promise<Omit<HostileServer, "open">> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.once("data", (chunk) => act(socket, String(chunk)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function startHostileServer(): Promise<HostileServer> {
  const open = new Set<Socket>();
  const server = await serveRaw((socket, asked) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    WRONGS[/^\S+ (\S+)/.exec(asked)?.[1] ?? ""]?.(socket);
  });
  return { ...server, open: () => open.size };
}
