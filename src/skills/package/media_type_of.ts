/**
 * The media type of a file by its name and first bytes. Nothing that a browser would run: text is text.
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

/** How far a file is looked at for a NUL, which no text has. */
const LOOK = 8192;

/** `undefined` when the name says nothing. */
export function mediaTypeByName(path: string): string | undefined {
  return TYPES.get(/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "");
}

/** When the name says nothing: plain text, or `application/octet-stream` for what is none. */
export function mediaTypeOf(path: string, bytes: Uint8Array): string {
  return mediaTypeByName(path) ??
    (bytes.subarray(0, LOOK).includes(0) ? "application/octet-stream" : "text/plain");
}
