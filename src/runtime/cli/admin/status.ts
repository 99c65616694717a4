/**
 * `trivet status`: version, clock and store of a running server, or of a store.
 *
 * @module
 */
import { listTools, showHealth } from "../../../admin/operations/server.ts";
import { interruptible } from "../interrupt.ts";
import { describeOptions, readArguments } from "../options.ts";
import { formatTime, printJson, printPairs } from "../output.ts";
import { COMMON_OPTIONS, openTarget } from "./admin_action.ts";
import { readPages } from "./list_action.ts";

const OPTIONS = COMMON_OPTIONS;

export const help: string = `trivet status: version, clock and store of a running server

Usage: trivet status [options]

${describeOptions(OPTIONS)}

Without --url it is the store that is asked. "trivet doctor" checks more, and says what to do.

Examples:
  trivet status --url https://agents.example.com
`;

export const run = (argv: readonly string[]): Promise<void> =>
  interruptible("status", async (signal) => {
    const { values, given } = readArguments(argv, OPTIONS);
    const target = await openTarget(values, given, signal);
    try {
      const health = await target.call(showHealth, {});
      const isServer = target.server !== undefined;
      const tools = isServer ? (await readPages(target.call, listTools, {})).data.length : null;
      if (values.json) return printJson({ ...health, tools });
      const { version, time, store, audit_records } = health;
      printPairs([
        ["server", target.server?.href],
        ["version", version],
        ["clock", formatTime(time)],
        ["store", `${store.milliseconds} ms for a read   (${DURABILITY[store.durable] ?? store.durable})`],
        ["audit", audit_records === null ? "no records" : `${audit_records} records`],
        ["tools", tools === null ? null : String(tools)],
      ]);
    } finally {
      await target.close();
    }
  });

/** What an acknowledged commit survives. */
const DURABILITY: Readonly<Record<string, string>> = {
  none: "a change is lost when the process ends",
  process: "a change survives the end of the process",
  power: "a change survives a power cut",
};
