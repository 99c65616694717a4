/**
 * The options that describe an MCP server: header fields, environment variables, and secrets in them. A secret comes from
 * standard input or an environment variable, never from the command line, which other users of the machine can read.
 *
 * @module
 */
import process from "node:process";
import { parseEnvironment } from "../../../gateway/upstream/configuration/environment.ts";
import { readSecretFromStdin } from "../admin/secret_input.ts";
import type { ValuesOf } from "../options.ts";
import { UsageError } from "../output.ts";

/** Stands for the secret on standard input. */
const SECRET = "{secret}";

/** A name and a value. */
export type Pair = readonly [name: string, value: string];

export const VALUE_OPTIONS = {
  header: {
    value: "FIELD",
    isRepeatable: true,
    summary: `a header field for a server with a URL: 'Name: value'`,
    parse: (text: string): Pair | undefined => splitPair(text, /^([^:\s]+):[ \t]*(.*)$/s),
    expected: "a header field, 'Name: value'",
    isSecret: true,
  },
  env: {
    value: "NAME=VALUE",
    isRepeatable: true,
    summary: "an environment variable of the command",
    parse: (text: string): Pair | undefined => splitPair(text, /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s),
    expected: "NAME=VALUE",
    isSecret: true,
  },
  "secret-stdin": {
    summary: "read a secret from standard input, which {secret} in --header or --env stands for",
  },
} as const;

/** Header fields and environment variables, as they were given. */
export interface GivenValues {
  readonly headers?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Reads the options.
 * @param isResolved whether references to environment variables are replaced
 * @throws {UsageError} for values that do not belong to such a server, and for secrets that are missing
 */
export async function readGivenValues(
  { header, env, "secret-stdin": hasSecret }: ValuesOf<typeof VALUE_OPTIONS>,
  { isCommand, isResolved }: { readonly isCommand: boolean; readonly isResolved: boolean },
): Promise<GivenValues> {
  if (isCommand && header) throw new UsageError("--header needs a URL: a command gets --env");
  if (!isCommand && env) throw new UsageError("--env needs a command: a URL gets --header");
  const pairs = [...header ?? [], ...env ?? []];
  const isUsed = pairs.some(([, value]) => value.includes(SECRET));
  if (isUsed && !hasSecret) throw new UsageError(`${SECRET} needs --secret-stdin`);
  if (!isUsed && hasSecret) throw new UsageError(`--secret-stdin needs ${SECRET} in --header or --env`);
  const resolved = new Map<string, string>();
  for (const [name, value] of pairs) resolved.set(name, isResolved ? resolve(name, value) : value);
  // After the references: a secret may contain what looks like one.
  if (hasSecret) {
    const secret = await readSecretFromStdin("secret");
    for (const [name, value] of resolved) resolved.set(name, value.split(SECRET).join(secret));
  }
  if (resolved.size === 0) return {};
  const values = Object.fromEntries(resolved);
  return isCommand ? { env: values } : { headers: values };
}

/** The value of an environment variable. */
export const readVariable = (name: string): string | undefined => process.env[name];

function resolve(name: string, value: string): string {
  return parseEnvironment(value, readVariable, (problem) => {
    throw new UsageError(`${name}: ${problem}`);
  });
}

function splitPair(text: string, pattern: RegExp): Pair | undefined {
  const found = pattern.exec(text);
  return found ? [found[1]!, found[2]!] : undefined;
}
