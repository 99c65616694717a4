/**
 * The credentials for a server: an API key or an access token. Never from the command line, which other users of the machine
 * can read.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import type { Environment } from "../options.ts";
import { UsageError } from "../output.ts";
import { describeFileError } from "../file_error.ts";

/** What identifies the caller. */
export type Credentials = { readonly key: string } | { readonly token: string };

/** The fields of a request that carry the credentials. */
export function toCredentialFields(
  credentials: Credentials | undefined,
): Readonly<Record<string, string>> {
  if (!credentials) return {};
  return "key" in credentials
    ? { "x-api-key": credentials.key }
    : { authorization: `Bearer ${credentials.token}` };
}

/**
 * The credentials in a file with an API key, or else in `TRIVET_API_KEY` or `TRIVET_TOKEN`; `undefined` without any.
 * @throws {UsageError} for what is no key or token
 */
export function readCredentials(file: string | undefined, env: Environment): Credentials | undefined {
  if (file !== undefined) return { key: checkSecret(readKeyFile(file), `"${file}"`, "API key") };
  const { TRIVET_API_KEY: key = "", TRIVET_TOKEN: token = "" } = env;
  if (key.trim() !== "") return { key: checkSecret(key, "TRIVET_API_KEY", "API key") };
  if (token.trim() !== "") return { token: checkSecret(token, "TRIVET_TOKEN", "access token") };
  return undefined;
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`--key-file: cannot read "${file}": ${describeFileError(cause)}`, { cause });
  }
}

/** A text that no header field can hold would be quoted in the runtime's error. */
function checkSecret(text: string, source: string, what: string): string {
  const secret = text.trim();
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new UsageError(`${source} must contain one ${what} and nothing else`);
}
