/**
 * Opens the store or the server whose skills a command works on, as its options name it.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { DATA_OPTIONS, readPlace } from "../data.ts";
import type { Environment, ValuesOf } from "../options.ts";
import { printError, UsageError } from "../output.ts";
import type { SkillPlace } from "./skill_place.ts";
import { openServerPlace } from "./skill_server_place.ts";
import { openStorePlace } from "./skill_store_place.ts";

const WORKSPACE_OPTION = {
  value: "NAME",
  summary: "the workspace of the skills",
  default: "default",
} as const;

/** The options that name a store. */
export const STORE_PLACE_OPTIONS: typeof DATA_OPTIONS & { readonly workspace: typeof WORKSPACE_OPTION } = {
  ...DATA_OPTIONS,
  workspace: WORKSPACE_OPTION,
};
/** The options that name a server instead. */
export const SERVER_PLACE_OPTIONS = {
  url: {
    value: "URL",
    summary: "the server's URL; its API key is read from TRIVET_API_KEY",
    parse: (text: string): URL | undefined => parseServerUrl(text),
    expected: "a URL such as https://agents.example.com",
  },
  "key-file": { value: "FILE", summary: "a file with the API key, instead of TRIVET_API_KEY" },
  timeout: {
    value: "SECONDS",
    range: [1, 99_999],
    unit: "seconds",
    summary: "how long to wait for the next byte",
    default: 60,
  },
} as const;
export const PLACE_OPTIONS: typeof STORE_PLACE_OPTIONS & typeof SERVER_PLACE_OPTIONS = {
  ...STORE_PLACE_OPTIONS,
  ...SERVER_PLACE_OPTIONS,
};

/** Hosts of this machine. */
const LOOPBACK = /^(localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\])$/;

type PlaceValues = ValuesOf<typeof PLACE_OPTIONS>;

/**
 * Opens the place that the options name.
 * @param given the names of the options that were given
 * @throws {UsageError} for options that exclude each other
 */
export async function openPlace(
  values: PlaceValues,
  given: ReadonlySet<string>,
  signal: AbortSignal,
  env: Environment = process.env,
): Promise<SkillPlace> {
  const { url } = values;
  if (url === undefined) {
    for (const name of ["key-file", "timeout"]) {
      if (given.has(name)) throw new UsageError(`--${name} needs --url`);
    }
    return await openStorePlace(readPlace(values, env), values.workspace);
  }
  for (const name of Object.keys(STORE_PLACE_OPTIONS)) {
    if (given.has(name)) throw new UsageError(`--${name} and --url exclude each other`);
  }
  const key = readKey(values, env);
  if (key !== undefined && url.protocol === "http:" && !LOOPBACK.test(url.hostname)) {
    printError(`trivet skill: warning: the API key is sent to ${url.host} without encryption. Use https`);
  }
  return openServerPlace({ url, key, timeoutMs: values.timeout * 1000 }, signal);
}

function parseServerUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") return undefined;
  if (url.username === "" && url.password === "") return url;
  throw new UsageError("--url must not contain a password: use TRIVET_API_KEY or --key-file");
}

function readKey({ "key-file": file }: PlaceValues, env: Environment): string | undefined {
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
  // A text that no header field can hold would be quoted in the runtime's error.
  if (key !== undefined && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(
    `${file === undefined ? "TRIVET_API_KEY" : `"${file}"`} must contain one API key and nothing else`,
  );
}
