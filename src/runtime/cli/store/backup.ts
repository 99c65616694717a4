/**
 * `trivet backup` and `trivet restore`: everything in a store as one file, made while servers go on.
 *
 * The file is a SQLite store, whatever the engine, with a digest of its records in it and its SHA-256 beside it.
 *
 * @module
 */
import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { rename, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { setImmediate as handleSignals } from "node:timers/promises";
import {
  compareRecords,
  copyRecords,
  countRecords,
  finishCopy,
  requireFinishedCopy,
} from "../../../store/copy.ts";
import { backupSqlite, checkBackup, removeSeal, sealBackup } from "../../../store/drivers/sqlite/backup.ts";
import { sqliteStore } from "../../../store/drivers/sqlite.ts";
import type { Store } from "../../../store/store.ts";
import { upgradeStore } from "../../../store/upgrade/run_upgrade.ts";
import { DATA_OPTIONS, findDatabase, isShared, openStore, type Place, readPlace } from "../data.ts";
import { exitOnSignals } from "../interrupt.ts";
import { describeOptions, readArguments } from "../options.ts";
import { printLine, UsageError } from "../output.ts";
import { inPrivateFolder } from "../private_files.ts";

const { blobs: _, ...STORE } = DATA_OPTIONS;
const OPTIONS = { ...STORE, json: { summary: "print the result as one line of JSON" } } as const;
/** Redis has no snapshot: what changed while it was copied is copied again, so often. */
const MAX_PASSES = 10;
const COMPANIONS = ["-wal", "-shm", "-journal"];

export const help: string = `trivet backup: writes everything in a store into one file

Usage: trivet backup FILE [options]

${describeOptions(OPTIONS)}

The servers can keep running. From SQLite and PostgreSQL the file has everything up to one moment. Redis has no
such moment: the copy is repeated until nothing changed meanwhile, and fails on a store that never rests.

The file is a SQLite database with private keys: keep it readable by you only. FILE.sha256 has its digest, and the
file itself one of its records. Skills in folders (DIR/skills) and files of skills in a blob store (--blobs) are
not in it.

Example:
  trivet backup /backups/trivet-2026-11-30.db
`;

export const restoreHelp: string = `trivet restore: fills an empty store from a file of "trivet backup"

Usage: trivet restore FILE [options]

${describeOptions(OPTIONS)}

Every page and record of the file, the digest in it and the one in FILE.sha256, if that is there, are checked
first; a damaged file changes nothing. The store can have another engine than the one of the backup. It must be
empty: stop the servers before. If the command was interrupted, run it again with the same FILE: it completes the
copy, and until then other commands refuse the store. The records of a backup that an earlier version made are
upgraded; a backup of a newer version is refused.

Tokens and sessions that ended after the backup are valid again until they expire.

Example:
  trivet restore /backups/trivet-2026-11-30.db --store postgres://trivet@db.example/trivet
`;

function readCommand(argv: readonly string[]): { file: string; place: Place; json: boolean } {
  const { values, operands: [file] } = readArguments(argv, OPTIONS, 1);
  if (file === undefined) throw new UsageError("missing argument: FILE");
  const place = readPlace({ ...values, blobs: undefined }, process.env);
  if (place.store === "memory") throw new UsageError("a memory store has no backup");
  return { file: resolve(file), place, json: values.json };
}

export async function run(argv: readonly string[]): Promise<void> {
  const { file, place, json } = readCommand(argv);
  if (!existsSync(dirname(file))) {
    throw new Error(`The folder "${dirname(file)}" does not exist: make it first`);
  }
  for (const path of [file, file + ".sha256"]) {
    if (existsSync(path)) throw new Error(`"${path}" exists: choose another name`);
  }
  await withPart(`${file}.`, async (part) => {
    await copyInto(part, place);
    await handleSignals();
    const records = await withFile(part, countRecords);
    sealBackup(part);
    const digest = await digestOf(part);
    const { size } = await stat(part);
    await rename(part, file);
    writeFileSync(file + ".sha256", `${digest}  ${basename(file)}\n`, { mode: 0o600 });
    if (json) return printLine(JSON.stringify({ file, records, bytes: size, sha256: digest }));
    printLine(`${records} records, ${size} bytes in ${file}`);
    printLine(`SHA-256  ${digest}`);
  });
}

async function copyInto(part: string, place: Place): Promise<void> {
  if (!isShared(place)) {
    backupSqlite(findDatabase(place), part);
    return await withFile(part, requireFinishedCopy);
  }
  const to = sqliteStore(part);
  try {
    if (/^postgres/.test(place.store)) {
      // A snapshot has what there is, also a part of another store.
      const store = await openStore(place, { older: "as-it-is" });
      // A database that is down is named here: the errors of a snapshot are those of postgres.js.
      await requireFinishedCopy(store).finally(() => store.close());
      const { withPostgresSnapshot } = await import("../../../store/drivers/postgres/snapshot.ts");
      await withPostgresSnapshot(place.store, (snapshot) => copyRecords(snapshot, to));
    } else await copyUntilSame(place, to);
    await finishCopy(to);
  } finally {
    await to.close();
  }
}

async function copyUntilSame(place: Place, to: Store): Promise<void> {
  const from = await openStore(place, { older: "as-it-is" });
  try {
    await copyRecords(from, to);
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const { differences } = await compareRecords(from, to, { repair: true });
      if (differences.length === 0) return;
    }
  } finally {
    await from.close();
  }
  throw new Error("The store changed all the time: stop the servers, and run this command again");
}

export async function restore(argv: readonly string[]): Promise<void> {
  const { file, place, json } = readCommand(argv);
  if (!existsSync(file)) throw new Error(`"${file}" does not exist`);
  if (!(await stat(file)).isFile()) throw new Error(`"${file}" is not a file`);
  const digest = await digestOf(file);
  const isNoted = existsSync(file + ".sha256");
  if (isNoted && readFileSync(file + ".sha256", "utf8").split(/\s/, 1)[0] !== digest) {
    throw new Error(
      `"${file}" is not the file that was written: its SHA-256 differs from ${basename(file)}.sha256`,
    );
  }
  // A copy, because opening a store changes its file.
  const withCopy = (work: (part: string) => Promise<void>) =>
    inPrivateFolder(place.folder, () => withPart(join(place.folder, "restore-"), work));
  await withCopy(async (part) => {
    await pipeline(createReadStream(file), createWriteStream(part, { flags: "wx", mode: 0o600 }));
    const { isSealed } = checkBackup(part);
    await handleSignals();
    if (isSealed) removeSeal(part);
    const { records, kinds } = await withFile(part, async (store) => {
      await requireFinishedCopy(store);
      const kinds = await upgradeStore(store);
      return { records: await countRecords(store), kinds: kinds.length };
    });
    await handleSignals();
    if (isShared(place)) await copyTo(place, part, digest);
    else await moveTo(join(place.folder, "trivet.db"), part);
    if (json) {
      return printLine(
        JSON.stringify({ records, sha256: digest, verified: isNoted || isSealed, upgraded: kinds > 0 }),
      );
    }
    printLine(`Restored ${records} records`);
    if (kinds > 0) printLine("An earlier version made the backup: its records were upgraded");
    printLine(
      isNoted || isSealed
        ? "The digest was that of the backup"
        : "No digest in the file or beside it: the pages and records are intact, but may not be those of the backup",
    );
  });
}

/** @throws {Error} when a store is there: a running server would go on with the old file */
async function moveTo(target: string, part: string): Promise<void> {
  for (const path of [target, ...COMPANIONS.map((ending) => target + ending)]) {
    if (existsSync(path)) throw new Error(`"${path}" exists: stop the servers and move it away first`);
  }
  await rename(part, target);
}

/** Copies the records, or the rest of them after a copy of the same file that was interrupted. */
async function copyTo(place: Place, part: string, digest: string): Promise<void> {
  const from = sqliteStore(part);
  const to = await openStore(place, { create: true, isCopyTarget: true }).catch(async (error) => {
    await from.close();
    throw error;
  });
  try {
    const { before } = await copyRecords(from, to, undefined, digest);
    if (before > 0) await compareRecords(from, to, { repair: true });
    const { differences } = await compareRecords(from, to);
    if (differences.length > 0) throw new Error(`${differences.length} records differ: stop the servers`);
    await finishCopy(to);
  } finally {
    await from.close();
    await to.close();
  }
}

/** Runs work on the file, which is a store when this returns. Closing it leaves one file. */
async function withFile<Result>(part: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = sqliteStore(part, { allowOlder: true });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}

/**
 * Runs work on a file that has private keys and does not stay, also when a signal ends the process. Removes those of
 * processes that were killed. @param start of its path; the number of the process follows
 */
async function withPart(start: string, work: (part: string) => Promise<void>): Promise<void> {
  const part = `${start}${process.pid}.part`;
  const remove = () => removeDatabase(part);
  const stopListening = exitOnSignals(remove);
  try {
    for (const left of findLeftParts(start)) removeDatabase(left);
    await work(part);
  } finally {
    stopListening();
    remove();
  }
}

function findLeftParts(start: string): string[] {
  const [folder, name] = [dirname(start), basename(start)];
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((found) => {
    const pid = found.startsWith(name) ? /^(\d+)\.part$/.exec(found.slice(name.length))?.[1] : undefined;
    return pid === undefined || isRunning(Number(pid)) ? [] : [join(folder, found)];
  });
}

/** Whether another process has this number. */
function isRunning(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    // It runs as another user.
    return (error as { code?: unknown }).code === "EPERM";
  }
}

function removeDatabase(file: string): void {
  for (const path of [file, ...COMPANIONS.map((ending) => file + ending)]) {
    // Bun's rmSync() fails with EFAULT where a part of the path is not a folder.
    if (existsSync(path)) rmSync(path, { force: true });
  }
}
