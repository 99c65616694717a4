/**
 * Where a command finds its data: a data folder with `trivet.db` (everything stored), `skills/` (local skills) and
 * `demo.json` (the demo's secrets), or an engine on the network instead of `trivet.db`.
 *
 * @module
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BlobStore } from "../../skills/blobs/blob_store.ts";
import { FORMAT_KEY, StoreFormatError } from "../../store/format.ts";
import { layeredStore } from "../../store/drivers/layered.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { printError, textOption, UsageError, type Values } from "./output.ts";
import { warnOfSharedFolder } from "./private_files.ts";

/** The options that every command on stored data takes. */
export const DATA_OPTION = {
  data: { type: "string" },
  store: { type: "string" },
  blobs: { type: "string" },
} as const;
export const DATA_HELP = `  --data DIR     the data folder (default: ./data, or TRIVET_DATA)
  --store STORE  sqlite (in the data folder), postgres://…, redis://… (default: sqlite, or TRIVET_STORE)
  --blobs ADDR   files of uploaded skills: s3://bucket/prefix?region=…&endpoint=…, with AWS_ACCESS_KEY_ID and
                 AWS_SECRET_ACCESS_KEY (default: in the store, or TRIVET_BLOBS)`;

/** Where the data is. */
export interface Place {
  /** An absolute path. */
  readonly folder: string;
  /** `sqlite`, `memory`, or an address; an address may hold a password, and is never printed. */
  readonly store: string;
  /** Opens where files of uploaded skills go; nothing, when that is the store. */
  openBlobs(): Promise<BlobStore | undefined>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The place that the options name. @throws {UsageError} for a store of no known kind */
export function readPlace(values: Values, env: Environment): Place {
  const store = textOption(values, "store") ?? env.TRIVET_STORE ?? "sqlite";
  if (!/^(sqlite|memory)$|^(postgres(ql)?|rediss?):\/\//.test(store)) {
    throw new UsageError("--store must be one of sqlite, memory, a postgres:// and a redis:// address");
  }
  const blobs = textOption(values, "blobs") ?? env.TRIVET_BLOBS;
  return {
    folder: resolve(textOption(values, "data") ?? env.TRIVET_DATA ?? "data"),
    store,
    openBlobs: blobs === undefined ? () => Promise.resolve(undefined) : readBlobs(blobs, env),
  };
}

function readBlobs(address: string, env: Environment): Place["openBlobs"] {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  const url = address.startsWith("s3://") ? URL.parse(address) : null;
  if (!url || url.hostname === "") {
    throw new UsageError("--blobs must be s3://bucket/prefix?region=…&endpoint=…");
  }
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

/** Whether other instances may use the store at the same time. */
export function isShared({ store }: Place): boolean {
  return store.includes("://");
}

/**
 * Opens the store of a place; a folder and a database are made when they are not there.
 * @param cache how long reads may be answered from memory, where the engine is on the network; milliseconds
 * @throws {Error} saying what cannot be opened
 */
export async function openStore(place: Place, cache: number = 0): Promise<Store> {
  const onWarning = (message: string) => printError(`trivet: warning: ${message}`);
  const options = { onWarning };
  if (isShared(place)) {
    const store = /^postgres/.test(place.store)
      ? (await load("postgres", () => import("../../store/drivers/postgres.ts"))).postgresStore(
        place.store,
        options,
      )
      : (await load("redis", () => import("../../store/drivers/redis.ts"))).redisStore(place.store, options);
    // A store that this version does not read is told before anything starts; an engine that is away may come back.
    await store.get(FORMAT_KEY).catch(async (error) => {
      if (!(error instanceof StoreFormatError)) return;
      await store.close();
      throw error;
    });
    return layeredStore(store, { lifetime: cache });
  }
  if (place.store === "memory") return memoryStore();
  const file = join(place.folder, "trivet.db");
  try {
    mkdirSync(place.folder, { recursive: true, mode: 0o700 });
    warnOfSharedFolder(place.folder, onWarning);
    return sqliteStore(file, options);
  } catch (cause) {
    throw new Error(`Cannot open "${file}": ${(cause as Error).message}`, { cause });
  }
}

/** Runs work on the store of a place and closes it. */
export async function withStore(place: Place, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(place);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** Imports a driver, whose package the user chooses to install. */
async function load<Driver>(name: string, driver: () => Promise<Driver>): Promise<Driver> {
  try {
    return await driver();
  } catch (cause) {
    if ((cause as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error(
      `This ${name === "aws4fetch" ? "shelf" : "store"} needs the package "${name}": npm install ${name}`,
      { cause },
    );
  }
}
