/**
 * `trivet/upgrade`: makes the records of a store that an earlier version wrote current, also while it is served.
 *
 * @module
 */
export { openWhileUpgrading, type OpenWhileUpgradingOptions } from "./open_while_upgrading.ts";
export { type KindProgress, type UpgradeOptions, upgradeStore } from "./run_upgrade.ts";
export { StoreFormatError } from "../format.ts";
export type { Store } from "../store.ts";
