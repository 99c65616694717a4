/**
 * Opens the store or the server whose skills a command works on, as its options name it.
 *
 * @module
 */
import process from "node:process";
import { readServer, SERVER_OPTIONS } from "../api/server_options.ts";
import { DATA_OPTIONS, readPlace } from "../data.ts";
import type { Environment, ValuesOf } from "../options.ts";
import type { SkillPlace } from "./skill_place.ts";
import { openServerPlace } from "./skill_server_place.ts";
import { openStorePlace } from "./skill_store_place.ts";

const WORKSPACE_OPTION = {
  value: "NAME",
  summary: "the workspace of the skills",
  default: "default",
} as const;
const STORE_PLACE_OPTIONS: typeof DATA_OPTIONS & { readonly workspace: typeof WORKSPACE_OPTION } = {
  ...DATA_OPTIONS,
  workspace: WORKSPACE_OPTION,
};
/** The options that name a store, or a server instead. */
export const PLACE_OPTIONS: typeof STORE_PLACE_OPTIONS & typeof SERVER_OPTIONS = {
  ...STORE_PLACE_OPTIONS,
  ...SERVER_OPTIONS,
};

/**
 * Opens the place that the options name.
 * @param given the names of the options that were given
 * @throws {UsageError} for options that exclude each other
 */
export async function openPlace(
  values: ValuesOf<typeof PLACE_OPTIONS>,
  given: ReadonlySet<string>,
  signal: AbortSignal,
  env: Environment = process.env,
): Promise<SkillPlace> {
  const server = readServer(values, given, Object.keys(STORE_PLACE_OPTIONS), env);
  return server
    ? openServerPlace(server, signal)
    : await openStorePlace(readPlace(values, env), values.workspace);
}
