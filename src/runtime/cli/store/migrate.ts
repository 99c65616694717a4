/**
 * `trivet migrate`: copies everything from one store to another, with a progress bar, and compares both sides.
 *
 * @module
 */
import process from "node:process";
import { createLedger } from "../../../skills/blobs/blob_ledger.ts";
import { digestOfContent } from "../../../skills/blobs/blob_references.ts";
import { readAll } from "../../../skills/blobs/blob_store.ts";
import { digestOf } from "../../../skills/content_digest.ts";
import type { Blob } from "../../../skills/records.ts";
import { compareRecords, copyRecords, countRecords, finishCopy } from "../../../store/copy.ts";
import { listAll, type Store } from "../../../store/store.ts";
import { DATA_OPTIONS, openStore, type Place, readPlace } from "../data.ts";
import { describeOptions, readArguments } from "../options.ts";
import { printLine, UsageError } from "../output.ts";

const { data, store: { default: _, ...STORE }, blobs } = DATA_OPTIONS;
const OPTIONS = {
  from: { ...STORE, variable: "TRIVET_FROM" },
  to: { ...STORE, summary: "the same; it must be empty, or hold an interrupted copy", variable: "TRIVET_TO" },
  data,
  blobs,
  json: { summary: "print the result as one line of JSON" },
} as const;

export const help: string = `trivet migrate: copies everything from one store to another

Usage: trivet migrate --from STORE --to STORE [options]

${describeOptions(OPTIONS)}

Stop the servers first: records that are written meanwhile make the comparison fail. If the command was
interrupted, run it again: it continues where it stopped, and until then other commands refuse the target. Nothing
is removed from the source. A copy of a store that needs an upgrade needs it too.

Example:
  trivet migrate --from sqlite --to postgres://trivet@db.example/trivet
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values } = readArguments(argv, OPTIONS);
  const place = (name: "from" | "to"): Place => {
    const store = values[name];
    if (store === undefined) throw new UsageError(`missing option: --${name}`);
    return readPlace({ ...values, store }, process.env);
  };
  const [source, target] = [place("from"), place("to")];
  if (source.store === "memory" || target.store === "memory") {
    throw new UsageError("a memory store cannot be migrated");
  }
  if (source.store === target.store) throw new UsageError("--from and --to must differ");
  const from = await openStore(source, { older: "as-it-is" });
  const to = await openStore(target, { create: true, isCopyTarget: true }).catch(async (error) => {
    await from.close();
    throw error;
  });
  try {
    const total = await withBar("counting", undefined, (progress) => countRecords(from, progress));
    const { copied, before } = await withBar("copying", total, (progress) => copyRecords(from, to, progress));
    // Records may have changed since an earlier run was interrupted: they are copied again.
    if (before > 0) await compareRecords(from, to, { repair: true });
    const { same, digest, differences } = await withBar(
      "comparing",
      total,
      (progress) => compareRecords(from, to, { progress }),
    );
    if (differences.length > 0) {
      throw new Error(
        `${differences.length} records differ, such as ${
          JSON.stringify(differences[0])
        }. Stop the servers and run this command again`,
      );
    }
    const contents = await withBar(
      "checking files",
      undefined,
      (progress) => checkContents(to, target, progress),
    );
    await finishCopy(to);
    if (values.json) {
      printLine(
        JSON.stringify({ records: same, copied, resumed_after: before, sha256: digest, ...contents }),
      );
    } else {
      printLine(
        `Copied ${same} records${before > 0 ? ` (${before} in an earlier run)` : ""}. Both stores are equal.`,
      );
      printLine(`SHA-256 of all records: ${digest}`);
      printLine(`Contents of skill files with a correct digest: ${contents.files}`);
      if (contents.elsewhere > 0) {
        printLine(`Contents in another blob store, not copied and not checked: ${contents.elsewhere}`);
      }
    }
  } finally {
    await from.close();
    await to.close();
  }
}

/** Reads every content that the target holds, and compares its digest with that in its key. */
async function checkContents(
  store: Store,
  place: Place,
  progress: (done: number) => void,
): Promise<{ files: number; elsewhere: number }> {
  const blobStore = await place.openBlobs();
  const ledger = createLedger(store, Date.now, blobStore);
  let files = 0;
  let elsewhere = 0;
  for await (const { key, value: { object, size } } of listAll<Blob>(store, ["blob"])) {
    const digest = digestOfContent(key[1] as string);
    if (!object.startsWith("store/") && !(blobStore && object.startsWith(blobStore.kind + "/"))) {
      elsewhere++;
      continue;
    }
    const stream = await ledger.open({ object });
    if (!stream) throw new Error(`Content ${digest} is missing`);
    if (await digestOf(await readAll(stream, size)) !== digest) {
      throw new Error(`Content ${digest} is damaged`);
    }
    progress(++files);
  }
  return { files, elsewhere };
}

const BAR_WIDTH = 30;
const DRAW_INTERVAL_MS = 100;

/** Runs work with a bar on standard error; where that is not a terminal, prints one line at the end. */
async function withBar<Result>(
  name: string,
  total: number | undefined,
  work: (progress: (done: number) => void) => Promise<Result>,
): Promise<Result> {
  const { stderr } = process;
  const started = performance.now();
  let shown = -Infinity;
  let done = 0;
  const line = (): string => {
    const speed = Math.round(done / Math.max(performance.now() - started, 1) * 1000);
    const counted = total === undefined ? `${done}` : `${done} of ${total}`;
    if (total === undefined) return `${name}: ${counted} (${speed}/s)`;
    const filled = total === 0 ? BAR_WIDTH : Math.min(BAR_WIDTH, Math.floor(done / total * BAR_WIDTH));
    return `${name}: [${"#".repeat(filled)}${" ".repeat(BAR_WIDTH - filled)}] ${counted} (${speed}/s)`;
  };
  const result = await work((now) => {
    done = now;
    if (!stderr.isTTY || performance.now() - shown < DRAW_INTERVAL_MS) return;
    shown = performance.now();
    stderr.write(`\r\x1b[K${line()}`);
  });
  stderr.write(stderr.isTTY ? `\r\x1b[K${line()}\n` : `${line()}\n`);
  return result;
}
