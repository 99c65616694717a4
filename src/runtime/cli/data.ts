/**
 * Where a command finds its data: a data folder with `trivet.db` (the store), `skills/` (local skills) and `demo.json`
 * (the demo's secrets), or a database on the network instead of `trivet.db`.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BlobStore } from "../../skills/blobs/blob_store.ts";
import { requireFinishedCopy } from "../../store/copy.ts";
import { findOlderKinds, FORMAT_KEY, toOlderError } from "../../store/format.ts";
import { layeredStore } from "../../store/drivers/layered.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import { type Store, StoreNotFoundError, StoreUnavailableError } from "../../store/store.ts";
import {
  openWhileUpgrading,
  type OpenWhileUpgradingOptions,
} from "../../store/upgrade/open_while_upgrading.ts";
import { readFormat } from "../../store/upgrade/run_upgrade.ts";
import { describeError, describeFileError } from "./file_error.ts";
import type { Environment, ValuesOf } from "./options.ts";
import { printError, UsageError } from "./output.ts";
import { makePrivateFolder, warnOfSharedFolder } from "./private_files.ts";

/** The options of every command that works on stored data. */
export const DATA_OPTIONS = {
  data: {
    value: "DIR",
    summary: "the data folder",
    default: "data",
    shownDefault: "./data",
    variable: "TRIVET_DATA",
  },
  store: {
    value: "STORE",
    summary: "sqlite (in the data folder), memory (serve and stdio only), postgres://… or redis://…",
    default: "sqlite",
    variable: "TRIVET_STORE",
    parse: (text: string): string | undefined =>
      /^(sqlite|memory)$|^(postgres(ql)?|rediss?):\/\//.test(text) ? text : undefined,
    expected: "one of sqlite, memory, a postgres:// and a redis:// address",
    isSecret: true,
  },
  blobs: {
    value: "URL",
    summary: `blob store for the files of uploaded skills: s3://bucket/prefix?region=…&endpoint=…, with
      AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment`,
    shownDefault: "the store",
    variable: "TRIVET_BLOBS",
    parse: (text: string): URL | undefined => {
      const url = text.startsWith("s3://") ? URL.parse(text) : null;
      const isKnown = (name: string) => name === "region" || name === "endpoint";
      return url?.hostname && [...url.searchParams.keys()].every(isKnown) ? url : undefined;
    },
    expected: "s3://bucket/prefix?region=…&endpoint=…",
  },
} as const;

/** Where the data is. */
export interface Place {
  /** An absolute path. */
  readonly folder: string;
  /** `sqlite`, `memory`, or an address; an address may hold a password, and is never printed. */
  readonly store: string;
  /** Opens the blob store for the files of uploaded skills; `undefined`, when the store itself holds them. */
  openBlobs(): Promise<BlobStore | undefined>;
}

/** The place that the options name. @throws {UsageError} for a blob store without credentials */
export function readPlace(
  { data, store, blobs }: ValuesOf<typeof DATA_OPTIONS>,
  env: Environment,
): Place {
  return {
    folder: resolve(data),
    store,
    openBlobs: blobs === undefined ? () => Promise.resolve(undefined) : readBlobs(blobs, env),
  };
}

function readBlobs(url: URL, env: Environment): Place["openBlobs"] {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) {
    throw new UsageError("--blobs needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment");
  }
  const prefix = url.pathname.slice(1);
  const endpoint = url.searchParams.get("endpoint");
  const options = {
    bucket: url.hostname,
    prefix: prefix === "" || prefix.endsWith("/") ? prefix : prefix + "/",
    region: url.searchParams.get("region") ?? env.AWS_REGION ?? "us-east-1",
    ...(endpoint !== null && { endpoint }),
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN,
  };
  return async () => (await load("aws4fetch", () => import("../../skills/blobs/s3.ts"))).s3Blobs(options);
}

/** Whether other instances can use the store at the same time. */
export function isShared({ store }: Place): boolean {
  return store.includes("://");
}

const NO_STORE_ADVICE = 'Start "trivet serve" first, or name another store with';

/** How a store is opened. */
export interface OpenOptions {
  /** Creates the data folder and the database where there are none. */
  readonly create?: boolean;
  /** How long reads can be answered from memory, for a database on the network. @default 0 */
  readonly cacheMs?: number;
  /**
   * What is done with a store of an earlier version: `refuse` it, unless servers upgrade it now; open it `as-it-is`, not for
   * services; or upgrade it in the background. @default "refuse"
   */
  readonly older?: "refuse" | "as-it-is" | OpenWhileUpgradingOptions;
  /**
   * Whether a database on the network can be down: calls fail until it is back, and a warning says so. Otherwise it is an
   * error at once.
   * @default false
   */
  readonly mayBeDown?: boolean;
  /** Opens the target of a copy `as-it-is`, also one that holds a part of it. @default false */
  readonly isCopyTarget?: boolean;
}

/**
 * Opens the store of a place, which must exist unless `create` is set.
 * @throws {Error} naming what does not exist or cannot be opened, and what to do
 */
export async function openStore(
  place: Place,
  { create = false, cacheMs = 0, older = "refuse", mayBeDown = false, isCopyTarget = false }: OpenOptions =
    {},
): Promise<Store> {
  const store = await openDriver(place, create, mayBeDown);
  if (place.store === "memory") return store;
  try {
    if (!isCopyTarget) await unlessDown(requireFinishedCopy(store));
    const opened = await openRecords(store, isCopyTarget ? "as-it-is" : older);
    return isShared(place) ? layeredStore(opened, { lifetime: cacheMs }) : opened;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The store for services, if its records allow it. @throws {StoreFormatError} for one that needs an upgrade first */
async function openRecords(store: Store, older: OpenOptions["older"]): Promise<Store> {
  if (older === "as-it-is") return store;
  if (typeof older === "object") return await openWhileUpgrading(store, older);
  const found = await unlessDown(readFormat(store));
  if (!found) return store;
  const kinds = findOlderKinds(found.format);
  if (kinds.length === 0) return store;
  if (!found.format.upgrading) throw toOlderError(kinds);
  return await openWhileUpgrading(store, { upgrade: false });
}

/** What was read; `undefined` from a database that is down. */
function unlessDown<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  return reading.catch((error) => {
    if (error instanceof StoreUnavailableError) return undefined;
    throw error;
  });
}

/** Opens the driver of a place. It accepts older records. */
async function openDriver(place: Place, create: boolean, mayBeDown: boolean): Promise<Store> {
  const onWarning = (message: string) => printError(`trivet: warning: ${message}`);
  if (isShared(place)) {
    const options = { onWarning, create, allowOlder: true };
    const store = /^postgres/.test(place.store)
      ? (await load("postgres", () => import("../../store/drivers/postgres.ts"))).postgresStore(
        place.store,
        options,
      )
      : (await load("redis", () => import("../../store/drivers/redis.ts"))).redisStore(place.store, options);
    // Said before the first of many calls, each of which waits for the database.
    await store.get(FORMAT_KEY).catch(async (error) => {
      if (mayBeDown && error instanceof StoreUnavailableError) {
        return onWarning(`${error.message}. See whether the database runs, and its address in --store`);
      }
      await store.close();
      if (!(error instanceof StoreNotFoundError)) throw error;
      throw new Error(`There is no store: ${error.message}. ${NO_STORE_ADVICE} --store`, { cause: error });
    });
    return store;
  }
  if (place.store === "memory") {
    if (create) return memoryStore();
    throw new UsageError("--store memory has nothing that this command could find");
  }
  const file = create ? join(place.folder, "trivet.db") : findDatabase(place);
  // Where a store is damaged, newer or locked, an empty one in another folder would be no help.
  const advice = existsSync(file) ? "" : ". Choose another folder with --data";
  try {
    makePrivateFolder(place.folder);
    warnOfSharedFolder(place.folder, onWarning);
    return sqliteStore(file, { onWarning, allowOlder: true });
  } catch (cause) {
    const reason = Object(cause).path === file ? describeFileError(cause) : describeError(cause);
    throw new Error(`Cannot open "${file}": ${reason}${advice}`, { cause });
  }
}

/** The SQLite database of a place. @throws {Error} when it does not exist */
export function findDatabase({ folder }: Place): string {
  const file = join(folder, "trivet.db");
  if (existsSync(file)) return file;
  throw new Error(`There is no store: "${file}" does not exist. ${NO_STORE_ADVICE} --data`);
}

/** Opens the store of a place, which must exist, runs work on it, and closes it. */
export async function withStore(place: Place, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(place);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** Imports a driver, whose package the user installs. */
async function load<Driver>(name: string, driver: () => Promise<Driver>): Promise<Driver> {
  try {
    return await driver();
  } catch (cause) {
    if ((cause as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error(
      `Package "${name}" is not installed. Run: npm install ${name}`,
      { cause },
    );
  }
}
