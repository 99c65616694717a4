/**
 * The options and variables that name a running server.
 *
 * @module
 */
import type { Environment, ValuesOf } from "../options.ts";
import { UsageError } from "../output.ts";
import type { ApiServer } from "./api_connection.ts";
import { readCredentials } from "./credentials.ts";

/** The options that name a server instead of a store. */
export const SERVER_OPTIONS = {
  url: {
    value: "URL",
    summary:
      "a running server instead of a store, with the API key in TRIVET_API_KEY or the token in TRIVET_TOKEN",
    variable: "TRIVET_URL",
    parse: (text: string): URL | undefined => parseServerUrl(text),
    expected: "a URL such as https://agents.example.com",
  },
  "key-file": { value: "FILE", summary: "a file with the API key, instead of TRIVET_API_KEY" },
  timeout: {
    value: "SECONDS",
    range: [1, 99_999],
    unit: "seconds",
    summary: "how long to wait for the next byte of a server",
    default: 60,
  },
} as const;

/** Hosts of this machine. */
const LOOPBACK = /^(localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * The server that the options name; `undefined` when they name a store.
 * @param given the names of the options that were given: the URL of a variable gives way to a store that is named
 * @param storeOptions the names of the options for a store
 * @throws {UsageError} for options that exclude each other, and for credentials that cannot be read
 */
export function readServer(
  values: ValuesOf<typeof SERVER_OPTIONS>,
  given: ReadonlySet<string>,
  storeOptions: readonly string[],
  env: Environment,
): ApiServer | undefined {
  const { url } = values;
  const ofStore = storeOptions.find((name) => given.has(name));
  if (url === undefined || ofStore !== undefined && !given.has("url")) {
    for (const name of ["key-file", "timeout"]) {
      if (given.has(name)) throw new UsageError(`--${name} needs --url`);
    }
    return undefined;
  }
  if (ofStore !== undefined) throw new UsageError(`--${ofStore} and --url exclude each other`);
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname)) {
    throw new UsageError(
      `--url must be an https URL: everyone on the way to ${url.host} could read the credentials`,
    );
  }
  return { url, credentials: readCredentials(values["key-file"], env), timeoutMs: values.timeout * 1000 };
}

function parseServerUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") return undefined;
  if (url.username === "" && url.password === "") return url;
  throw new UsageError("--url must not contain a password: use TRIVET_API_KEY or --key-file");
}
