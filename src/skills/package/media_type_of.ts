/**
 * The media type of a file, by its name and first bytes. Never a type that a browser runs: HTML and scripts are plain
 * text.
 *
 * @module
 */

const TYPES: ReadonlyMap<string, string> = new Map(Object.entries({
  md: "text/markdown",
  json: "application/json",
  yaml: "application/yaml",
  yml: "application/yaml",
  csv: "text/csv",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  ttf: "font/ttf",
  otf: "font/otf",
  woff2: "font/woff2",
  zip: "application/zip",
  gz: "application/gzip",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}));

/** Bytes that are searched for a NUL, which text files do not contain. */
const SNIFFED_BYTES = 8192;

/** `undefined` when the name says nothing. */
export function mediaTypeByName(path: string): string | undefined {
  return TYPES.get(/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "");
}

/** By name, then by content: `text/plain`, or `application/octet-stream` for binary data. */
export function mediaTypeOf(path: string, bytes: Uint8Array): string {
  return mediaTypeByName(path) ??
    (bytes.subarray(0, SNIFFED_BYTES).includes(0) ? "application/octet-stream" : "text/plain");
}
