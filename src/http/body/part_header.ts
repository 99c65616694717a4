/**
 * Parses the header of a part of `multipart/form-data`: the name and the file name in its Content-Disposition field, as
 * they were sent (RFC 7578 section 4.2).
 *
 * @module
 */
import { BodyError } from "./body_error.ts";

export interface PartName {
  readonly name: string;
  /** Absent for a plain field. */
  readonly filename: string | undefined;
}

/** @throws {BodyError} 400 */
export function readPartHeader(header: Uint8Array): PartName {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(header);
  } catch (cause) {
    throw new BodyError(400, "Malformed multipart body: the header of a part must be UTF-8", { cause });
  }
  const field = /^content-disposition:[ \t]*form-data([^\r\n]*)/im.exec(text)?.[1];
  if (field === undefined) {
    throw new BodyError(
      400,
      "Malformed multipart body: a part has no Content-Disposition field of type form-data",
    );
  }
  const name = parameter(field, "name");
  if (name === undefined) {
    throw new BodyError(400, "Malformed multipart body: the Content-Disposition of a part has no name");
  }
  return { name, filename: parameter(field, "filename") };
}

/** The value of a parameter as it was sent. A quoted value ends at the next quote without a backslash before it. */
function parameter(field: string, name: string): string | undefined {
  const parameters =
    /;[ \t]*([\w*!#$%&'+\-.^`|~]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^";\s]+)(?=[ \t]*(?:;|$)))/g;
  for (const [, key, quoted, plain] of field.matchAll(parameters)) {
    // Only quotes are unescaped: a backslash may belong to a Windows path.
    if (key!.toLowerCase() === name) return quoted === undefined ? plain : quoted.replaceAll('\\"', '"');
  }
  return undefined;
}
