/**
 * An upload's parts as files and a label: loose files, or one archive, told by its first bytes.
 *
 * @module
 */
import { BodyError, readBytes } from "../http/body.ts";
import { parseMultipart, readBoundary } from "../http/multipart.ts";
import { SkillError } from "./error.ts";
import { findHidden } from "./hidden_text.ts";
import type { SentFile } from "./package.ts";
import { isZip, readZip } from "./zip_reader.ts";

export interface Upload {
  readonly files: readonly SentFile[];
  readonly displayName: string | undefined;
}

/** What boundaries and headers may add to the files themselves. */
const FRAMING = 256 * 1024;

/**
 * Reads an upload under a limit of bytes; the sender is cut off past it.
 * @throws {SkillError} and {BodyError} for what cannot be read
 */
export async function readUpload(request: Request, limit: number): Promise<Upload> {
  const boundary = readBoundary(request);
  const parts = parseMultipart(await readBody(request, limit), boundary);
  const labels = parts.filter(({ name, filename }) =>
    filename === undefined && /^display_(name|title)$/.test(name)
  );
  const files = parts.filter(({ name, filename }) =>
    filename !== undefined && /^files?(\[\d*\])?$/.test(name)
  );
  if (labels.length > 1) throw new SkillError("invalid_request_error", "display_name must come once");
  const unnamed = parts.find(({ name, filename }) =>
    filename === undefined && /^files?(\[\d*\])?$/.test(name)
  );
  if (unnamed) throw new SkillError("invalid_request_error", "Every part of files[] must have a filename");
  const archives = files.filter(({ bytes }) => isZip(bytes));
  const displayName = labels[0] && checkLabel(labels[0].bytes);
  const sent = files.map(({ filename, bytes }) => ({ path: filename!, bytes }));
  if (archives.length === 0 || !isArchiveUpload(sent)) return { files: sent, displayName };
  if (files.length > 1) {
    throw new SkillError(
      "invalid_request_error",
      "Send one archive or the files themselves, not both and not two archives",
    );
  }
  return { files: await readZip(archives[0]!.bytes, limit), displayName };
}

/** The body; one that is too long is told the limit that its sender knows. */
async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  try {
    return await readBytes(request, limit + FRAMING);
  } catch (error) {
    if (!(error instanceof BodyError) || error.status !== 413) throw error;
    throw new SkillError(
      "request_too_large",
      `A skill may have at most ${limit} bytes, packed and unpacked`,
      { cause: error },
    );
  }
}

/** An archive inside a package of files (a template, say) is one of its files. */
function isArchiveUpload(files: readonly SentFile[]): boolean {
  return !files.some(({ path }) => /(^|[\\/])SKILL\.md$/.test(path)) || files.length === 1;
}

function checkLabel(bytes: Uint8Array): string {
  let label: string;
  try {
    label = new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch (cause) {
    throw new SkillError("invalid_request_error", "display_name must be UTF-8", { cause });
  }
  if (
    label === "" || [...label].length > 255 || /[\p{Cc}\u2028\u2029]/u.test(label) || findHidden(label)
  ) {
    throw new SkillError(
      "invalid_request_error",
      "display_name must be one line of 1 to 255 characters, none of them hidden",
    );
  }
  return label;
}
