/**
 * A multipart/form-data body with files (RFC 7578) as a stream of known length, which holds no whole file in memory.
 *
 * @module
 */

/** A file of a form. */
export interface FormFile {
  /** The path, with slashes between folders. */
  readonly name: string;
  readonly size: number;
  /** Exactly `size` bytes. */
  open(): AsyncIterable<Uint8Array>;
}

export interface MultipartBody {
  readonly type: string;
  readonly length: number;
  /** The body from its beginning, at each call. */
  stream(): ReadableStream<Uint8Array>;
}

const encoder = new TextEncoder();

/**
 * @param field the name of the field of every file
 * @param texts text fields, which come first
 */
export function multipartBody(
  field: string,
  files: readonly FormFile[],
  texts: readonly (readonly [name: string, value: string])[] = [],
): MultipartBody {
  const boundary = `trivet-${crypto.randomUUID()}`;
  const before = encoder.encode(
    texts.map(([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${quote(name)}"\r\n\r\n${value}\r\n`
    ).join(""),
  );
  const parts = files.map((file) => ({
    file,
    head: encoder.encode(
      `--${boundary}\r\nContent-Disposition: form-data; name="${quote(field)}"; filename="${
        quote(file.name)
      }"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    ),
  }));
  const lineEnd = encoder.encode("\r\n");
  const end = encoder.encode(`--${boundary}--\r\n`);

  async function* chunks(): AsyncGenerator<Uint8Array> {
    if (before.length > 0) yield before;
    for (const { file, head } of parts) {
      yield head;
      yield* file.open();
      yield lineEnd;
    }
    yield end;
  }

  return {
    type: `multipart/form-data; boundary=${boundary}`,
    length: parts.reduce(
      (sum, { file, head }) => sum + head.length + file.size + lineEnd.length,
      before.length + end.length,
    ),
    stream: () => streamOf(chunks()),
  };
}

/** Escapes quotes and line ends as browsers do, as %22, %0D and %0A. */
function quote(name: string): string {
  return name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}

function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  }, { highWaterMark: 0 });
}
