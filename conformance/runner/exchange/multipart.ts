/**
 * `multipart/form-data` (RFC 7578), byte for byte: FormData would repair hostile names.
 *
 * @module
 */
import { join, utf8 } from "./bytes.ts";
import { buildContent } from "./content.ts";
import type { Members } from "../vector/vector_file.ts";

export async function buildMultipart(
  parts: readonly Members[],
  boundary: string,
  unclosed: boolean,
): Promise<Uint8Array> {
  const bytes: Uint8Array[] = [];
  for (const part of parts) {
    const content = await buildContent(part);
    const fields = part["headers"] as Members | undefined ?? usualFields(part, content?.type);
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    bytes.push(utf8(`--${boundary}\r\n${head}\r\n`), content?.bytes ?? new Uint8Array(), utf8("\r\n"));
  }
  if (!unclosed) bytes.push(utf8(`--${boundary}--\r\n`));
  return join(bytes);
}

function usualFields({ name, filename, type }: Members, usual: string | undefined): Members {
  const file = filename === undefined ? "" : `; filename="${escapeName(filename)}"`;
  const shown = type ?? (filename === undefined ? undefined : usual ?? "application/octet-stream");
  return {
    "Content-Disposition": `form-data; name="${escapeName(name ?? "")}"${file}`,
    ...(shown !== undefined && { "Content-Type": shown }),
  };
}

/** RFC 7578 section 2, as browsers do it. */
function escapeName(name: unknown): string {
  return String(name).replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
