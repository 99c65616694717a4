/**
 * Sends HTTP/1.1 requests over TCP or TLS, one connection each. Every byte is sent as the vector states it
 * (a foreign `Host`, invalid framing), and every received byte is kept.
 *
 * @module
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { join, utf8 } from "./bytes.ts";
import { BrokenExchange, type HttpRequest, type Limits, type OpenResponse, type Sender } from "./exchange.ts";
import { type Pull, readResponse } from "./http_response.ts";
import { toTimerMs } from "./timer.ts";

/**
 * So many bytes are written at a time, with so many milliseconds between them: a server that responds to a long body early
 * and closes resets the connection of a client that writes on, which loses the response that is not read yet. Each attempt
 * leaves a busy server more time.
 */
const STEP_BYTES = 64 * 1024;
const STEP_MS = [1, 4, 16, 64, 256];

/** A sender for HTTP targets. Certificates of loopback hosts are not verified, because test servers use self-signed ones. */
export function httpSender(): Sender {
  const open = new Set<Socket>();
  return {
    async open(outgoing: HttpRequest, limits: Limits, signal: AbortSignal): Promise<OpenResponse> {
      for (let tries = 1;; tries++) {
        const socket = await openSocket(new URL(outgoing.url), limits);
        signal.addEventListener("abort", () => socket.destroy(), { once: true });
        open.add(socket);
        socket.on("close", () => open.delete(socket));
        const pull = readFromSocket(socket, limits);
        let isSent = false;
        write(socket, toBytes(outgoing), STEP_MS[tries - 1]!).then(() => isSent = true, () => {});
        try {
          const response = await readResponse(pull, outgoing.wire ? "GET" : outgoing.method);
          return {
            ...response,
            next: () => destroyAtEnd(response.next(), socket),
            cancel: () => void socket.destroy(),
          };
        } catch (error) {
          socket.destroy();
          // A server may respond to a long body early and close. The reset that our next write causes can discard its
          // response. The server has not received the whole request, so a retry is safe.
          const isLost = error instanceof BrokenExchange && error.kind === "closed" && !isSent;
          if (!isLost || tries === STEP_MS.length || signal.aborted) throw error;
        }
      }
    },
    close() {
      for (const socket of open) socket.destroy();
      return Promise.resolve();
    },
  };
}

/** Resolves when all is written, and rejects when the connection ends before. */
async function write(socket: Socket, bytes: Uint8Array, pauseMs: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (at > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await new Promise<void>((resolve, reject) => {
      socket.write(bytes.subarray(at, at + STEP_BYTES), (error) => error ? reject(error) : resolve());
    });
  }
}

async function destroyAtEnd(
  chunk: Promise<Uint8Array | undefined>,
  socket: Socket,
): Promise<Uint8Array | undefined> {
  const bytes = await chunk;
  if (!bytes) socket.destroy();
  return bytes;
}

function openSocket(url: URL, { seconds }: Limits): Promise<Socket> {
  const isTls = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || (isTls ? 443 : 80);
  const isLocal = /^(?:localhost|127\.[\d.]+|::1)$/.test(host);
  return new Promise((resolve, reject) => {
    const socket = isTls
      ? connectTls({
        host,
        port,
        ...(/^[\d.:]+$/.test(host) ? {} : { servername: host }),
        rejectUnauthorized: !isLocal,
      })
      : connect({ host, port });
    const refuse = (message: string) => {
      socket.destroy();
      reject(new BrokenExchange("refused", `Cannot connect to ${url.host}: ${message}`));
    };
    let pending = "connection";
    const timer = setTimeout(() => refuse(`no ${pending} within ${seconds} s`), toTimerMs(seconds));
    socket.on("error", (error: Error & { code?: string }) => {
      clearTimeout(timer);
      refuse(describeConnectError(error));
    });
    socket.once("close", () => {
      clearTimeout(timer);
      refuse("connection closed");
    });
    if (isTls) socket.once("connect", () => pending = "TLS handshake");
    socket.once(isTls ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

const CONNECT_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, "connection refused"],
  [/^(?:ECONNRESET|EPIPE)$/, "connection reset"],
  [/^(?:ENOTFOUND|EAI_\w+)$/, "host name not found"],
  [/^(?:EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/, "host unreachable"],
  [/CERT|SIGNATURE|ISSUER/, "certificate not trusted"],
  [/SSL|TLS|EPROTO/, "TLS handshake failed"],
];

/** Why the connection failed, with the error code of the system. */
function describeConnectError({ code, message }: Error & { code?: string }): string {
  const words = CONNECT_ERRORS.find(([codes]) => codes.test(code ?? ""))?.[1];
  return words === undefined ? code ?? message : `${words} (${code})`;
}

/** Returns bytes as they arrive. The socket is paused while many are unread, so a fast server cannot fill the memory. */
function readFromSocket(socket: Socket, { bytes }: Limits): Pull {
  const unread: Uint8Array[] = [];
  let size = 0;
  let isOver = false;
  let wake: (() => void) | undefined;
  const wakeReader = () => {
    wake?.();
    wake = undefined;
  };
  const over = () => {
    isOver = true;
    wakeReader();
  };
  socket.on("data", (chunk: Uint8Array) => {
    unread.push(chunk);
    size += chunk.length;
    if (size > Math.min(bytes, 1 << 20)) socket.pause();
    wakeReader();
  });
  // A reset after the last byte of the response is harmless. Before it, the parser reports what is missing.
  socket.on("end", over);
  socket.on("error", over);
  socket.on("close", over);
  return async () => {
    while (unread.length === 0) {
      if (isOver) return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const chunk = unread.shift()!;
    size -= chunk.length;
    if (size === 0) socket.resume();
    return chunk;
  };
}

function toBytes({ method, url: address, fields, without, body, raw, wire }: HttpRequest): Uint8Array {
  if (wire) return wire;
  const url = new URL(address);
  const written = new Set(fields.map(([name]) => name.toLowerCase()));
  const length = body?.length ?? (method === "POST" || method === "PUT" ? 0 : undefined);
  const defaults: [string, string][] = [
    ["Host", url.host],
    ["Accept", "*/*"],
    ["User-Agent", "trivet-conformance"],
    ...(length === undefined ? [] : [["Content-Length", String(length)] as [string, string]]),
    ["Connection", "close"],
  ];
  const all = defaults.filter(([name]) =>
    !written.has(name.toLowerCase()) && !without.includes(name.toLowerCase())
  );
  // With `raw`, only the stated fields are sent.
  const usual = raw ? fields : [...all.slice(0, 1), ...fields, ...all.slice(1)];
  const head = usual.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const start = utf8(`${method} ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n`);
  return body ? join([start, body]) : start;
}
