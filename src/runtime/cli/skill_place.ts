/**
 * Where the skills of `trivet skill` are: a store of one's own, or a server of the Skills API. Commands see one interface,
 * whose objects are as the API has them.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import type { ValidationReport } from "../../skills/validation_report.ts";
import { DATA_OPTION, readPlace } from "./data.ts";
import { printError, textOption, UsageError, type Values } from "./output.ts";
import type { Progress } from "./progress_bar.ts";
import type { SkillSource } from "./skill_source.ts";

export interface ListedSkill {
  readonly id: string;
  /** Of SKILL.md; null where a list does not tell it. */
  readonly name: string | null;
  readonly display_name: string | null;
  readonly description: string | null;
  /** custom, local and their like. */
  readonly source: string;
  /** Null when every version was deleted. */
  readonly latest_version_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ListedVersion {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly created_at: string;
}

export interface ListedFile {
  readonly path: string;
  readonly size: number;
  readonly type: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
}

/** What a version holds. */
export interface Manifest {
  /** What the levels cost a model, estimated. */
  readonly tokens: { readonly metadata: number; readonly instructions: number };
  readonly files: readonly ListedFile[];
}

/** A zip archive on its way. */
export interface Archive {
  /** Bytes, where it is known. */
  readonly length: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface Added {
  readonly skill: ListedSkill;
  /** Null when only the skill could be read again. */
  readonly version: ListedVersion | null;
  /** What its author may want to better, where that is known. */
  readonly warnings: ValidationReport["warnings"];
}

export interface NewContent {
  readonly source: SkillSource;
  /** The skill that gets a version; a new one, when left out. */
  readonly skill?: string | undefined;
  readonly displayName?: string | undefined;
}

export interface SkillPlace {
  /** Newest first. */
  list(): AsyncIterable<ListedSkill>;
  /** By id, or the first in the list that has this name. @throws {Error} when there is none */
  find(skill: string): Promise<ListedSkill>;
  /** The newest uploaded one of a name. */
  findUploaded(name: string): Promise<ListedSkill | undefined>;
  /** Newest first. */
  versions(id: string): AsyncIterable<ListedVersion>;
  /** By any name that the place has for it, or `latest`. @throws {Error} when there is none */
  version(id: string, version: string): Promise<ListedVersion>;
  /** What a version holds; `undefined` where only its archive tells. */
  manifest(id: string, version: string): Promise<Manifest | undefined>;
  archive(id: string, version: string): Promise<Archive>;
  /** @throws {Error} that lists every broken rule */
  add(content: NewContent, progress: Progress): Promise<Added>;
  remove(id: string): Promise<void>;
  removeVersion(id: string, version: string): Promise<void>;
  /** What would be said to an upload. */
  validate(source: SkillSource, progress: Progress): Promise<ValidationReport>;
  close(): Promise<void>;
}

/** The options that say where the skills are. */
export const PLACE_OPTION = {
  ...DATA_OPTION,
  workspace: { type: "string" },
  url: { type: "string" },
  "key-file": { type: "string" },
  timeout: { type: "string" },
} as const;

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
    const { openStorePlace } = await import("./skill_store_place.ts");
    return await openStorePlace(place, textOption(values, "workspace") ?? "default");
  }
  for (const name of [...Object.keys(DATA_OPTION), "workspace"]) {
    if (values[name] !== undefined) throw new UsageError(`--${name} and --url exclude each other`);
  }
  const server = { url: readUrl(url), key: readKey(values, env), patience: readSeconds(values) };
  if (server.key !== undefined && server.url.protocol === "http:" && !LOOPBACK.test(server.url.hostname)) {
    printError(`trivet skill: warning: the key goes to ${server.url.host} unencrypted: https would hide it`);
  }
  const { openServerPlace } = await import("./skill_server_place.ts");
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
