/**
 * Reading a request's body under a limit of bytes: bytes, text, JSON.
 *
 * @module
 */
import { bodyReaderOf } from "./body_reader.ts";
import { ByteBuffer } from "./byte_buffer.ts";
import { WorkSlice } from "../work_slice.ts";

/** A body that cannot be taken. `status` is what HTTP says of it; each service gives it its own form. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/**
 * A body that declares at most so many bytes is left to the runtime, which is quickest. It may keep each piece of the body
 * apart, at some 200 bytes a piece, so a larger one is collected here.
 */
const MAX_RUNTIME_BODY_BYTES = 64 * 1024;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The whole body.
 * @throws {BodyError} 413 past `limit` bytes (the rest is not read), 400 when the sender breaks off
 */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = declaredLength(request);
  if (declared !== undefined && declared > limit) throw refuse(request, limit);
  if (declared === undefined || declared > MAX_RUNTIME_BODY_BYTES) {
    return request.body ? await readChunks(request.body, limit) : new Uint8Array();
  }
  const read = bodyReaderOf(request);
  let bytes;
  try {
    bytes = read ? await read() as Uint8Array<ArrayBuffer> : new Uint8Array(await request.arrayBuffer());
  } catch (cause) {
    throw new BodyError(400, "The body ended early", { cause });
  }
  if (bytes.length > limit) throw tooLarge(limit);
  return bytes;
}

/**
 * The whole body as UTF-8 text.
 * @throws {BodyError} as {@linkcode readBytes}, and 400 when it is not UTF-8
 */
export function readText(request: Request, limit: number): Promise<string> {
  // Not by `text()`: it puts U+FFFD where bytes are no UTF-8, and a sender may also have meant one.
  return readBytes(request, limit).then(decodeUtf8);
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

async function readChunks(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const buffer = new ByteBuffer();
  const slice = new WorkSlice();
  for (;;) {
    const { done, value } = await reader.read().catch((cause) => {
      throw new BodyError(400, "The body ended early", { cause });
    });
    if (done) return buffer.take();
    if (buffer.length + value.length > limit) {
      leave(reader);
      throw tooLarge(limit);
    }
    buffer.append(value);
    // Small chunks that are there already are read without a turn of the event loop.
    if (slice.isOver) await slice.yield();
  }
}

function notUtf8(cause?: unknown): BodyError {
  return new BodyError(400, "The body must be UTF-8", { cause });
}

function tooLarge(limit: number): BodyError {
  return new BodyError(413, `The body must be at most ${limit} bytes`);
}
