/**
 * Reading a request's body under a limit of bytes: bytes, text, JSON.
 *
 * @module
 */

/** A body that cannot be taken. `status` is what HTTP says of it; each service gives it its own form. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Bytes of a byte order mark. */
const MARK = 3;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The whole body.
 * @throws {BodyError} 413 past `limit` bytes (the rest is not read), 400 when the sender breaks off
 */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = declaredLength(request);
  if (declared !== undefined && declared > limit) throw refuse(request, limit);
  if (declared === undefined) return request.body ? await readChunks(request.body, limit) : new Uint8Array();
  const bytes = new Uint8Array(await whole(request.arrayBuffer()));
  if (bytes.length > limit) throw tooLarge(limit);
  return bytes;
}

/**
 * The whole body as UTF-8 text.
 * @throws {BodyError} as {@linkcode readBytes}, and 400 when it is not UTF-8
 */
export async function readText(request: Request, limit: number): Promise<string> {
  const declared = declaredLength(request);
  if (declared !== undefined && declared > limit) throw refuse(request, limit);
  if (declared === undefined) return decodeUtf8(await readBytes(request, limit));
  // On Node `text()` is by far the quickest: it reads the socket, where the others build a stream first.
  const text = await whole(request.text());
  if (text.length > limit) throw tooLarge(limit);
  // It puts U+FFFD where bytes are no UTF-8; a sender may also have meant one, and then the lengths agree, but for a byte
  // order mark, which Node and workerd drop.
  if (text.includes("\ufffd") && ![0, MARK].includes(declared - new TextEncoder().encode(text).length)) {
    throw notUtf8();
  }
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** The length that the sender declared. A server in front enforces it, so that reading by it is bounded. */
function declaredLength(request: Request): number | undefined {
  const field = request.headers.get("content-length");
  // RFC 9110 §8.6: digits. What is not is passed over, and the body counted as it comes.
  return field !== null && /^\d+$/.test(field) ? Number(field) : undefined;
}

/** The error of a body that declares too much, which is not read. */
function refuse(request: Request, limit: number): BodyError {
  if (request.body) leave(request.body);
  return tooLarge(limit);
}

/**
 * The rest is not wanted. Not waited for: of a request that somebody cloned the other half would have to be left too, and
 * a sender may have gone already.
 */
function leave(body: { cancel(): Promise<void> }): void {
  body.cancel().catch(() => {});
}

/**
 * Bytes as UTF-8 text, strictly.
 * @throws {BodyError} 400
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch (cause) {
    throw notUtf8(cause);
  }
}

async function whole<Content>(reading: Promise<Content>): Promise<Content> {
  try {
    return await reading;
  } catch (cause) {
    throw new BodyError(400, "The body ended early", { cause });
  }
}

async function readChunks(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause) => {
      throw new BodyError(400, "The body ended early", { cause });
    });
    if (done) break;
    length += value.length;
    if (length > limit) {
      leave(reader);
      throw tooLarge(limit);
    }
    chunks.push(value);
  }
  return joinBytes(chunks, length);
}

/** Chunks as one array of `length` bytes. */
export function joinBytes(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function notUtf8(cause?: unknown): BodyError {
  return new BodyError(400, "The body must be UTF-8", { cause });
}

function tooLarge(limit: number): BodyError {
  return new BodyError(413, `The body must be at most ${limit} bytes`);
}
