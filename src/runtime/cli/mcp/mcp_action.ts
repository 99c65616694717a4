/**
 * How each action of `trivet mcp` is declared, and what it is called with.
 *
 * @module
 */
import type { Action } from "../actions.ts";
import type { Options, ValuesOf } from "../options.ts";

/** The options of every action. */
export const COMMON_OPTIONS = {
  file: {
    value: "FILE",
    summary: `a JSON file with "mcpServers", as MCP clients have it`,
  },
  json: { summary: "print JSON" },
} as const;

export interface McpAction<Declared extends Options = Options> extends Action {
  readonly options: Declared;
  /** Whether a command may follow after `--`. */
  readonly takesCommand?: boolean;
  run(call: McpCall<ValuesOf<Declared & typeof COMMON_OPTIONS>>): Promise<void>;
}

/** What an action is called with. */
export interface McpCall<Values = ValuesOf<Options & typeof COMMON_OPTIONS>> {
  readonly values: Values;
  /** The names of the options that were given. */
  readonly given: ReadonlySet<string>;
  /** As many as the usage line says; an empty text for one that was left out. */
  readonly operands: readonly string[];
  /** The words after `--`. */
  readonly command: readonly string[] | undefined;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
}

/** Declares an action. */
export function mcpAction<const Declared extends Options>(action: McpAction<Declared>): McpAction {
  return action as never;
}
