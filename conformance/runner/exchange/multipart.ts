/**
 * Builds `multipart/form-data` (RFC 7578) byte by byte, because FormData would correct invalid names.
 *
 * @module
 */
import { join, utf8 } from "./bytes.ts";
import { buildContent } from "./content.ts";
import type { JsonObject } from "../vector/vector_file.ts";

export async function buildMultipart(
  parts: readonly JsonObject[],
  boundary: string,
  unclosed: boolean,
): Promise<Uint8Array> {
  const bytes: Uint8Array[] = [];
  for (const part of parts) {
    const content = await buildContent(part);
    const fields = part["headers"] as JsonObject | undefined ?? defaultFields(part, content?.type);
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    bytes.push(utf8(`--${boundary}\r\n${head}\r\n`), content?.bytes ?? new Uint8Array(), utf8("\r\n"));
  }
  if (!unclosed) bytes.push(utf8(`--${boundary}--\r\n`));
  return join(bytes);
}

function defaultFields({ name, filename, type }: JsonObject, defaultType: string | undefined): JsonObject {
  const file = filename === undefined ? "" : `; filename="${escapeName(filename)}"`;
  const contentType = type ??
    (filename === undefined ? undefined : defaultType ?? "application/octet-stream");
  return {
    "Content-Disposition": `form-data; name="${escapeName(name ?? "")}"${file}`,
    ...(contentType !== undefined && { "Content-Type": contentType }),
  };
}

/** Escapes a name as browsers do (RFC 7578 section 2). */
function escapeName(name: unknown): string {
  return String(name).replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
