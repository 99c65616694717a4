/**
 * Reads an HTTP/1.1 answer (RFC 9112) from bytes as they arrive, and believes nothing: what ends early, lies about its
 * length or is no HTTP is said to be so.
 *
 * @module
 */
import { toText } from "./bytes.ts";
import { Broken, type Field } from "./exchange.ts";

/** Gives bytes as they arrive, nothing at the end. @throws {Broken} */
export type Pull = () => Promise<Uint8Array | undefined>;

export interface Head {
  readonly status: number;
  readonly fields: readonly Field[];
  /** The body's chunks, then nothing. */
  readonly next: Pull;
}

/** RFC 9110 section 5.1: a token. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_HEADER_FIELDS = 2000;
const MAX_INTERIM_RESPONSES = 32;

/** @throws {Broken} */
export async function readAnswer(pull: Pull, method: string): Promise<Head> {
  const source = new Source(pull);
  for (let interim = 0; interim < MAX_INTERIM_RESPONSES; interim++) {
    const { status, fields } = await readHead(source);
    if (status === 101 || status >= 200) {
      return { status, fields, next: bodyOf(source, method, status, fields) };
    }
  }
  throw new Broken("flooded", `More than ${MAX_INTERIM_RESPONSES} interim answers came`);
}

async function readHead(source: Source): Promise<{ status: number; fields: Field[] }> {
  const start = await source.line("The server closed the connection without an answer");
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(start)?.[1];
  if (!status) {
    throw new Broken("garbled", `The answer is no HTTP: it begins with ${begins(start)}`);
  }
  const fields: Field[] = [];
  for (let size = 0;;) {
    const line = await source.line("The fields of the answer end early");
    size += line.length;
    if (size > MAX_HEADER_BYTES) {
      throw new Broken("flooded", `The fields are longer than ${MAX_HEADER_BYTES} bytes`);
    }
    if (line === "") return { status: Number(status), fields };
    const colon = line.indexOf(":");
    if (!FIELD_NAME.test(line.slice(0, Math.max(colon, 0)))) {
      throw new Broken("garbled", `A field has no name: ${JSON.stringify(line.slice(0, 60))}`);
    }
    if (fields.length >= MAX_HEADER_FIELDS) {
      throw new Broken("flooded", `There are more than ${MAX_HEADER_FIELDS} fields`);
    }
    fields.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
  }
}

function begins(text: string): string {
  // A TLS alert (RFC 8446 section 5.1).
  const isTls = text.startsWith("\x15\x03");
  return JSON.stringify(text.slice(0, 60)) +
    (isTls ? ", which is TLS: the address may have to be https:" : "");
}

function bodyOf(source: Source, method: string, status: number, fields: readonly Field[]): Pull {
  const all = (name: string) =>
    fields.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const answer = { status, fields };
  if (method === "HEAD" || status === 204 || status === 304) return ended(source, answer);
  if (all("transfer-encoding").some((value) => /\bchunked\s*$/i.test(value))) return chunked(source, answer);
  const lengths = new Set(all("content-length"));
  if (lengths.size === 0) return () => source.some();
  const [length = ""] = lengths;
  if (lengths.size > 1 || !/^\d+$/.test(length)) {
    throw new Broken("garbled", `Its content-length is "${[...lengths].join('", "')}"`, answer);
  }
  return counted(source, Number(length), answer);
}

function counted(source: Source, length: number, answer: { status: number; fields: readonly Field[] }): Pull {
  let left = length;
  return async () => {
    if (left === 0) return await ended(source, answer)();
    const chunk = await source.some(left);
    if (!chunk) {
      throw new Broken("closed", `The body ends ${left} bytes before the ${length} that content-length says`);
    }
    left -= chunk.length;
    return chunk;
  };
}

function chunked(source: Source, answer: { status: number; fields: readonly Field[] }): Pull {
  let left = 0;
  let over = false;
  let first = true;
  return async () => {
    if (over) return undefined;
    if (left === 0) {
      if (!first && await source.line("A chunk ends early") !== "") {
        throw new Broken("garbled", "A chunk is longer than it says", answer);
      }
      first = false;
      const line = await source.line("The body ends before its last chunk");
      const size = /^([0-9a-f]{1,12})(?:[ \t]*(?:;.*)?)$/i.exec(line)?.[1];
      if (!size) {
        throw new Broken("garbled", `A chunk has no size, but ${JSON.stringify(line.slice(0, 60))}`, answer);
      }
      left = parseInt(size, 16);
      if (left === 0) {
        while (await source.line("The trailer ends early") !== "");
        over = true;
        return await ended(source, answer)();
      }
    }
    const chunk = await source.some(left);
    if (!chunk) throw new Broken("closed", `A chunk ends ${left} bytes early`);
    left -= chunk.length;
    return chunk;
  };
}

/** Nothing may follow: every request asks for the connection to be closed. */
function ended(source: Source, answer: { status: number; fields: readonly Field[] }): Pull {
  return () => {
    if (source.waiting > 0) throw new Broken("garbled", "Bytes follow the end of the answer", answer);
    return Promise.resolve(undefined);
  };
}

class Source {
  readonly #pull: Pull;
  #rest: Uint8Array = new Uint8Array();

  constructor(pull: Pull) {
    this.#pull = pull;
  }

  /** Bytes that have arrived and were not read. */
  get waiting(): number {
    return this.#rest.length;
  }

  async some(most = Infinity): Promise<Uint8Array | undefined> {
    if (this.#rest.length === 0) {
      const chunk = await this.#pull();
      if (!chunk) return undefined;
      this.#rest = chunk;
    }
    const part = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  async line(early: string): Promise<string> {
    const parts: Uint8Array[] = [];
    let size = 0;
    while (true) {
      const chunk = await this.some();
      if (!chunk) {
        const cut = parts.map(toText).join("");
        throw new Broken("closed", cut === "" ? early : `${early}, but ${begins(cut)}`);
      }
      const end = chunk.indexOf(10);
      parts.push(end < 0 ? chunk : chunk.subarray(0, end));
      if (end >= 0) {
        this.#rest = chunk.subarray(end + 1);
        break;
      }
      size += chunk.length;
      if (size > MAX_HEADER_BYTES) {
        throw new Broken("flooded", `A line is longer than ${MAX_HEADER_BYTES} bytes`);
      }
    }
    return parts.map(toText).join("").replace(/\r$/, "");
  }
}
