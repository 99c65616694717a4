/**
 * The definitions of a user's module on a running server: loaded again when the module changes.
 *
 * @module
 */
import type { Definition } from "../../../mcp/definition/definition.ts";
import type { Trivet } from "../../../trivet.ts";
import { printError } from "../output.ts";
import type { ToolModule, ToolModuleContext } from "./tool_module.ts";
import { watchFiles } from "./watch_files.ts";

/** How many names are listed for people. */
const MAX_NAMES = 8;

/** Loads a watched module again whenever its files change. Returns the function that stops it. */
export function reloadOnChange(trivet: Trivet, module: ToolModule, context: ToolModuleContext): () => void {
  if (!module.isWatched) return () => {};
  return watchFiles(module.files, async () => {
    try {
      const definitions = await module.load(context);
      await trivet.mcp!.replace(definitions);
      printError(`trivet: reloaded "${module.name}": ${listNames(definitions)}`);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      printError(`trivet: ${message}\ntrivet: the previous definitions stay in use`);
    }
  });
}

/** Names of definitions, for people: the first of many. */
export function listNames(definitions: readonly Definition[]): string {
  const names = definitions.map(({ name }) => name);
  if (names.length === 0) return "nothing";
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return names.slice(0, MAX_NAMES).join(", ") + more;
}
