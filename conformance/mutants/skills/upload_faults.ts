/**
 * Faults that accept or refuse uploads by the content of their body.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { pathOf, withBody } from "../http_faults.ts";
import type { Wrap } from "../mutant.ts";

/** An entry of an archive's central directory. */
export interface ArchiveEntry {
  readonly path: string;
  readonly method: number;
  readonly bits: number;
  readonly madeBy: number;
  /** Unix mode. */
  readonly mode: number;
  readonly extra: number;
  readonly comment: number;
}

export interface Upload {
  /** The body with one character for each byte. */
  readonly text: string;
  /** Paths in file names and in archives. */
  readonly paths: readonly string[];
  /** Entries of all archives in the body. */
  readonly entries: readonly ArchiveEntry[];
}

/** Refuses uploads that match `when`. */
export const refuseUploads = (when: (upload: Upload) => boolean): Wrap =>
  wrapUploads(async (upload, next) =>
    when(upload)
      ? Response.json({ type: "error", error: { type: "invalid_request_error", message: "No" } }, {
        status: 400,
      })
      : await next()
  );

/** Answers refused uploads that match `when` with success. */
export const acceptUploads = (when: (upload: Upload) => boolean): Wrap =>
  wrapUploads(async (upload, next) => {
    const answer = await next();
    return when(upload) && answer.status >= 400 && answer.status < 500
      ? withBody(answer, JSON.stringify({ type: "skill", id: "skill_1" }), 200)
      : answer;
  });

function wrapUploads(change: (upload: Upload, next: () => Promise<Response>) => Promise<Response>): Wrap {
  return (next) => async (request) => {
    const isUpload = request.method === "POST" && pathOf(request).startsWith("/v1/skills");
    if (!isUpload) return await next(request);
    const upload = readUpload(new Uint8Array(await request.clone().arrayBuffer()));
    return await change(upload, () => next(request));
  };
}

function readUpload(bytes: Uint8Array): Upload {
  // Not with TextDecoder, whose latin1 is windows-1252.
  const text = Buffer.from(bytes).toString("latin1");
  const entries = readEntries(bytes, text);
  const named = [...text.matchAll(/filename="([^"]*)"/g)].map(([, name]) => name!);
  return { text, entries, paths: [...named, ...entries.map(({ path }) => path)] };
}

function readEntries(bytes: Uint8Array, text: string): ArchiveEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const entries: ArchiveEntry[] = [];
  for (let at = text.indexOf("PK\x01\x02"); at >= 0; at = text.indexOf("PK\x01\x02", at + 4)) {
    const length = view.getUint16(at + 28, true);
    entries.push({
      path: text.slice(at + 46, at + 46 + length),
      method: view.getUint16(at + 10, true),
      bits: view.getUint16(at + 8, true),
      madeBy: view.getUint8(at + 5),
      mode: view.getUint32(at + 38, true) >>> 16,
      extra: view.getUint16(at + 30, true),
      comment: view.getUint16(at + 32, true),
    });
  }
  return entries;
}
