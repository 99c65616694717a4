/**
 * `trivet upgrade`: makes the records of a store that an earlier version wrote current.
 *
 * @module
 */
import process from "node:process";
import { type KindProgress, upgradeStore } from "../../../store/upgrade/run_upgrade.ts";
import { UPGRADE_STEPS } from "../../../store/upgrade/upgrade_steps.ts";
import { DATA_OPTIONS, openStore, readPlace } from "../data.ts";
import { describeOptions, readArguments } from "../options.ts";
import { printError, printLine, UsageError } from "../output.ts";

const { blobs: _, ...STORE } = DATA_OPTIONS;
const OPTIONS = {
  ...STORE,
  "dry-run": { summary: "change nothing: print what would be done" },
  again: {
    summary:
      "read all records again, also of a current store: those that a server of an earlier version wrote late",
  },
  json: { summary: "print the result as one line of JSON" },
} as const;

export const help: string =
  `trivet upgrade: makes the records of a store that an earlier version wrote current

Usage: trivet upgrade [options]

${describeOptions(OPTIONS)}

"trivet serve" does the same when it starts, unless it has --no-upgrade. Make a backup first: an earlier version refuses
the store from the beginning of the upgrade on.

Servers of this version can run meanwhile, and several can upgrade one store. Stop those of earlier versions before; if
one ran meanwhile, stop it and run this command with --again. An upgrade that was interrupted goes on where it stopped.

Example:
  trivet backup /backups/before.db && trivet upgrade
`;

const PROGRESS_INTERVAL_MS = 1000;

export async function run(argv: readonly string[]): Promise<void> {
  const { values } = readArguments(argv, OPTIONS);
  const place = readPlace({ ...values, blobs: undefined }, process.env);
  if (place.store === "memory") throw new UsageError("a memory store needs no upgrade");
  const { again, "dry-run": dryRun, json } = values;
  const store = await openStore(place, { older: "as-it-is" });
  let shown = performance.now();
  try {
    const kinds = await upgradeStore(store, {
      again,
      dryRun,
      onProgress(progress) {
        if (performance.now() - shown < PROGRESS_INTERVAL_MS) return;
        shown = performance.now();
        printError(describe(progress));
      },
      onKind: (progress) => void (json || printLine(describe(progress))),
    });
    if (json) return printLine(JSON.stringify({ kinds, dry_run: dryRun }));
    if (dryRun) { for (const progress of kinds) printLine(describe(progress) + summaryOf(progress)); }
    printLine(
      kinds.length === 0
        ? "The store is current"
        : dryRun
        ? "Nothing was changed. Without --dry-run, this would be done"
        : "Upgraded. The store is current",
    );
  } finally {
    await store.close();
  }
}

function describe({ kind, to, read, changed, removed }: KindProgress): string {
  return `${kind} ${to}: ${read} read, ${changed} changed, ${removed} removed`;
}

function summaryOf({ kind, changed, removed }: KindProgress): string {
  if (changed + removed === 0) return "";
  return ": " + UPGRADE_STEPS.filter((step) => step.kind === kind).map(({ summary }) => summary).join("; ");
}
