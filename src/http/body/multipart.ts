/**
 * `multipart/form-data` (https://www.rfc-editor.org/rfc/rfc7578), read as it arrives under limits that run along, into
 * one buffer that holds the contents asked for and nothing else. Names and file names come as they were sent: whoever
 * uses them as paths must check them. `Request.formData()` would mend hostile names, lose binary parts without a file
 * name, and read without a limit.
 *
 * @module
 */
import { BodyError } from "./body.ts";
import { createDelimiterSearch } from "./delimiter_search.ts";
import { mediaType, mediaTypeParameter } from "./media_type.ts";
import { type Pace, readPaced } from "./paced_body.ts";
import { type PartName, readPartHeader } from "./part_header.ts";

export interface Part extends PartName {
  /** A view of the one buffer of all parts. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface MultipartOptions {
  /** Bytes of all contents that are kept. */
  readonly limit: number;
  /** Whether a part's content is kept; a part that is not is passed over. */
  readonly keep: (part: PartName) => boolean;
}

/** Takes a body in pieces. */
export interface MultipartParser {
  /** @throws {BodyError} 413 past a limit, 400 for what is malformed */
  push(piece: Uint8Array): void;
  /** The parts that were kept, in order. @throws {BodyError} 400 when the body is not at its end */
  end(): Part[];
}

const MOST_PARTS = 2000;
const LONGEST_HEADER = 16 * 1024;
/** What all boundaries, headers and contents that are passed over may have together: a kilobyte for each part. */
const FRAMING = MOST_PARTS * 1024;
/** So much of a piece is looked at together: what moves up when a header ends is no more than that. */
const STEP = 64 * 1024;
const CR = 13;
const LF = 10;
const DASH = 45;

/** The most bytes that a body under this limit can have. */
export function longestMultipart(limit: number): number {
  return limit + FRAMING;
}

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
 * The parts of a request's body that are kept, in order. The sender is cut off at the first byte that is wrong or too
 * many.
 * @param expected bytes of the body, as far as its sender told
 * @throws {BodyError} 413 past a limit, 400 naming what is malformed, 415 for another media type
 */
export async function readMultipart(
  request: Request,
  options: MultipartOptions & { readonly pace: Pace; readonly expected?: number | undefined },
): Promise<Part[]> {
  const parser = createMultipartParser(readBoundary(request), options, options.expected);
  if (request.body) await readPaced(request.body, options.pace, parser.push);
  return parser.end();
}

/** @param expected bytes of the whole body, where that is known: the buffer then need not grow */
export function createMultipartParser(
  boundary: string,
  { limit, keep }: MultipartOptions,
  expected = 0,
): MultipartParser {
  const delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
  const findDelimiter = createDelimiterSearch(delimiter);
  /** Kept contents, then what is not read yet: a piece, and what was left of the one before. */
  const most = limit + LONGEST_HEADER + 2 * STEP;
  let buffer = new Uint8Array(Math.min(Math.max(expected + 2, STEP), most));
  // As if a line break stood before the body: the first delimiter may open it.
  buffer.set([CR, LF]);
  let keptEnd = 0;
  let at = 0;
  let end = 2;
  /** How many of the bytes at `at` were looked at in vain: they are not looked at again when one more comes. */
  let seen = 0;
  let received = 0;
  let count = 0;
  /** Whose content is read; `undefined` while it is passed over, as the preamble is. */
  let part: PartName | undefined;
  let partStart = 0;
  const kept: { part: PartName; start: number; end: number }[] = [];

  /** Reads the next element of the body and tells what follows it; `undefined` when it is not all there. */
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

  /** Only blanks may pad a delimiter, and two dashes make it the last one (RFC 2046 §5.1.1). */
  const afterDelimiter: Step = () => {
    let to = at + seen;
    while (to < end && (buffer[to] === 32 || buffer[to] === 9)) to++;
    if (to - at > LONGEST_HEADER) throw headerTooLong();
    seen = to - at;
    if (end - to < 2) return undefined;
    if (to === at && buffer[at] === DASH && buffer[at + 1] === DASH) return epilogue;
    if (buffer[to] !== CR || buffer[to + 1] !== LF) {
      throw new BodyError(400, "Lines of a multipart body must end with CR LF");
    }
    at = to + 2;
    seen = 0;
    return header;
  };

  const header: Step = () => {
    const to = endOfHeader(buffer, at, seen, end);
    if ((to ?? end) - at > LONGEST_HEADER) throw headerTooLong();
    seen = to === undefined ? Math.max(0, end - at - 3) : 0;
    if (to === undefined) return undefined;
    if (++count > MOST_PARTS) {
      throw new BodyError(400, `The multipart body may have at most ${MOST_PARTS} parts`);
    }
    const name = readPartHeader(buffer.subarray(at, to));
    part = keep(name) ? name : undefined;
    partStart = keptEnd;
    at = to;
    return blankLine;
  };

  /** The blank line that ends the header of an empty part is also the line break before the delimiter. */
  const blankLine: Step = () => {
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

  function take(piece: Uint8Array): void {
    if (end + piece.length > buffer.length) {
      const larger = Math.min(Math.max(2 * buffer.length, end + piece.length), most);
      buffer = new Uint8Array(buffer.buffer.transfer(larger));
    }
    buffer.set(piece, end);
    end += piece.length;
    for (let next: Step | undefined = step; next; next = next()) step = next;
    buffer.copyWithin(keptEnd, at, end);
    end -= at - keptEnd;
    at = keptEnd;
  }

  return {
    push(piece) {
      received += piece.length;
      if (received > longestMultipart(limit)) throw tooLarge(limit);
      for (let from = 0; from < piece.length; from += STEP) take(piece.subarray(from, from + STEP));
    },
    end() {
      if (step === content && !part && count === 0) {
        throw new BodyError(400, "The multipart body must begin with its boundary");
      }
      if (step !== epilogue) {
        throw new BodyError(400, "The multipart body must end with its closing boundary");
      }
      return kept.map(({ part, start, end }) => ({ ...part, bytes: buffer.subarray(start, end) }));
    },
  };
}

/** The position of the CR LF that starts the blank line after the header fields; `undefined` when it is not there. */
function endOfHeader(bytes: Uint8Array, start: number, seen: number, end: number): number | undefined {
  if (end - start >= 2 && bytes[start] === CR && bytes[start + 1] === LF) {
    throw new BodyError(400, "A part must have a Content-Disposition field");
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
    `The header of a part must end with a blank line within ${LONGEST_HEADER} bytes`,
  );
}

function tooLarge(limit: number): BodyError {
  return new BodyError(413, `The contents must have at most ${limit} bytes together`);
}
