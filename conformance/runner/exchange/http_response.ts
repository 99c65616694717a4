/**
 * Parses an HTTP/1.1 response (RFC 9112) from bytes as they arrive. Premature ends, wrong lengths and bytes
 * that are not HTTP become errors of their own kind.
 *
 * @module
 */
import { toText } from "./bytes.ts";
import { BrokenExchange, type HeaderField } from "./exchange.ts";

/** Returns bytes as they arrive, `undefined` at the end. @throws {BrokenExchange} */
export type Pull = () => Promise<Uint8Array | undefined>;

export interface ResponseHead {
  readonly status: number;
  readonly fields: readonly HeaderField[];
  /** The chunks of the body, then `undefined`. */
  readonly next: Pull;
}

/** RFC 9110 section 5.1: a token. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_HEADER_FIELDS = 2000;
const MAX_INTERIM_RESPONSES = 32;

/** @throws {BrokenExchange} */
export async function readResponse(pull: Pull, method: string): Promise<ResponseHead> {
  const source = new ByteSource(pull);
  for (let interim = 0; interim < MAX_INTERIM_RESPONSES; interim++) {
    const { status, fields } = await readHead(source);
    if (status === 101 || status >= 200) {
      return { status, fields, next: readBody(source, method, status, fields) };
    }
  }
  throw new BrokenExchange("flooded", `Received more than ${MAX_INTERIM_RESPONSES} interim responses`);
}

async function readHead(source: ByteSource): Promise<{ status: number; fields: HeaderField[] }> {
  const start = await source.readLine("The server closed the connection without a response");
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(start)?.[1];
  if (!status) {
    throw new BrokenExchange("garbled", `The response is not HTTP/1.1. It begins with ${quoteStart(start)}`);
  }
  const fields: HeaderField[] = [];
  for (let size = 0;;) {
    const line = await source.readLine("The connection closed within the header fields");
    size += line.length;
    if (size > MAX_HEADER_BYTES) {
      throw new BrokenExchange("flooded", `The header fields are longer than ${MAX_HEADER_BYTES} bytes`);
    }
    if (line === "") return { status: Number(status), fields };
    const colon = line.indexOf(":");
    if (!FIELD_NAME.test(line.slice(0, Math.max(colon, 0)))) {
      throw new BrokenExchange("garbled", `Invalid header field: ${JSON.stringify(line.slice(0, 60))}`);
    }
    if (fields.length >= MAX_HEADER_FIELDS) {
      throw new BrokenExchange("flooded", `Received more than ${MAX_HEADER_FIELDS} header fields`);
    }
    fields.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
  }
}

function quoteStart(text: string): string {
  // A TLS alert (RFC 8446 section 5.1).
  const isTls = text.startsWith("\x15\x03");
  return JSON.stringify(text.slice(0, 60)) +
    (isTls ? ", which is TLS. The URL may need https:" : "");
}

function readBody(source: ByteSource, method: string, status: number, fields: readonly HeaderField[]): Pull {
  const all = (name: string) =>
    fields.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const response = { status, fields };
  if (method === "HEAD" || status === 204 || status === 304) return readEnd(source, response);
  if (all("transfer-encoding").some((value) => /\bchunked\s*$/i.test(value))) {
    return readChunked(source, response);
  }
  const lengths = new Set(all("content-length"));
  if (lengths.size === 0) return () => source.readChunk();
  const [length = ""] = lengths;
  if (lengths.size > 1 || !/^\d+$/.test(length)) {
    throw new BrokenExchange("garbled", `Invalid Content-Length: "${[...lengths].join('", "')}"`, response);
  }
  return readCounted(source, Number(length), response);
}

function readCounted(
  source: ByteSource,
  length: number,
  response: { status: number; fields: readonly HeaderField[] },
): Pull {
  let left = length;
  return async () => {
    if (left === 0) return await readEnd(source, response)();
    const chunk = await source.readChunk(left);
    if (!chunk) {
      throw new BrokenExchange(
        "closed",
        `The body ended ${left} bytes before the Content-Length of ${length}`,
      );
    }
    left -= chunk.length;
    return chunk;
  };
}

function readChunked(source: ByteSource, response: { status: number; fields: readonly HeaderField[] }): Pull {
  let left = 0;
  let over = false;
  let first = true;
  return async () => {
    if (over) return undefined;
    if (left === 0) {
      if (!first && await source.readLine("The connection closed after a chunk") !== "") {
        throw new BrokenExchange("garbled", "A chunk is longer than its size", response);
      }
      first = false;
      const line = await source.readLine("The connection closed before the last chunk");
      const size = /^([0-9a-f]{1,12})(?:[ \t]*(?:;.*)?)$/i.exec(line)?.[1];
      if (!size) {
        throw new BrokenExchange(
          "garbled",
          `Invalid chunk size: ${JSON.stringify(line.slice(0, 60))}`,
          response,
        );
      }
      left = parseInt(size, 16);
      if (left === 0) {
        while (await source.readLine("The connection closed within the trailer fields") !== "");
        over = true;
        return await readEnd(source, response)();
      }
    }
    const chunk = await source.readChunk(left);
    if (!chunk) {
      throw new BrokenExchange("closed", `The connection closed ${left} bytes before the end of a chunk`);
    }
    left -= chunk.length;
    return chunk;
  };
}

/** No bytes may follow, because every request has `Connection: close`. */
function readEnd(source: ByteSource, response: { status: number; fields: readonly HeaderField[] }): Pull {
  return () => {
    if (source.unreadBytes > 0) {
      throw new BrokenExchange("garbled", "Bytes follow the end of the response", response);
    }
    return Promise.resolve(undefined);
  };
}

class ByteSource {
  readonly #pull: Pull;
  #rest: Uint8Array = new Uint8Array();

  constructor(pull: Pull) {
    this.#pull = pull;
  }

  /** Number of bytes that have arrived and are not read. */
  get unreadBytes(): number {
    return this.#rest.length;
  }

  async readChunk(maxBytes = Infinity): Promise<Uint8Array | undefined> {
    if (this.#rest.length === 0) {
      const chunk = await this.#pull();
      if (!chunk) return undefined;
      this.#rest = chunk;
    }
    const part = this.#rest.subarray(0, maxBytes);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  async readLine(closedMessage: string): Promise<string> {
    const parts: Uint8Array[] = [];
    let size = 0;
    while (true) {
      const chunk = await this.readChunk();
      if (!chunk) {
        const cut = parts.map(toText).join("");
        throw new BrokenExchange(
          "closed",
          cut === "" ? closedMessage : `${closedMessage}. The last line begins with ${quoteStart(cut)}`,
        );
      }
      const end = chunk.indexOf(10);
      parts.push(end < 0 ? chunk : chunk.subarray(0, end));
      if (end >= 0) {
        this.#rest = chunk.subarray(end + 1);
        break;
      }
      size += chunk.length;
      if (size > MAX_HEADER_BYTES) {
        throw new BrokenExchange("flooded", `A line is longer than ${MAX_HEADER_BYTES} bytes`);
      }
    }
    return parts.map(toText).join("").replace(/\r$/, "");
  }
}
