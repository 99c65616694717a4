/**
 * The definitions of a user's module on a running server, kept as the file is.
 *
 * @module
 */
import process from "node:process";
import { setTimeout } from "node:timers";
import type { Definition } from "../../../mcp/definition/definition.ts";
import type { Trivet } from "../../../trivet.ts";
import { printError } from "../output.ts";
import type { ToolModule, ToolModuleContext } from "./tool_module.ts";
import { watchFiles } from "./watch_files.ts";

/** Offers what a watched module says whenever it says something else. Gives what ends that. */
export function offerChanges(trivet: Trivet, module: ToolModule, context: ToolModuleContext): () => void {
  if (!module.watched) return () => {};
  return watchFiles(module.files, async () => {
    try {
      const definitions = await module.load(context);
      await trivet.mcp!.replace(definitions);
      printError(`trivet: loaded "${module.name}" again: ${namesOf(definitions)}`);
    } catch (error) {
      printError(
        `trivet: ${error instanceof Error ? error.message : error}\ntrivet: what was there before stays`,
      );
    }
  });
}

/** Ends the process soon, also where a module left something open that would keep it: a timer, a connection. */
export function endSoon(): void {
  setTimeout(() => process.exit(), 1000).unref();
}

/** Names of what is offered, for people: of many, the first. */
export function namesOf(definitions: readonly Definition[]): string {
  const names = definitions.map(({ name }) => name);
  if (names.length === 0) return "nothing";
  return names.slice(0, 8).join(", ") + (names.length > 8 ? ` and ${names.length - 8} more` : "");
}
