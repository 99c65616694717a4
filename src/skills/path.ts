/**
 * What the path of a file in a package may be. A bad one is refused, never mended: whoever mends it must be right
 * about every system that will unpack it.
 *
 * @module
 */

const RESERVED = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;
const DEEPEST = 16;

/** Folders and files that archivers and desktops leave behind. */
const LITTER = /(^|\/)(__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*)(\/|$)/;

/**
 * The path with `/` between segments, or what is wrong with it. Backslashes count as slashes first, since
 * Windows tools write them, and then every rule applies.
 */
export function checkPath(sent: string): { readonly path: string } | { readonly problem: string } {
  const path = sent.replaceAll("\\", "/").normalize("NFC");
  const problem = (rule: string) => ({ problem: `The file name ${quote(sent)} ${rule}` });
  if (path.length === 0 || path.length > 512) return problem("must have 1 to 512 characters");
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return problem("must be relative");
  // deno-lint-ignore no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffd]/.test(path) || !path.isWellFormed()) {
    return problem("must not have control characters");
  }
  const segments = path.split("/");
  if (segments.length > DEEPEST) return problem(`must not be deeper than ${DEEPEST} folders`);
  for (const segment of segments) {
    if (segment === "") return problem("must not have an empty folder name");
    if (segment === "." || segment === "..") return problem('must not have "." or ".." as a folder');
    if (/[. ]$/.test(segment)) return problem("must not have a part that ends with a dot or a blank");
    if (RESERVED.test(segment)) return problem("must not be a device name of Windows");
    if (/[<>:"|?*]/.test(segment)) return problem('must not have any of < > : " | ? *');
    if (new TextEncoder().encode(segment).length > 255) return problem("must not have a part over 255 bytes");
  }
  return { path };
}

export function isLitter(path: string): boolean {
  return LITTER.test(path);
}

/** What two paths share that some file system takes for one. */
export function collisionKey(path: string): string {
  return path.normalize("NFC").toLowerCase().normalize("NFC").replace(
    /\p{Default_Ignorable_Code_Point}/gu,
    "",
  );
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? text.slice(0, 99) + "…" : text);
}
