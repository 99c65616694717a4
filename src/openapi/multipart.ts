/**
 * Writes `multipart/form-data` (RFC 7578). `FormData` would give every part with a media type a file name.
 *
 * @module
 */
import { joinBytes } from "../http/body/byte_buffer.ts";

export interface Part {
  readonly name: string;
  readonly fileName?: string;
  readonly type?: string | undefined;
  readonly content: string | Uint8Array<ArrayBuffer>;
}

/** The body and its Content-Type. The boundary is random, so no part can contain it on purpose. */
export function writeMultipart(
  parts: readonly Part[],
): { readonly type: string; readonly body: Uint8Array<ArrayBuffer> } {
  const boundary = `trivet-${crypto.randomUUID()}`;
  const encoder = new TextEncoder();
  const chunks: Uint8Array[] = [];
  for (const { name, fileName, type, content } of parts) {
    const file = fileName === undefined ? "" : `; filename="${escapeName(fileName)}"`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"${file}\r\n` +
      (type === undefined ? "" : `Content-Type: ${type}\r\n`) + "\r\n";
    chunks.push(
      encoder.encode(head),
      typeof content === "string" ? encoder.encode(content) : content,
      encoder.encode("\r\n"),
    );
  }
  chunks.push(encoder.encode(`--${boundary}--\r\n`));
  const body = joinBytes(chunks, chunks.reduce((length, each) => length + each.length, 0));
  return { type: `multipart/form-data; boundary=${boundary}`, body };
}

/** As browsers do (HTML, multipart form data): a name cannot end its field. */
function escapeName(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
