/**
 * Sends requests over a socket of its own, one connection each: every byte is the vector's (a `Host` of another, broken
 * framing), and what comes back is seen as it is. HTTP/1.1 over TCP or TLS.
 *
 * @module
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { join, utf8 } from "./bytes.ts";
import { Broken, type Limits, type OpenAnswer, type Outgoing, type Sender } from "./exchange.ts";
import { type Pull, readAnswer } from "./http_answer.ts";
import { timerDelay } from "./timer.ts";

const MAX_TRIES = 5;

/** A sender for targets over HTTP. Certificates of loopback hosts are not checked: targets under test sign their own. */
export function httpSender(): Sender {
  const open = new Set<Socket>();
  return {
    async open(outgoing: Outgoing, limits: Limits, signal: AbortSignal): Promise<OpenAnswer> {
      for (let tries = 1;; tries++) {
        const socket = await dial(new URL(outgoing.url), limits);
        signal.addEventListener("abort", () => socket.destroy(), { once: true });
        open.add(socket);
        socket.on("close", () => open.delete(socket));
        const pull = pullFrom(socket, limits);
        let isSent = false;
        socket.write(toBytes(outgoing), (error) => {
          isSent = !error;
        });
        try {
          const answer = await readAnswer(pull, outgoing.wire ? "GET" : outgoing.method);
          return {
            ...answer,
            next: () => endWith(answer.next(), socket),
            cancel: () => void socket.destroy(),
          };
        } catch (error) {
          socket.destroy();
          // A server that refuses a long body early may close before it has read it: the reset that follows takes its
          // answer along when it meets a write. Nobody has had the whole request, so it may be sent again.
          const isLost = error instanceof Broken && error.word === "closed" && !isSent;
          if (!isLost || tries === MAX_TRIES || signal.aborted) throw error;
        }
      }
    },
    close() {
      for (const socket of open) socket.destroy();
      return Promise.resolve();
    },
  };
}

async function endWith(
  chunk: Promise<Uint8Array | undefined>,
  socket: Socket,
): Promise<Uint8Array | undefined> {
  const got = await chunk;
  if (!got) socket.destroy();
  return got;
}

function dial(url: URL, { seconds }: Limits): Promise<Socket> {
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
      reject(new Broken("refused", `Cannot connect to ${url.host}: ${message}`));
    };
    let awaited = "connection";
    const timer = setTimeout(() => refuse(`no ${awaited} within ${seconds} s`), timerDelay(seconds));
    socket.on("error", (error: Error & { code?: string }) => {
      clearTimeout(timer);
      refuse(inWords(error));
    });
    socket.once("close", () => {
      clearTimeout(timer);
      refuse("the connection was closed");
    });
    if (isTls) socket.once("connect", () => awaited = "TLS handshake");
    socket.once(isTls ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, "nobody listens there"],
  [/^(?:ECONNRESET|EPIPE)$/, "the connection was reset"],
  [/^(?:ENOTFOUND|EAI_\w+)$/, "the name of the host leads nowhere"],
  [/^(?:EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/, "the host cannot be reached"],
  [/CERT|SIGNATURE|ISSUER/, "its certificate is not trusted"],
  [/SSL|TLS|EPROTO/, "it does not speak TLS as it should"],
];

/** Why there is no connection, and the word of the system that says so. */
function inWords({ code, message }: Error & { code?: string }): string {
  const words = WORDS.find(([codes]) => codes.test(code ?? ""))?.[1];
  return words === undefined ? code ?? message : `${words} (${code})`;
}

/** Bytes as they arrive. The socket is read no faster than it is asked, and the server's haste is bounded by that. */
function pullFrom(socket: Socket, { bytes }: Limits): Pull {
  const waiting: Uint8Array[] = [];
  let size = 0;
  let isOver = false;
  let wake: (() => void) | undefined;
  const stir = () => {
    wake?.();
    wake = undefined;
  };
  const over = () => {
    isOver = true;
    stir();
  };
  socket.on("data", (chunk: Uint8Array) => {
    waiting.push(chunk);
    size += chunk.length;
    if (size > Math.min(bytes, 1 << 20)) socket.pause();
    stir();
  });
  // A reset after the answer's last byte is no matter, before it the reader says what is missing.
  socket.on("end", over);
  socket.on("error", over);
  socket.on("close", over);
  return async () => {
    while (waiting.length === 0) {
      if (isOver) return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const chunk = waiting.shift()!;
    size -= chunk.length;
    if (size === 0) socket.resume();
    return chunk;
  };
}

function toBytes({ method, url: address, fields, without, body, raw, wire }: Outgoing): Uint8Array {
  if (wire) return wire;
  const url = new URL(address);
  const written = new Set(fields.map(([name]) => name.toLowerCase()));
  const length = body?.length ?? (method === "POST" || method === "PUT" ? 0 : undefined);
  const own: [string, string][] = [
    ["Host", url.host],
    ["Accept", "*/*"],
    ["User-Agent", "trivet-conformance"],
    ...(length === undefined ? [] : [["Content-Length", String(length)] as [string, string]]),
    ["Connection", "close"],
  ];
  const all = own.filter(([name]) =>
    !written.has(name.toLowerCase()) && !without.includes(name.toLowerCase())
  );
  // Raw fields are all that is sent: what is missing is what is asked about.
  const usual = raw ? fields : [...all.slice(0, 1), ...fields, ...all.slice(1)];
  const head = usual.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const start = utf8(`${method} ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n`);
  return body ? join([start, body]) : start;
}
