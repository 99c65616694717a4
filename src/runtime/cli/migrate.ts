/**
 * `trivet migrate`: everything from one store to another, with a progress bar, and proof that it arrived.
 *
 * @module
 */
import process from "node:process";
import { createLedger } from "../../skills/blobs/blob_ledger.ts";
import { readAll } from "../../skills/blobs/blob_store.ts";
import { digestOf } from "../../skills/content_digest.ts";
import type { Blob } from "../../skills/records.ts";
import { compareRecords, copyRecords, countRecords, finishCopy } from "../../store/copy.ts";
import { listAll, type Store } from "../../store/store.ts";
import { DATA_HELP, DATA_OPTION, openStore, type Place, readPlace } from "./data.ts";
import { printLine, readArguments, textOption, UsageError } from "./output.ts";

export const help: string = `trivet migrate: moves everything from one store to another

Usage: trivet migrate --from STORE --to STORE [options]

  --from STORE   sqlite (in the data folder), postgres://…, redis://… (or TRIVET_FROM)
  --to STORE     the same; it must be empty, or hold a copy that was broken off (or TRIVET_TO)
${DATA_HELP.split("\n").filter((line) => !line.includes("--store")).join("\n")}
  --json         print the result as one line of JSON

Stop the servers first: what is written meanwhile is found by the comparison, and is an error. Run the same command
again when it was broken off; it goes on where it was. Nothing is removed from the source.

Example:
  trivet migrate --from sqlite --to postgres://trivet@db.example/trivet
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values } = readArguments(argv, {
    ...DATA_OPTION,
    from: { type: "string" },
    to: { type: "string" },
    json: { type: "boolean" },
  });
  const place = (name: "from" | "to"): Place => {
    const store = textOption(values, name) ?? process.env[`TRIVET_${name.toUpperCase()}`];
    if (store === undefined) throw new UsageError(`Say --${name}`);
    return readPlace({ ...values, store }, process.env);
  };
  const [source, target] = [place("from"), place("to")];
  if (source.store === "memory" || target.store === "memory") {
    throw new UsageError("A store in memory cannot be moved");
  }
  if (source.store === target.store) throw new UsageError("--from and --to must differ");
  const from = await openStore(source);
  const to = await openStore(target);
  try {
    const total = await withBar("counting", undefined, (progress) => countRecords(from, progress));
    const { copied, before } = await withBar("copying", total, (progress) => copyRecords(from, to, progress));
    // A copy that was broken off long ago may have been overtaken: what has changed since is made good.
    if (before > 0) await compareRecords(from, to, { mend: true });
    const { same, digest, differences } = await withBar(
      "comparing",
      total,
      (progress) => compareRecords(from, to, { progress }),
    );
    if (differences.length > 0) {
      throw new Error(
        `${differences.length} records differ, ${
          JSON.stringify(differences[0])
        } for one: stop the servers and run this again`,
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
        `Moved ${same} records${before > 0 ? ` (${before} by an earlier run)` : ""}, equal on both sides.`,
      );
      printLine(`SHA-256 over all of them: ${digest}`);
      printLine(`Contents of skill files checked by their digests: ${contents.files}`);
      if (contents.elsewhere > 0) {
        printLine(`Contents in S3, left where they are and not read: ${contents.elsewhere}`);
      }
    }
  } finally {
    await from.close();
    await to.close();
  }
}

/** Reads every content that the target has, and compares its digest with the one that it is kept under. */
async function checkContents(
  store: Store,
  place: Place,
  progress: (done: number) => void,
): Promise<{ files: number; elsewhere: number }> {
  const shelf = await place.openBlobs();
  const ledger = createLedger(store, Date.now, shelf);
  let files = 0;
  let elsewhere = 0;
  for await (const { key, value: { object, size } } of listAll<Blob>(store, ["blob"])) {
    const digest = key[1] as string;
    if (!object.startsWith("store/") && !(shelf && object.startsWith(shelf.kind + "/"))) {
      elsewhere++;
      continue;
    }
    const stream = await ledger.open({ object });
    if (!stream) throw new Error(`The content ${digest} is missing`);
    if (await digestOf(await readAll(stream, size)) !== digest) {
      throw new Error(`The content ${digest} is damaged`);
    }
    progress(++files);
  }
  return { files, elsewhere };
}

const WIDTH = 30;

/** Work with a bar on standard error, where somebody watches; elsewhere one line when it is done. */
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
    const filled = total === 0 ? WIDTH : Math.min(WIDTH, Math.floor(done / total * WIDTH));
    return `${name}: [${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}] ${counted} (${speed}/s)`;
  };
  const result = await work((now) => {
    done = now;
    if (!stderr.isTTY || performance.now() - shown < 100) return;
    shown = performance.now();
    stderr.write(`\r\x1b[K${line()}`);
  });
  stderr.write(stderr.isTTY ? `\r\x1b[K${line()}\n` : `${line()}\n`);
  return result;
}
