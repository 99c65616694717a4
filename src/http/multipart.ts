/**
 * `multipart/form-data` (https://www.rfc-editor.org/rfc/rfc7578) out of a body that was read under a limit. Names and
 * file names come as they were sent: whoever uses them as paths must check them. Contents are views of the body, so
 * that nothing is held twice. `Request.formData()` would mend hostile names, lose binary parts without a file name,
 * and read without a limit.
 *
 * @module
 */
import { BodyError } from "./body.ts";
import { mediaType, mediaTypeParameter } from "./media_type.ts";

export interface Part {
  readonly name: string;
  /** Absent for a plain field. */
  readonly filename: string | undefined;
  readonly bytes: Uint8Array;
}

const MOST_PARTS = 2000;
const LONGEST_HEADER = 16 * 1024;
const CR = 13;
const LF = 10;
const DASH = 45;

/**
 * The boundary of a request's body.
 * @throws {BodyError} 415 for another media type, 400 for a boundary that RFC 2046 §5.1.1 does not allow
 */
export function readBoundary(request: Request): string {
  const field = request.headers.get("content-type") ?? "";
  if (mediaType(field) !== "multipart/form-data") {
    throw new BodyError(415, "The body must be multipart/form-data");
  }
  const boundary = mediaTypeParameter(field, "boundary");
  if (boundary === undefined || !/^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/.test(boundary)) {
    throw new BodyError(
      400,
      "Content-Type must name a boundary of 1 to 70 characters (RFC 2046 section 5.1.1)",
    );
  }
  return boundary;
}

/**
 * The parts of a body, in order.
 * @throws {BodyError} 400 naming what is malformed
 */
export function parseMultipart(body: Uint8Array, boundary: string): Part[] {
  const delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
  const parts: Part[] = [];
  // The first delimiter may open the body, without the line break before it.
  let at = startsWith(body, 0, delimiter.subarray(2)) ? delimiter.length - 2 : after(body, 0, delimiter);
  for (;;) {
    if (at < 0) throw new BodyError(400, "The multipart body must begin with its boundary");
    if (body[at] === DASH && body[at + 1] === DASH) return parts;
    at = afterLineBreak(body, at);
    const headEnd = endOfHeader(body, at);
    const end = indexOf(body, headEnd, delimiter);
    if (end < 0) throw new BodyError(400, "The multipart body must end with its closing boundary");
    if (parts.length === MOST_PARTS) {
      throw new BodyError(400, `The multipart body may have at most ${MOST_PARTS} parts`);
    }
    // The blank line that ends an empty part is also the line break before the delimiter.
    parts.push({
      ...readDisposition(body.subarray(at, headEnd)),
      bytes: body.subarray(Math.min(headEnd + 2, end), end),
    });
    at = end + delimiter.length;
  }
}

/** Where the line after a delimiter starts; only blanks may pad the delimiter (RFC 2046 §5.1.1). */
function afterLineBreak(body: Uint8Array, at: number): number {
  while (body[at] === 32 || body[at] === 9) at++;
  if (body[at] !== CR || body[at + 1] !== LF) {
    throw new BodyError(400, "Lines of a multipart body must end with CR LF");
  }
  return at + 2;
}

/** The position of the CR LF that starts the blank line after the header fields. */
function endOfHeader(body: Uint8Array, at: number): number {
  if (body[at] === CR && body[at + 1] === LF) {
    throw new BodyError(400, "A part must have a Content-Disposition field");
  }
  const end = indexOf(body.subarray(0, at + LONGEST_HEADER), at, BLANK_LINE);
  if (end < 0) {
    throw new BodyError(
      400,
      `The header of a part must end with a blank line within ${LONGEST_HEADER} bytes`,
    );
  }
  return end + 2;
}

const BLANK_LINE = Uint8Array.of(CR, LF, CR, LF);

function readDisposition(header: Uint8Array): { name: string; filename: string | undefined } {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(header);
  } catch (cause) {
    throw new BodyError(400, "The header of a part must be UTF-8", { cause });
  }
  const field = /^content-disposition:[ \t]*form-data([^\r\n]*)/im.exec(text)?.[1];
  if (field === undefined) {
    throw new BodyError(400, "A part must have a Content-Disposition field of type form-data");
  }
  const name = parameter(field, "name");
  if (name === undefined) throw new BodyError(400, "The Content-Disposition of a part must have a name");
  return { name, filename: parameter(field, "filename") };
}

/** A parameter as it was sent: a quoted one ends at the next quote that no backslash escapes, and must end. */
function parameter(field: string, name: string): string | undefined {
  const parameters =
    /;[ \t]*([\w*!#$%&'+\-.^`|~]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^";\s]+)(?=[ \t]*(?:;|$)))/g;
  for (const [, key, quoted, plain] of field.matchAll(parameters)) {
    // Only quotes are unescaped: a backslash may be part of a Windows path.
    if (key!.toLowerCase() === name) return quoted === undefined ? plain : quoted.replaceAll('\\"', '"');
  }
  return undefined;
}

function after(body: Uint8Array, from: number, needle: Uint8Array): number {
  const at = indexOf(body, from, needle);
  return at < 0 ? -1 : at + needle.length;
}

/** The first position of a needle that begins with CR, at or after `from`. */
function indexOf(body: Uint8Array, from: number, needle: Uint8Array): number {
  for (let at = body.indexOf(CR, from); at >= 0; at = body.indexOf(CR, at + 1)) {
    if (startsWith(body, at, needle)) return at;
  }
  return -1;
}

function startsWith(body: Uint8Array, at: number, needle: Uint8Array): boolean {
  for (let i = 0; i < needle.length; i++) if (body[at + i] !== needle[i]) return false;
  return true;
}
