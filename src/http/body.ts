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

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The whole body.
 * @throws {BodyError} 413 past `limit` bytes (the rest is not read), 400 when the sender breaks off
 */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > limit) {
    await request.body?.cancel();
    throw tooLarge(limit);
  }
  if (!request.body) return new Uint8Array();
  // A declared length is enforced by the server in front, so the quick way is as bounded as the long one.
  const bytes = declared === null ? await readChunks(request.body, limit) : await readAll(request);
  if (bytes.length > limit) throw tooLarge(limit);
  return bytes;
}

/**
 * The whole body as UTF-8 text.
 * @throws {BodyError} as {@linkcode readBytes}, and 400 when it is not UTF-8
 */
export async function readText(request: Request, limit: number): Promise<string> {
  return decodeUtf8(await readBytes(request, limit));
}

/**
 * Bytes as UTF-8 text, strictly.
 * @throws {BodyError} 400
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch (cause) {
    throw new BodyError(400, "The body must be UTF-8", { cause });
  }
}

async function readAll(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await request.arrayBuffer());
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
      await reader.cancel();
      throw tooLarge(limit);
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function tooLarge(limit: number): BodyError {
  return new BodyError(413, `The body must be at most ${limit} bytes`);
}
