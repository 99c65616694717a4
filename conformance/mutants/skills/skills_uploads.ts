/**
 * Faults in which archives and paths the Skills API accepts.
 *
 * @module
 */
import type { Mutant } from "../mutant.ts";
import { acceptUploads, type ArchiveEntry, refuseUploads, type Upload } from "./upload_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `skills/${id}`);

const FOLDER = 0o040000;
const FILE = 0o100000;

const hasEntry = (when: (entry: ArchiveEntry) => boolean) => ({ entries }: Upload): boolean =>
  entries.some(when);

const hasPath = (pattern: RegExp) => ({ paths }: Upload): boolean => paths.some((each) => pattern.test(each));

/** Whether two paths are equal after `fold`. */
const hasCollision = (fold: (path: string) => string) => ({ entries, paths }: Upload): boolean => {
  const all = (entries.length > 0 ? entries.map(({ path }) => path) : paths).map((each) =>
    each.replace(/\/$/, "")
  );
  return new Set(all.map(fold)).size < new Set(all).size;
};

const kindOf = ({ mode }: ArchiveEntry): number => mode & 0o170000;

/** The vectors with these ids of both suites, archive and intake. */
const inBothSuites = (...ids: string[]): string[] =>
  ids.flatMap((id) => names(`archive/${id}`, `intake/${id}`));

export const SKILLS_UPLOADS: readonly Mutant[] = [
  {
    name: "skills/no-stored-entries",
    fault: "Refuses stored entries",
    wrap: refuseUploads(hasEntry(({ method, path }) => method === 0 && path.endsWith("SKILL.md"))),
    killedBy: names("archive/stored", "create/archive-with-folder"),
    mayFail: { "The archives of the kit have stored entries": names("") },
  },
  {
    name: "skills/no-deflated-entries",
    fault: "Refuses deflated entries",
    wrap: refuseUploads(hasEntry(({ method }) => method === 8)),
    killedBy: names("archive/deflated"),
    mayFail: { "Its entries are deflated": names("archive/descriptor") },
  },
  {
    name: "skills/no-descriptors",
    fault: "Refuses entries with a data descriptor",
    wrap: refuseUploads(hasEntry(({ bits }) => (bits & 8) !== 0)),
    killedBy: names("archive/descriptor"),
  },
  {
    name: "skills/no-folder-entries",
    fault: "Refuses directory entries",
    wrap: refuseUploads(hasEntry(({ path }) => path.endsWith("/"))),
    killedBy: names("archive/folders"),
  },
  {
    name: "skills/no-extra-fields",
    fault: "Refuses extra fields",
    wrap: refuseUploads(hasEntry(({ extra }) => extra > 0)),
    killedBy: names("archive/extra-and-comment"),
  },
  {
    name: "skills/unix-only",
    fault: "Refuses archives that were not made on Unix",
    wrap: refuseUploads(hasEntry(({ madeBy }) => madeBy !== 3)),
    killedBy: names("archive/made-by-dos"),
  },
  {
    name: "skills/ascii-paths",
    fault: "Refuses paths beyond ASCII",
    wrap: refuseUploads(hasPath(/[^ -~]/)),
    killedBy: names("archive/name-utf8"),
  },
  {
    name: "skills/no-backslashes",
    fault: "Refuses backslashes in paths",
    wrap: refuseUploads(hasPath(/\\/)),
    killedBy: names("archive/backslashes"),
  },
  {
    name: "skills/no-litter",
    fault: "Refuses archives with desktop metadata files",
    wrap: refuseUploads(hasPath(/__MACOSX|\.DS_Store/)),
    killedBy: names("archive/litter"),
  },
  {
    name: "skills/archives-of-one-type",
    fault: "Recognizes an archive only by its media type",
    wrap: refuseUploads(({ text, entries }) =>
      entries.length > 0 && !text.includes("Content-Type: application/zip")
    ),
    killedBy: names("create/archive-of-any-type"),
  },
  {
    name: "skills/folder-required",
    fault: "Refuses archives without a folder around their files",
    wrap: refuseUploads(hasEntry(({ path }) => path === "SKILL.md")),
    killedBy: names("create/archive-without-folder", "content/folder-added"),
  },
  {
    name: "skills/links-accepted",
    fault: "Accepts symbolic links",
    wrap: acceptUploads(hasEntry((entry) => kindOf(entry) === 0o120000)),
    killedBy: names("archive/kind-link", "archive/kind-link-inside", "archive/kind-link-for-folder"),
  },
  {
    name: "skills/special-files-accepted",
    fault: "Accepts devices, sockets and pipes",
    wrap: acceptUploads(hasEntry((entry) => ![0, FOLDER, FILE, 0o120000].includes(kindOf(entry)))),
    killedBy: names(
      "archive/kind-device-file",
      "archive/kind-block-device",
      "archive/kind-fifo",
      "archive/kind-socket",
    ),
  },
  {
    name: "skills/encrypted-accepted",
    fault: "Accepts encrypted entries",
    wrap: acceptUploads(hasEntry(({ bits }) => (bits & 0x41) !== 0)),
    killedBy: names("archive/encrypted", "archive/strongly-encrypted"),
  },
  {
    name: "skills/methods-accepted",
    fault: "Accepts compression methods that it cannot unpack",
    wrap: acceptUploads(hasEntry(({ method }) => method !== 0 && method !== 8)),
    killedBy: names(
      "archive/method-shrink",
      "archive/method-deflate64",
      "archive/method-bzip2",
      "archive/method-lzma",
      "archive/method-zstandard",
      "archive/method-aes",
    ),
  },
  {
    name: "skills/dots-accepted",
    fault: "Accepts . and .. in paths",
    wrap: acceptUploads(hasPath(/(^|[\\/])\.\.?([\\/]|$)/)),
    killedBy: inBothSuites(
      "path-dots",
      "path-dots-inside",
      "path-dots-out-of-folder",
      "path-one-dot",
      "path-backslash-dots",
    ),
    mayFail: { "They send dots in paths": names("archive/") },
  },
  {
    name: "skills/absolute-paths-accepted",
    fault: "Accepts absolute paths, drives and shares",
    wrap: acceptUploads(hasPath(/^([\\/]|[A-Za-z]:)|[\\/][A-Za-z]:/)),
    killedBy: inBothSuites("path-absolute", "path-drive", "path-drive-inside", "path-share"),
  },
  {
    name: "skills/empty-segments-accepted",
    fault: "Accepts paths with empty segments",
    wrap: acceptUploads(hasPath(/[^\\/][\\/][\\/]/)),
    killedBy: inBothSuites("path-empty-part"),
  },
  {
    name: "skills/controls-accepted",
    fault: "Accepts control characters in paths",
    // deno-lint-ignore no-control-regex
    wrap: acceptUploads(hasPath(/[\x00-\x1f\x7f]/)),
    killedBy: names("archive/path-control", "archive/path-escape", "archive/path-nul"),
    mayFail: { "They send control characters": names("intake/path-", "archive/cut-") },
  },
  {
    name: "skills/devices-accepted",
    fault: "Accepts Windows device names",
    wrap: acceptUploads(hasPath(/(^|\/)(con|aux|nul|prn|com\d|lpt\d)(\.|\/|$)/i)),
    killedBy: inBothSuites("path-device", "path-device-in-folder"),
  },
  {
    name: "skills/trailing-dots-accepted",
    fault: "Accepts names that end with a dot or a space",
    wrap: acceptUploads(hasPath(/[^./][. ](\/|$)/)),
    killedBy: inBothSuites("path-dot-at-end", "path-blank-at-end"),
  },
  {
    name: "skills/windows-characters-accepted",
    fault: "Accepts characters that Windows does not allow in names",
    wrap: acceptUploads(hasPath(/[*?<>|]|\.md:/)),
    killedBy: inBothSuites("path-colon", "path-star"),
  },
  {
    name: "skills/long-names-accepted",
    fault: "Accepts names of any length",
    wrap: acceptUploads(hasPath(/[^/]{256}/)),
    killedBy: inBothSuites("path-part-of-300"),
  },
  {
    name: "skills/invisible-characters-accepted",
    fault: "Accepts invisible characters in paths",
    wrap: acceptUploads(hasPath(/\xe2\x80[\x8b-\x8f\xaa-\xae]/)),
    killedBy: inBothSuites("path-bidi", "path-zero-width"),
  },
  {
    name: "skills/case-collision-accepted",
    fault: "Accepts two paths that differ only in case",
    wrap: acceptUploads(hasCollision((each) => each.toLowerCase())),
    killedBy: inBothSuites("letter-case"),
    mayFail: { "They differ in case": names("archive/skill-md-twice") },
  },
  {
    name: "skills/normalization-collision-accepted",
    fault: "Accepts two paths that differ only in Unicode normalization",
    wrap: acceptUploads(
      hasCollision((each) =>
        new TextDecoder().decode(Uint8Array.from(each, (byte) => byte.charCodeAt(0))).normalize("NFC")
      ),
    ),
    killedBy: names("archive/accents"),
  },
  {
    name: "skills/bombs-accepted",
    fault: "Accepts archives that expand beyond the limit",
    wrap: acceptUploads(({ text, entries }) => entries.length > 0 && text.length < 2_000_000),
    killedBy: names("archive/bomb", "archive/bomb-that-lies", "archive/bomb-of-many"),
    mayFail: { "Their archives are small": names("") },
  },
  {
    name: "skills/any-size-accepted",
    fault: "Accepts uploads of any size",
    wrap: acceptUploads(({ text }) => text.length > 30_000_000),
    killedBy: names("create/too-large"),
  },
];
