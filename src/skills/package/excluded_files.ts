/**
 * Files that lie in the folder of a skill and are not part of it: those of version control, installed dependencies, caches,
 * editors and operating systems, and those that usually contain credentials. They are neither served from a local folder nor
 * uploaded from one.
 *
 * @module
 */

const NAMES = new Set([
  ".git",
  ".hg",
  ".svn",
  ".jj",
  "node_modules",
  "__pycache__",
  "__pypackages__",
  ".venv",
  ".mypy_cache",
  ".pytest_cache",
  ".ruff_cache",
  "__macosx",
  ".ds_store",
  "thumbs.db",
  "desktop.ini",
]);
const PATTERN = /^\._|^\.#|~$|\.sw[op]$|\.py[co]$/;
/** Only at the top: a template of a project may have these folders too. */
const TOP_NAMES = new Set([".idea", ".vscode"]);
const CREDENTIALS = new Set([
  ".envrc",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".aws",
  ".ssh",
  ".gnupg",
]);
/** `.env` and its variants, without templates such as `.env.example`; private keys of SSH. */
const CREDENTIALS_PATTERN =
  /^\.env(?!.*\.(?:example|sample|template|dist)$)(?:\..*)?$|^id_(?:rsa|dsa|ecdsa|ed25519)$/;

/**
 * Why a file or folder is excluded; `undefined` when it is part of the skill.
 * @param path relative to the skill's folder; only its last part is judged, so check a folder before its files
 */
export function findExclusion(path: string): "credentials" | "other" | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (CREDENTIALS.has(name) || CREDENTIALS_PATTERN.test(name)) return "credentials";
  return NAMES.has(name) || PATTERN.test(name) || name === path.toLowerCase() && TOP_NAMES.has(name)
    ? "other"
    : undefined;
}
