/**
 * The header of a part of `multipart/form-data`: the name and the file name that its Content-Disposition gives (RFC 7578
 * §4.2), as they were sent.
 *
 * @module
 */
import { BodyError } from "./body.ts";

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
