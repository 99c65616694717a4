/**
 * Reads the body of a response within a limit.
 *
 * @module
 */
import { ByteBuffer } from "../../http/body/byte_buffer.ts";
import { ConnectionError } from "../error.ts";

const utf8 = new TextDecoder();

/** Longer bodies of errors are not read. */
export const MAX_ERROR_BYTES = 65_536;

/**
 * The text of a body.
 * @throws {ConnectionError} too large, or closed before its end; the reason of the signal
 */
export async function readText(
  response: Response,
  limit: number,
  server: string,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly bytes: number }> {
  if (response.body === null) return { text: "", bytes: 0 };
  let first: Uint8Array | undefined;
  let buffer: ByteBuffer | undefined;
  let bytes = 0;
  await readChunks(response.body, server, signal, (chunk) => {
    bytes += chunk.length;
    if (bytes > limit) throw tooLarge(server, limit);
    // Most bodies arrive in one chunk.
    if (first === undefined) return void (first = chunk);
    if (buffer === undefined) {
      buffer = new ByteBuffer();
      buffer.append(first);
    }
    buffer.append(chunk);
  });
  return { text: first === undefined ? "" : utf8.decode(buffer?.take() ?? first), bytes };
}

/** The error for a message beyond the limit. */
export function tooLarge(server: string, limit: number): ConnectionError {
  return new ConnectionError("too_large", server, `sent a message of more than ${limit} bytes`);
}

/**
 * Gives each chunk to a function, until it returns `true` or the body ends. The body is then freed.
 * @param onStop frees the body instead, when the function returned `true`
 * @throws {ConnectionError} closed; what the function throws; the reason of the signal
 */
export async function readChunks(
  body: ReadableStream<Uint8Array>,
  server: string,
  signal: AbortSignal,
  onChunk: (chunk: Uint8Array) => boolean | void,
  onStop?: (reader: ReadableStreamDefaultReader<Uint8Array>) => void,
): Promise<void> {
  const reader = body.getReader();
  // A body of a fetch in the same process does not end by itself when the signal aborts.
  const stop = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  let free: typeof onStop = (reader) => void reader.cancel().catch(() => {});
  try {
    for (;;) {
      const { done, value } = await read(reader, server, signal);
      if (signal.aborted) throw signal.reason;
      if (done) {
        free = undefined;
        return;
      }
      if (onChunk(value) === true) {
        free = onStop ?? free;
        return;
      }
    }
  } finally {
    signal.removeEventListener("abort", stop);
    free?.(reader);
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  server: string,
  signal: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read();
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new ConnectionError("closed", server, "the connection ended within a response", { cause });
  }
}
