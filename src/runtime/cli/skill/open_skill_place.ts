/**
 * Opens the place of skills that the options of a command name.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import type { ParseArgsConfig } from "node:util";
import { DATA_OPTION, readPlace } from "../data.ts";
import { printError, textOption, UsageError, type Values } from "../output.ts";
import type { SkillPlace } from "./skill_place.ts";
import { openServerPlace } from "./skill_server_place.ts";
import { openStorePlace } from "./skill_store_place.ts";

/** The options that say where the skills are. */
export const PLACE_OPTION: NonNullable<ParseArgsConfig["options"]> = {
  ...DATA_OPTION,
  workspace: { type: "string" },
  url: { type: "string" },
  "key-file": { type: "string" },
  timeout: { type: "string" },
};

export const PLACE_HELP = `  --workspace NAME  whose skills (default: default)
  --json         print JSON
A server with the Skills API, instead of a store:
  --url URL          its address; the key is in TRIVET_API_KEY, never among the words of the command
  --key-file FILE    a file with the key, instead
  --timeout SECONDS  how long it may be silent (default: 60)`;

/** What does not leave this machine. */
const LOOPBACK = /^(localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\])$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Opens the place that the options name. @throws {UsageError} for options that do not go together */
export async function openPlace(
  values: Values,
  signal: AbortSignal,
  env: Environment = process.env,
): Promise<SkillPlace> {
  const url = textOption(values, "url");
  if (url === undefined) {
    for (const name of ["key-file", "timeout"]) {
      if (values[name] !== undefined) throw new UsageError(`--${name} goes with --url`);
    }
    const place = readPlace(values, env);
    return await openStorePlace(place, textOption(values, "workspace") ?? "default");
  }
  for (const name of [...Object.keys(DATA_OPTION), "workspace"]) {
    if (values[name] !== undefined) throw new UsageError(`--${name} and --url exclude each other`);
  }
  const server = { url: readUrl(url), key: readKey(values, env), patience: readSeconds(values) };
  if (server.key !== undefined && server.url.protocol === "http:" && !LOOPBACK.test(server.url.hostname)) {
    printError(`trivet skill: warning: the key goes to ${server.url.host} unencrypted: https would hide it`);
  }
  return openServerPlace(server, signal);
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new UsageError(`--url must be an address such as https://agents.example.com, but is "${text}"`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError("--url must not hold a password: the key goes into TRIVET_API_KEY or --key-file");
  }
  return url;
}

function readKey(values: Values, env: Environment): string | undefined {
  const file = textOption(values, "key-file");
  let text = env.TRIVET_API_KEY;
  if (file !== undefined) {
    try {
      text = readFileSync(file, "utf8");
    } catch (cause) {
      throw new UsageError(`--key-file: cannot read "${file}": ${(cause as Error).message}`, { cause });
    }
  }
  const key = text?.trim();
  if (file === undefined && (key === undefined || key === "")) return undefined;
  // What no header field can hold would be quoted by the error.
  if (key !== undefined && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(
    `${file === undefined ? "TRIVET_API_KEY" : `"${file}"`} must be one API key, and nothing else`,
  );
}

function readSeconds(values: Values): number {
  const text = textOption(values, "timeout") ?? "60";
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text) * 1000;
  throw new UsageError(`--timeout must be a number of seconds from 1 to 99999, but is "${text}"`);
}
