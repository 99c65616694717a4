/**
 * Operands of the actions that connect: a command after `--` stands in place of the server.
 *
 * @module
 */
import { UsageError } from "../output.ts";
import type { McpCall } from "./mcp_action.ts";

/**
 * The operands by the names, the server first; an empty text for it with a command.
 * @throws {UsageError} for one that is missing or unexpected
 */
export function readOperands(
  { operands, command }: Pick<McpCall, "operands" | "command">,
  names: readonly string[],
): readonly string[] {
  const given = operands.filter((each) => each !== "");
  const expected = command ? names.slice(1) : names;
  if (given.length > expected.length) {
    const hint = command ? ": a command after -- stands in place of SERVER" : "";
    throw new UsageError(`unexpected argument "${given[expected.length]}"${hint}`);
  }
  const missing = expected[given.length];
  if (missing !== undefined) {
    throw new UsageError(`missing argument: ${missing === "SERVER" ? "SERVER, or -- COMMAND" : missing}`);
  }
  return command ? ["", ...given] : given;
}
