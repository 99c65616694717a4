/**
 * Parses `multipart/form-data` (RFC 7578) while it arrives, under limits, into one buffer that holds only the contents
 * that are kept. Names and file names are returned as they were sent: check them before you use them as paths.
 * `Request.formData()` would change hostile names, lose binary parts without a file name, and read without a limit.
 *
 * @module
 */
import { BodyError } from "./body_error.ts";
import { createDelimiterSearch } from "./delimiter_search.ts";
import { mediaType, mediaTypeParameter } from "./media_type.ts";
import { type Pace, readPaced } from "./paced_body.ts";
import { type PartName, readPartHeader } from "./part_header.ts";

export interface Part extends PartName {
  /** A view of the one buffer of all parts. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface MultipartOptions {
  /** The maximum number of bytes of all kept contents together. */
  readonly limit: number;
  /** Whether to keep a part's content; other parts are skipped. */
  readonly keep: (part: PartName) => boolean;
}

/** Parses a body in chunks. */
export interface MultipartParser {
  /** @throws {BodyError} 413 above a limit, 400 for a malformed body */
  push(chunk: Uint8Array): void;
  /** The kept parts, in order. @throws {BodyError} 400 when the body is incomplete */
  end(): Part[];
}

const MAX_PARTS = 2000;
const MAX_HEADER_BYTES = 16 * 1024;
/** All boundaries, part headers and skipped contents together: one kilobyte for each part. */
const MAX_FRAMING_BYTES = MAX_PARTS * 1024;
/** Larger chunks are parsed in slices of this size, so that no more bytes move when a part header ends. */
const SLICE_BYTES = 64 * 1024;
const CR = 13;
const LF = 10;
const DASH = 45;

/** The maximum number of bytes of a whole body whose kept contents have at most `limit` bytes. */
export function maxMultipartBytes(limit: number): number {
  return limit + MAX_FRAMING_BYTES;
}

/**
 * Reads the boundary from the Content-Type of a request.
 * @throws {BodyError} 415 for another media type, 400 for a boundary that RFC 2046 section 5.1.1 does not allow
 */
export function readBoundary(request: Request): string {
  const field = request.headers.get("content-type") ?? "";
  if (mediaType(field) !== "multipart/form-data") {
    throw new BodyError(415, "Content-Type must be multipart/form-data");
  }
  const boundary = mediaTypeParameter(field, "boundary");
  if (boundary === undefined || !/^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/.test(boundary)) {
    throw new BodyError(
      400,
      "Content-Type must have a boundary of 1 to 70 characters (RFC 2046 section 5.1.1)",
    );
  }
  return boundary;
}

/**
 * Reads the body of a request and returns the kept parts, in order. Reading stops at the first invalid byte and at the
 * first byte above a limit.
 * @param expected the Content-Length, if the request has one
 * @throws {BodyError} 413 above a limit, 400 for a malformed body, 415 for another media type
 */
export async function readMultipart(
  request: Request,
  options: MultipartOptions & { readonly pace: Pace; readonly expected?: number | undefined },
): Promise<Part[]> {
  const parser = createMultipartParser(readBoundary(request), options, options.expected);
  if (request.body) await readPaced(request.body, options.pace, parser.push);
  return parser.end();
}

/** @param expected the size of the whole body in bytes, if known: the buffer then never grows */
export function createMultipartParser(
  boundary: string,
  { limit, keep }: MultipartOptions,
  expected = 0,
): MultipartParser {
  const delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
  const findDelimiter = createDelimiterSearch(delimiter);
  /** The buffer holds kept contents, then bytes not parsed yet: a slice, and the rest of the one before. */
  const maxBufferBytes = limit + MAX_HEADER_BYTES + 2 * SLICE_BYTES;
  let buffer = new Uint8Array(Math.min(Math.max(expected + 2, SLICE_BYTES), maxBufferBytes));
  // A delimiter begins with CR LF, but the first one may be at the start of the body.
  buffer.set([CR, LF]);
  let keptEnd = 0;
  let at = 0;
  let end = 2;
  /** How many bytes from `at` are scanned already: the next chunk continues behind them. */
  let seen = 0;
  let received = 0;
  let count = 0;
  /** The part whose content is read; `undefined` while content is skipped, as the preamble is. */
  let part: PartName | undefined;
  let partStart = 0;
  const kept: { part: PartName; start: number; end: number }[] = [];

  /** Parses the next element of the body and returns the step for what follows; `undefined` when bytes are missing. */
  type Step = () => Step | undefined;

  const content: Step = () => {
    const found = findDelimiter(buffer, at, end);
    const to = found < 0 ? -1 - found : found;
    if (part) {
      if (keptEnd + to - at > limit) throw tooLarge(limit);
      if (keptEnd !== at) buffer.copyWithin(keptEnd, at, to);
      keptEnd += to - at;
    }
    at = to;
    return found < 0 ? undefined : endPart();
  };

  function endPart(): Step {
    if (part) kept.push({ part, start: partStart, end: keptEnd });
    at += delimiter.length;
    return afterDelimiter;
  }

  /** Only spaces and tabs may follow a delimiter; two dashes make it the last one (RFC 2046 section 5.1.1). */
  const afterDelimiter: Step = () => {
    let to = at + seen;
    while (to < end && (buffer[to] === 32 || buffer[to] === 9)) to++;
    if (to - at > MAX_HEADER_BYTES) throw headerTooLong();
    seen = to - at;
    if (end - to < 2) return undefined;
    if (to === at && buffer[at] === DASH && buffer[at + 1] === DASH) return epilogue;
    if (buffer[to] !== CR || buffer[to + 1] !== LF) {
      throw new BodyError(400, "Malformed multipart body: a boundary line must end with CR LF");
    }
    at = to + 2;
    seen = 0;
    return header;
  };

  const header: Step = () => {
    const to = endOfHeader(buffer, at, seen, end);
    if ((to ?? end) - at > MAX_HEADER_BYTES) throw headerTooLong();
    seen = to === undefined ? Math.max(0, end - at - 3) : 0;
    if (to === undefined) return undefined;
    if (++count > MAX_PARTS) {
      throw new BodyError(400, `A multipart body may have at most ${MAX_PARTS} parts`);
    }
    const name = readPartHeader(buffer.subarray(at, to));
    part = keep(name) ? name : undefined;
    partStart = keptEnd;
    at = to;
    return emptyLine;
  };

  /** In an empty part, the empty line after the header is also the line break before the delimiter. */
  const emptyLine: Step = () => {
    if (end - at < delimiter.length) return undefined;
    if (findDelimiter(buffer, at, at + delimiter.length) === at) return endPart();
    at += 2;
    return content;
  };

  const epilogue: Step = () => {
    at = end;
    return undefined;
  };

  let step = content;

  function parseSlice(slice: Uint8Array): void {
    if (end + slice.length > buffer.length) {
      const larger = Math.min(Math.max(2 * buffer.length, end + slice.length), maxBufferBytes);
      buffer = new Uint8Array(buffer.buffer.transfer(larger));
    }
    buffer.set(slice, end);
    end += slice.length;
    for (let next: Step | undefined = step; next; next = next()) step = next;
    buffer.copyWithin(keptEnd, at, end);
    end -= at - keptEnd;
    at = keptEnd;
  }

  return {
    push(chunk) {
      received += chunk.length;
      if (received > maxMultipartBytes(limit)) throw tooLarge(limit);
      for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
        parseSlice(chunk.subarray(from, from + SLICE_BYTES));
      }
    },
    end() {
      if (step === content && !part && count === 0) {
        throw new BodyError(400, "Malformed multipart body: it must begin with its boundary");
      }
      if (step !== epilogue) {
        throw new BodyError(400, "Malformed multipart body: it must end with its closing boundary");
      }
      return kept.map(({ part, start, end }) => ({ ...part, bytes: buffer.subarray(start, end) }));
    },
  };
}

/** The position of the empty line after the header fields; `undefined` when it has not arrived. */
function endOfHeader(bytes: Uint8Array, start: number, seen: number, end: number): number | undefined {
  if (end - start >= 2 && bytes[start] === CR && bytes[start + 1] === LF) {
    throw new BodyError(400, "Malformed multipart body: a part has no Content-Disposition field");
  }
  for (let at = start + seen; at + 4 <= end; at++) {
    if (bytes[at] === CR && bytes[at + 1] === LF && bytes[at + 2] === CR && bytes[at + 3] === LF) {
      return at + 2;
    }
  }
  return undefined;
}

function headerTooLong(): BodyError {
  return new BodyError(
    400,
    `Malformed multipart body: the header of a part must end with an empty line within ${MAX_HEADER_BYTES} bytes`,
  );
}

function tooLarge(limit: number): BodyError {
  return new BodyError(413, `The contents of a multipart body must be at most ${limit} bytes together`);
}
