/**
 * A skill as a zip archive over HTTP: deterministic bytes, so that one tag names them on every instance, and nobody
 * downloads twice what has not changed (https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3).
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { isUnchanged } from "../../http/entity_tag.ts";
import { type Fields, respond } from "../../http/response.ts";
import { type ArchiveFile, complete } from "./archive_file.ts";
import { MAX_NAME_CHARACTERS } from "../package/rules.ts";
import { sortByPath, writeZip } from "./zip_writer.ts";

export interface ArchiveContent {
  /** Of the skill: the name of the one folder in the archive, and of the archive. */
  readonly name: string;
  readonly files: readonly ArchiveFile[];
  /** Whether the address names these bytes for ever: that of a version which was uploaded, and not of `latest`. */
  readonly isImmutable: boolean;
}

/** Part of every tag: another way of writing archives is another archive. */
const FORMAT = "zip 1";
const IMMUTABLE = "private, max-age=31536000, immutable";
const REVALIDATED = "private, no-cache";

/**
 * 200 with the archive in one folder, or 304 when the caller has it; for HEAD too.
 * @throws {SkillError} when a local file has a name that cannot be packed
 */
export async function respondArchive(
  request: Request,
  { name, files, isImmutable }: ArchiveContent,
): Promise<Response> {
  const folder = safeName(name);
  const digested = await complete(files, "digest");
  const tag = archiveTag(digested, folder);
  const fields: Fields = [
    ["etag", tag],
    ["cache-control", isImmutable ? IMMUTABLE : REVALIDATED],
    // Another key may be another workspace.
    ["vary", "authorization, x-api-key"],
  ];
  if (isUnchanged(request, tag)) return respond(304, null, fields);
  const archive = writeZip(await complete(digested, "crc"), folder);
  return respond(200, request.method === "HEAD" ? null : archive.stream(), [
    ["content-type", "application/zip"],
    ["content-length", String(archive.length)],
    ["content-disposition", attachment(folder)],
    ["x-content-type-options", "nosniff"],
    ...fields,
  ]);
}

/**
 * What names the bytes of an archive before it is written, with its quotes: a digest of the paths, the digests of the
 * files, and the folder around them.
 */
export function archiveTag(
  files: readonly { readonly path: string; readonly digest: string }[],
  folder: string | undefined,
): string {
  const manifest = [FORMAT, folder ?? null, ...sortByPath(files).map(({ path, digest }) => [path, digest])];
  return `"${encodeBase64url(sha256(JSON.stringify(manifest)))}"`;
}

/** Uploaded skills are called by a slug already; a local one by anything, such as `../x`. */
function safeName(name: string): string {
  const words = name.toWellFormed().replace(/[^\p{L}\p{M}\p{N}_]+/gu, "-");
  const safe = [...words].slice(0, MAX_NAME_CHARACTERS).join("").replace(/^-+|-+$/g, "");
  return safe === "" ? "skill" : safe;
}

/** RFC 6266 section 4.3: what is not ASCII goes into a second parameter. */
function attachment(name: string): string {
  return /^[\w-]+$/.test(name)
    ? `attachment; filename="${name}.zip"`
    : `attachment; filename="skill.zip"; filename*=UTF-8''${encodeURIComponent(name)}.zip`;
}
