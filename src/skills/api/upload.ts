/**
 * Reads an upload: the parts of its body become files and fields, and an archive becomes its files. The total size and
 * time are limited, and memory is reserved first. The first bytes show whether a file is an archive.
 *
 * @module
 */
import { declaredLength } from "../../http/body/body.ts";
import { BodyError } from "../../http/body/body_error.ts";
import { maxMultipartBytes, type Part, readMultipart } from "../../http/body/multipart.ts";
import { type Pace, SlowBodyError } from "../../http/body/paced_body.ts";
import type { PartName } from "../../http/body/part_header.ts";
import { refuseArchive, refuseSize } from "../archive/archive_refusal.ts";
import { SkillError } from "../error.ts";
import type { SentFile } from "../package/sent_file.ts";
import { createMemoryGate, type Reservation } from "./memory_gate.ts";
import { isZip, readZip } from "../archive/zip_reader.ts";

export interface Upload {
  readonly files: readonly SentFile[];
  /** The form fields; of a repeated field the first value. */
  readonly fields: ReadonlyMap<string, string>;
  /** `display_name`, or `display_title` in older clients; the dialect checks it. */
  readonly displayName: string | undefined;
}

export interface UploadOptions {
  /** Bytes of a skill, packed and unpacked. */
  readonly limit: number;
  /** Bytes of all uploads that one process holds. @default 64 MiB, and at least the need of one upload */
  readonly memory?: number | undefined;
  /** Milliseconds that an upload waits for memory. @default 80000 */
  readonly wait?: number | undefined;
  /** Milliseconds without a byte from the client. @default 20000 */
  readonly idle?: number | undefined;
  /** Milliseconds for the whole body. @default 90000 */
  readonly whole?: number | undefined;
}

/** The caller of an upload, and whether its body is in memory already (`RequestContext`). */
export interface Uploader {
  readonly id: string;
  readonly isBodyBuffered?: boolean | undefined;
}

/**
 * Reads the upload of a request, and keeps its memory reserved while `run` works on it.
 * @param caller the key of the caller, for the limit per caller
 * @throws {SkillError} for an upload that is refused, and any error of `run`
 */
export type ReadUpload = <Answer>(
  request: Request,
  caller: Uploader,
  run: (upload: Upload) => Promise<Answer>,
) => Promise<Answer>;

/** Minimum rate of a body without `content-length`. */
const MIN_BYTES_PER_SECOND = 16 * 1024;
/** Time to store an upload before its memory counts as free. */
const STORING_MS = 60_000;
/** Bytes of waiting bodies, on runtimes that hold a waiting body in memory. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Bytes of a form field. */
const MAX_FIELD_BYTES = 16 * 1024;
const FILE_FIELD = /^files?(\[\d*\])?$/;
const LABELS = ["display_name", "display_title"];
/** Fields that must not be repeated. */
const SINGLE = new Set([...LABELS, "default"]);

/** Create one for each process: the uploads of one reader share its memory limit. */
export function createUploadReader(options: UploadOptions): ReadUpload {
  const { limit, memory = 64 * 1024 * 1024, wait = 80_000, idle = 20_000, whole = 90_000 } = options;
  const maxBodyBytes = maxMultipartBytes(limit);
  const gate = createMemoryGate({
    memory: Math.max(memory, maxBodyBytes + limit),
    kept: limit,
    wait,
    life: whole + wait + STORING_MS,
  });
  return async (request, { id: caller, isBodyBuffered }, run) => {
    const declared = declaredLength(request);
    if (declared !== undefined && declared > maxBodyBytes) {
      // The client may be gone already.
      request.body?.cancel().catch(() => {});
      throw refuseSize(limit, "packed and unpacked");
    }
    const bytes = declared ?? maxBodyBytes;
    const queue = isBodyBuffered ? MAX_WAITING_BYTES : undefined;
    const reservation = await gate.reserve(bytes, queue, caller);
    // The rate that completes the body in time; a body of unknown length has a fixed rate.
    const rate = declared === undefined ? MIN_BYTES_PER_SECOND : declared * 1000 / whole;
    let upload: Upload | undefined;
    try {
      upload = await parseUpload(request, limit, { idle, whole, rate }, declared, reservation);
      return await run(upload);
    } finally {
      if (upload) releaseMemory(upload.files);
      reservation.release();
    }
  };
}

/** Frees the bytes now: until the next garbage collection they would add to those of the next uploads. */
function releaseMemory(files: readonly SentFile[]): void {
  for (const { bytes } of files) {
    const { buffer } = bytes;
    if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
  }
}

async function parseUpload(
  request: Request,
  limit: number,
  pace: Pace,
  expected: number | undefined,
  reservation: Reservation,
): Promise<Upload> {
  let parts: Part[];
  try {
    // Without a length, a buffer that grows would be copied; pages that stay empty take no memory.
    parts = await readMultipart(request, { limit, keep, pace, expected: expected ?? limit });
  } catch (error) {
    throw error instanceof BodyError ? refuseBody(error, limit) : error;
  }
  const fields = readFields(parts.filter(({ filename }) => filename === undefined));
  const displayName = LABELS.map((label) => fields.get(label)).find((label) => label !== undefined);
  const files = parts.flatMap(({ filename, bytes }) =>
    filename === undefined ? [] : [{ path: filename, bytes }]
  );
  return { files: await unpack(files, limit, reservation), fields, displayName };
}

/** Keeps form fields, and files under the field names that clients use. */
function keep({ name, filename }: PartName): boolean {
  return filename === undefined || FILE_FIELD.test(name);
}

function readFields(parts: readonly Part[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const { name, bytes } of parts) {
    if (FILE_FIELD.test(name)) {
      throw refuse(
        "upload-filename",
        "Every part of files[] must have a filename",
        "send the file's path in the skill's folder",
      );
    }
    if (bytes.length > MAX_FIELD_BYTES) {
      throw refuse("upload-field-length", `A form field must have at most ${MAX_FIELD_BYTES} bytes`);
    }
    if (!fields.has(name)) fields.set(name, decode(name, bytes));
    else if (SINGLE.has(name)) throw refuse("upload-field-twice", `${name} must not be repeated`);
  }
  if (LABELS.every((label) => fields.has(label))) {
    throw refuse(
      "upload-field-twice",
      "display_name must not be repeated",
      "display_title is the same field",
    );
  }
  return fields;
}

function decode(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch (cause) {
    const shown = SINGLE.has(name) ? name : "A form field";
    throw refuse("upload-field-encoding", `${shown} must be UTF-8`, undefined, cause);
  }
}

/** The files that were sent, or the files of the one archive. */
async function unpack(
  files: readonly { path: string; bytes: Uint8Array<ArrayBuffer> }[],
  limit: number,
  reservation: Reservation,
): Promise<readonly SentFile[]> {
  const [file] = files;
  // An archive in a package of files, such as a template, is one of its files.
  const isPackage = files.some(({ path }) => /(^|[\\/])SKILL\.md$/.test(path)) && files.length > 1;
  if (isPackage || !file) return files;
  const archives = files.filter(({ bytes }) => isZip(bytes));
  if (archives.length > 0 && files.length > 1) {
    const hint = "send one archive, or the files themselves";
    throw archives.length > 1
      ? refuse("upload-two-archives", "More than one archive was sent", hint)
      : refuse("upload-archive-and-files", "An archive and other files were sent", hint);
  }
  if (archives.length === 0) {
    if (files.length === 1 && /\.(zip|skill)$/i.test(file.path)) {
      throw refuseArchive("archive-start", "it must begin with a local file header (PK 3 4)", {
        hint: "pack the folder again as a zip archive with a standard tool",
      });
    }
    return files;
  }
  const unpacked = await readZip(file.bytes, limit, reservation.extend);
  // Free the memory of the archive now, not at the next garbage collection.
  if (!unpacked.some(({ bytes }) => bytes.buffer === file.bytes.buffer)) file.bytes.buffer.transfer(0);
  return unpacked;
}

function refuseBody(error: BodyError, limit: number): SkillError {
  if (error.status === 413) return refuseSize(limit, "packed and unpacked", error);
  if (error.status === 415) return refuse("upload-media-type", error.message, undefined, error);
  const rule = error instanceof SlowBodyError ? "upload-too-slow" : "upload-malformed";
  return refuse(rule, error.message, undefined, error);
}

function refuse(rule: string, message: string, hint?: string, cause?: unknown): SkillError {
  const text = hint === undefined ? message : `${message} (${hint})`;
  return new SkillError("invalid_request_error", text, {
    problems: [{ file: "", line: undefined, rule, message, hint }],
    cause,
  });
}
