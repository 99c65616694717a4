/**
 * How each command of `trivet skill` is declared, and what it is called with.
 *
 * @module
 */
import type { Action } from "../actions.ts";
import type { Options, ValuesOf } from "../options.ts";
import type { Terminal } from "../progress_bar.ts";
import { PLACE_OPTIONS } from "./open_skill_place.ts";
import type { SkillPlace } from "./skill_place.ts";

/** The options that every command of `trivet skill` takes. */
export const COMMON_OPTIONS: typeof PLACE_OPTIONS & { readonly json: { readonly summary: string } } = {
  ...PLACE_OPTIONS,
  json: { summary: "print JSON" },
};

/** The version that a command reads. */
export const VERSION_OPTION = {
  value: "ID",
  summary: "the version",
  default: "latest",
  shownDefault: "the newest",
} as const;

export interface SkillCommand<Declared extends Options = Options> extends Action {
  readonly options: Declared;
  run(call: SkillCall<ValuesOf<Declared & typeof COMMON_OPTIONS>>): Promise<void>;
}

export interface SkillCall<Values = ValuesOf<Options & typeof COMMON_OPTIONS>> {
  readonly values: Values;
  readonly operands: readonly string[];
  readonly json: boolean;
  /** Where a progress bar can be drawn; `undefined` when programs read the output. */
  readonly terminal: Terminal | undefined;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
  /** Opens the place once; it is closed when the command has ended. */
  open(): Promise<SkillPlace>;
}

/** Declares a command. */
export function skillCommand<const Declared extends Options>(
  command: SkillCommand<Declared>,
): SkillCommand<Declared> {
  return command;
}
