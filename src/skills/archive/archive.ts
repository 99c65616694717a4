/**
 * A skill as a zip archive over HTTP. The bytes are deterministic, so that one entity tag identifies them on every
 * instance (https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3).
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { isUnchanged } from "../../http/entity_tag.ts";
import { type Fields, respond } from "../../http/response.ts";
import { WorkSlice } from "../../http/work_slice.ts";
import { type ArchiveFile, complete } from "./archive_file.ts";
import { SkillError } from "../error.ts";
import { MAX_NAME_CHARACTERS } from "../package/rules.ts";
import { ContentChangedError, sortByPath, writeZip } from "./zip_writer.ts";

export interface ArchiveContent {
  /** The name of the skill: it names the archive and the one folder in it. */
  readonly name: string;
  readonly files: readonly ArchiveFile[];
  /** Whether the URL always returns these bytes: true for an uploaded version, not for `latest`. */
  readonly isImmutable: boolean;
}

/** Part of every tag: change it when the format of archives changes. */
const FORMAT = "zip 1";
const IMMUTABLE = "private, max-age=31536000, immutable";
const REVALIDATED = "private, no-cache";

/**
 * Responds to GET and HEAD: 200 with the archive, or 304.
 * @throws {SkillError} when a local file has a name that cannot be packed, or changes meanwhile
 */
export async function respondArchive(request: Request, content: ArchiveContent): Promise<Response> {
  try {
    return await respondWith(request, content);
  } catch (error) {
    if (!(error instanceof ContentChangedError)) throw error;
    throw new SkillError("overloaded_error", "The files of this skill are changing. Try again in a second.", {
      cause: error,
      fields: [["retry-after", "1"]],
    });
  }
}

async function respondWith(
  request: Request,
  { name, files, isImmutable }: ArchiveContent,
): Promise<Response> {
  const folder = safeName(name);
  // Each step below takes milliseconds for thousands of files. Many requests may come to the same step in one turn, so each
  // asks right before it.
  const slice = new WorkSlice();
  const digested = await complete(files, "digest");
  if (slice.isOver) await slice.yield();
  const fieldsOf = (tag: string): Fields => [
    ["etag", tag],
    ["cache-control", isImmutable ? IMMUTABLE : REVALIDATED],
    // The response depends on the workspace of the key.
    ["vary", "authorization, x-api-key"],
  ];
  const listed = archiveTag(digested, folder);
  if (isUnchanged(request, listed)) return respond(304, null, fieldsOf(listed));
  if (slice.isOver) await slice.yield();
  // A local file may have changed since it was listed: the tag is that of the content that is sent.
  const measured = await complete(digested, "crc");
  const isSame = measured.every(({ digest }, i) => digest === digested[i]!.digest);
  const fields = fieldsOf(isSame ? listed : archiveTag(measured, folder));
  if (slice.isOver) await slice.yield();
  const archive = writeZip(measured, folder);
  return respond(200, request.method === "HEAD" ? null : archive.stream(), [
    ["content-type", "application/zip"],
    ["content-length", String(archive.length)],
    ["content-disposition", attachment(folder)],
    ["x-content-type-options", "nosniff"],
    ...fields,
  ]);
}

/**
 * The entity tag of an archive, with its quotes. It is computed before the archive is written, from the paths, the
 * digests of the files, and the folder.
 */
export function archiveTag(
  files: readonly { readonly path: string; readonly digest: string }[],
  folder: string | undefined,
): string {
  const manifest = [FORMAT, folder ?? null, ...sortByPath(files).map(({ path, digest }) => [path, digest])];
  return `"${encodeBase64url(sha256(JSON.stringify(manifest)))}"`;
}

/** A name that is safe as a file name: local skills may have any name, such as `../x`. */
function safeName(name: string): string {
  const words = name.toWellFormed().replace(/[^\p{L}\p{M}\p{N}_]+/gu, "-");
  const safe = [...words].slice(0, MAX_NAME_CHARACTERS).join("").replace(/^-+|-+$/g, "");
  return safe === "" ? "skill" : safe;
}

/** RFC 6266 section 4.3: a name that is not ASCII goes into `filename*`. */
function attachment(name: string): string {
  return /^[\w-]+$/.test(name)
    ? `attachment; filename="${name}.zip"`
    : `attachment; filename="skill.zip"; filename*=UTF-8''${encodeURIComponent(name)}.zip`;
}
