/**
 * What `trivet serve` logs about the upgrade of a store of an earlier version, which it does in the background.
 *
 * @module
 */
import { describeError } from "../../../observability/log.ts";
import type { OpenWhileUpgradingOptions } from "../../../store/upgrade/open_while_upgrading.ts";
import type { createServeLog } from "./observe.ts";

/** The options of the upgrade: one line for each kind of records, and one for the end. */
export function logUpgrade(log: ReturnType<typeof createServeLog>): OpenWhileUpgradingOptions {
  return {
    onKind: ({ kind, to, read, changed, removed }) =>
      log.line("info", "upgrading", { kind, version: to, read, changed, removed }),
    onEnd: (result) => {
      if ("error" in result) {
        log.line("error", "fault", { where: "upgrade", error: describeError(result.error) });
      } else log.line("info", "upgraded", { kinds: result.length });
    },
  };
}
