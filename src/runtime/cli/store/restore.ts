/**
 * `trivet restore`: see `backup.ts`.
 *
 * @module
 */
export { restore as run, restoreHelp as help } from "./backup.ts";
