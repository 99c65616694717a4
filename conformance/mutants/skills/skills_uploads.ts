/**
 * Faults in which archives and paths a Skills API takes.
 *
 * @module
 */
import type { Mutant } from "../mutant.ts";
import { type ArchiveEntry, forgiving, refusing, type Upload } from "./upload.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `skills/${id}`);

const FOLDER = 0o040000;
const FILE = 0o100000;

const some = (when: (entry: ArchiveEntry) => boolean) => ({ entries }: Upload): boolean => entries.some(when);

const path = (pattern: RegExp) => ({ paths }: Upload): boolean => paths.some((each) => pattern.test(each));

/** Whether two paths are one after `fold`. */
const twice = (fold: (path: string) => string) => ({ entries, paths }: Upload): boolean => {
  const all = (entries.length > 0 ? entries.map(({ path }) => path) : paths).map((each) =>
    each.replace(/\/$/, "")
  );
  return new Set(all.map(fold)).size < new Set(all).size;
};

const kindOf = ({ mode }: ArchiveEntry): number => mode & 0o170000;

/** Vectors about archives and about file names alike. */
const both = (...ids: string[]): string[] => ids.flatMap((id) => names(`archive/${id}`, `intake/${id}`));

export const SKILLS_UPLOADS: readonly Mutant[] = [
  {
    name: "skills/no-stored-entries",
    fault: "Refuses entries that are stored",
    wrap: refusing(some(({ method, path }) => method === 0 && path.endsWith("SKILL.md"))),
    breaks: names("archive/stored", "create/archive-with-folder"),
    mayBreak: { "They have stored entries, as archives of the kit do": names("") },
  },
  {
    name: "skills/no-deflated-entries",
    fault: "Refuses entries that are deflated",
    wrap: refusing(some(({ method }) => method === 8)),
    breaks: names("archive/deflated"),
    mayBreak: { "Its entries are deflated": names("archive/descriptor") },
  },
  {
    name: "skills/no-descriptors",
    fault: "Refuses entries whose sizes follow their content",
    wrap: refusing(some(({ bits }) => (bits & 8) !== 0)),
    breaks: names("archive/descriptor"),
  },
  {
    name: "skills/no-folder-entries",
    fault: "Refuses folders as entries",
    wrap: refusing(some(({ path }) => path.endsWith("/"))),
    breaks: names("archive/folders"),
  },
  {
    name: "skills/no-extra-fields",
    fault: "Refuses extra fields",
    wrap: refusing(some(({ extra }) => extra > 0)),
    breaks: names("archive/extra-and-comment"),
  },
  {
    name: "skills/unix-alone",
    fault: "Refuses archives that were not made on Unix",
    wrap: refusing(some(({ madeBy }) => madeBy !== 3)),
    breaks: names("archive/made-by-dos"),
  },
  {
    name: "skills/ascii-paths",
    fault: "Refuses paths beyond ASCII",
    wrap: refusing(path(/[^ -~]/)),
    breaks: names("archive/name-utf8"),
  },
  {
    name: "skills/no-backslashes",
    fault: "Refuses backslashes in paths",
    wrap: refusing(path(/\\/)),
    breaks: names("archive/backslashes"),
  },
  {
    name: "skills/no-litter",
    fault: "Refuses archives with the litter of desktops",
    wrap: refusing(path(/__MACOSX|\.DS_Store/)),
    breaks: names("archive/litter"),
  },
  {
    name: "skills/archives-of-one-type",
    fault: "Knows an archive by its media type alone",
    wrap: refusing(({ text, entries }) =>
      entries.length > 0 && !text.includes("Content-Type: application/zip")
    ),
    breaks: names("create/archive-of-any-type"),
  },
  {
    name: "skills/folder-needed",
    fault: "Refuses archives without a folder around their files",
    wrap: refusing(some(({ path }) => path === "SKILL.md")),
    breaks: names("create/archive-without-folder", "content/folder-added"),
  },
  {
    name: "skills/links-taken",
    fault: "Takes links",
    wrap: forgiving(some((entry) => kindOf(entry) === 0o120000)),
    breaks: names("archive/kind-link", "archive/kind-link-inside", "archive/kind-link-for-folder"),
  },
  {
    name: "skills/special-files-taken",
    fault: "Takes devices, sockets and pipes",
    wrap: forgiving(some((entry) => ![0, FOLDER, FILE, 0o120000].includes(kindOf(entry)))),
    breaks: names(
      "archive/kind-device-file",
      "archive/kind-block-device",
      "archive/kind-fifo",
      "archive/kind-socket",
    ),
  },
  {
    name: "skills/encrypted-taken",
    fault: "Takes encrypted entries",
    wrap: forgiving(some(({ bits }) => (bits & 0x41) !== 0)),
    breaks: names("archive/encrypted", "archive/strongly-encrypted"),
  },
  {
    name: "skills/methods-taken",
    fault: "Takes methods that it cannot unpack",
    wrap: forgiving(some(({ method }) => method !== 0 && method !== 8)),
    breaks: names(
      "archive/method-shrink",
      "archive/method-deflate64",
      "archive/method-bzip2",
      "archive/method-lzma",
      "archive/method-zstandard",
      "archive/method-aes",
    ),
  },
  {
    name: "skills/dots-taken",
    fault: "Takes dots for names in paths",
    wrap: forgiving(path(/(^|[\\/])\.\.?([\\/]|$)/)),
    breaks: both(
      "path-dots",
      "path-dots-inside",
      "path-dots-out-of-folder",
      "path-one-dot",
      "path-backslash-dots",
    ),
    mayBreak: { "They have dots, too": names("archive/") },
  },
  {
    name: "skills/absolute-paths-taken",
    fault: "Takes paths from the root, of drives and of shares",
    wrap: forgiving(path(/^([\\/]|[A-Za-z]:)|[\\/][A-Za-z]:/)),
    breaks: both("path-absolute", "path-drive", "path-drive-inside", "path-share"),
  },
  {
    name: "skills/empty-parts-taken",
    fault: "Takes paths with empty parts",
    wrap: forgiving(path(/[^\\/][\\/][\\/]/)),
    breaks: both("path-empty-part"),
  },
  {
    name: "skills/controls-taken",
    fault: "Takes control characters in paths",
    // deno-lint-ignore no-control-regex
    wrap: forgiving(path(/[\x00-\x1f\x7f]/)),
    breaks: names("archive/path-control", "archive/path-escape", "archive/path-nul"),
    mayBreak: { "They have them, too": names("intake/path-", "archive/cut-") },
  },
  {
    name: "skills/devices-taken",
    fault: "Takes names of devices",
    wrap: forgiving(path(/(^|\/)(con|aux|nul|prn|com\d|lpt\d)(\.|\/|$)/i)),
    breaks: both("path-device", "path-device-in-folder"),
  },
  {
    name: "skills/ends-taken",
    fault: "Takes dots and blanks at the end of names",
    wrap: forgiving(path(/[^./][. ](\/|$)/)),
    breaks: both("path-dot-at-end", "path-blank-at-end"),
  },
  {
    name: "skills/windows-characters-taken",
    fault: "Takes characters that Windows does not have in names",
    wrap: forgiving(path(/[*?<>|]|\.md:/)),
    breaks: both("path-colon", "path-star"),
  },
  {
    name: "skills/long-parts-taken",
    fault: "Takes names of any length",
    wrap: forgiving(path(/[^/]{256}/)),
    breaks: both("path-part-of-300"),
  },
  {
    name: "skills/unseen-taken",
    fault: "Takes characters in paths that nobody sees",
    wrap: forgiving(path(/\xe2\x80[\x8b-\x8f\xaa-\xae]/)),
    breaks: both("path-bidi", "path-zero-width"),
  },
  {
    name: "skills/letter-case-kept-apart",
    fault: "Takes two paths that differ in case alone",
    wrap: forgiving(twice((each) => each.toLowerCase())),
    breaks: both("letter-case"),
    mayBreak: { "They differ in case": names("archive/skill-md-twice") },
  },
  {
    name: "skills/accents-kept-apart",
    fault: "Takes two paths that differ in how accents are written",
    wrap: forgiving(
      twice((each) =>
        new TextDecoder().decode(Uint8Array.from(each, (byte) => byte.charCodeAt(0))).normalize("NFC")
      ),
    ),
    breaks: names("archive/accents"),
  },
  {
    name: "skills/bombs-taken",
    fault: "Takes what grows beyond measure",
    wrap: forgiving(({ text, entries }) => entries.length > 0 && text.length < 2_000_000),
    breaks: names("archive/bomb", "archive/bomb-that-lies", "archive/bomb-of-many"),
    mayBreak: { "They are small, too": names("") },
  },
  {
    name: "skills/any-size-taken",
    fault: "Takes uploads of any size",
    wrap: forgiving(({ text }) => text.length > 30_000_000),
    breaks: names("create/too-large"),
  },
];
