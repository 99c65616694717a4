/**
 * What the commands of `trivet skill` have in common: how each is described, and what it is given.
 *
 * @module
 */
import type { ParseArgsConfig } from "node:util";
import type { Values } from "../output.ts";
import type { Terminal } from "../progress_bar.ts";
import type { SkillPlace } from "./skill_place.ts";

export interface SkillCommand {
  /** Operands in its usage line. */
  readonly operands: string;
  /** How many operands it takes at most. */
  readonly most: number;
  /** Its own options; those that say where skills are, and `--json`, are everywhere. */
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  run(call: SkillCall): Promise<void>;
}

export interface SkillCall {
  readonly values: Values;
  readonly operands: readonly string[];
  readonly json: boolean;
  /** Where a bar may be drawn; none, when programs read what is printed. */
  readonly terminal: Terminal | undefined;
  /** Given when the user has had enough. */
  readonly signal: AbortSignal;
  /** Opens the place once; it is closed when the command has ended. */
  open(): Promise<SkillPlace>;
}
