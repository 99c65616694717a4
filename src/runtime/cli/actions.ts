/**
 * Commands with actions, such as `add` of `trivet user`. An action is declared once, as data: finds the one that the
 * arguments name, reads its operands and options, and writes `--help`.
 *
 * @module
 */
import { suggest } from "./nearest.ts";
import { type Arguments, describeOptions, type Options, readArguments } from "./options.ts";
import { UsageError } from "./output.ts";

/** What every action declares. How it runs is up to its command. */
export interface Action {
  /**
   * Its operands in the usage line, separated by blanks: `[SESSION]` can be left out, `[DIR...]` can also be given several
   * times, `ID|NAME` is one of both.
   */
  readonly operands: string;
  /** What it does, in one line of `--help`. */
  readonly summary: string;
  /** Its own options, besides the common ones of its command. */
  readonly options: Options;
}

/** A command with actions. */
export interface ActionCommand<Declared extends Action = Action> {
  readonly name: string;
  /** What it is about, in the first line of `--help`. */
  readonly title: string;
  readonly actions: Readonly<Record<string, Declared>>;
  /** The options of every action. */
  readonly common: Options;
  /** Paragraphs below the options. */
  readonly notes: string;
  /** Command lines without `trivet`. */
  readonly examples: readonly string[];
}

/** The action that was called. */
export interface ActionCall<Declared extends Action> extends Omit<Arguments<Options>, "operands"> {
  readonly action: Declared;
  /** As the usage line says; an empty text for one that was left out. */
  readonly operands: readonly string[];
}

/** What people type for the name of an action. */
const SYNONYMS: Readonly<Record<string, string>> = {
  create: "add",
  new: "add",
  make: "add",
  delete: "remove",
  del: "remove",
  rm: "remove",
  revoke: "remove",
  ls: "list",
  get: "show",
  info: "show",
  describe: "show",
  set: "update",
  edit: "update",
  change: "update",
  modify: "update",
};
const MAX_REPEATED_OPERANDS = 100;

/**
 * Reads the arguments of a command.
 * @throws {UsageError} with the nearest name for an unknown action or option
 */
export function readAction<Declared extends Action>(
  { name: command, actions, common }: ActionCommand<Declared>,
  argv: readonly string[],
): ActionCall<Declared> {
  const all: Options = Object.assign({}, ...Object.values(actions).map(({ options }) => options));
  const { given, operands: [name, ...operands] } = readArguments(argv, { ...all, ...common }, Infinity);
  const action = name !== undefined && Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw unknownAction(name, Object.keys(actions));
  const options = { ...action.options, ...common };
  const other = [...given].find((option) => !(option in options));
  if (other !== undefined) {
    const near = suggest(other, Object.keys(options), "--");
    throw new UsageError(`--${other} is not an option of trivet ${command} ${name}${near}`);
  }
  // Actions may declare different defaults for one option.
  const { values } = readArguments(argv, options, Infinity);
  return { action, given, values, operands: readOperands(action, operands) };
}

/** @throws {UsageError} for one that is missing or unexpected */
function readOperands({ operands: declared }: Action, given: readonly string[]): string[] {
  const expected = declared.split(" ").filter((each) => each !== "");
  const max = declared.includes("...") ? MAX_REPEATED_OPERANDS : expected.length;
  if (given.length > max) throw new UsageError(`unexpected argument "${given[max]}"`);
  const missing = expected.slice(given.length).find((each) => !each.startsWith("["));
  if (missing !== undefined) throw new UsageError(`missing argument: ${missing.replaceAll("|", " or ")}`);
  if (declared.includes("...")) return [...given];
  return expected.map((_, i) => given[i] ?? "");
}

/** The error for a command whose action is missing or unknown. */
function unknownAction(action: string | undefined, actions: readonly string[]): UsageError {
  if (action === undefined) return new UsageError(`missing action. Actions: ${actions.join(", ")}`);
  const synonym = Object.hasOwn(SYNONYMS, action) ? SYNONYMS[action]! : undefined;
  const near = synonym !== undefined && actions.includes(synonym)
    ? `. Did you mean "${synonym}"?`
    : suggest(action, actions);
  return new UsageError(`unknown action "${action}"${near || "."} Actions: ${actions.join(", ")}`);
}

/** `--help` of a command: its actions and common options. Those of an action are in {@linkcode describeAction}. */
export function describeCommand(command: ActionCommand): string {
  const { name, title, actions, common, notes, examples } = command;
  const usages = Object.entries(actions).map(([action, declared]) => usageOf(name, action, declared));
  const width = Math.max(...usages.map(({ length }) => length)) + 2;
  const lines = Object.values(actions).map(({ summary }, i) =>
    `${i === 0 ? "Usage: " : "       "}${usages[i]!.padEnd(width)}${summary}`
  );
  return [
    `trivet ${name}: ${title}`,
    lines.join("\n"),
    `Options of every action; "trivet ${name} ACTION --help" lists those of one:\n${describeOptions(common)}`,
    ...notes === "" ? [] : [notes],
    `Examples:\n${examples.map((example) => `  ${example}`).join("\n")}`,
  ].join("\n\n");
}

/** `--help` of an action; `undefined` when the command has none of this name. */
export function describeAction(
  { name, actions, common }: ActionCommand,
  action: string,
): string | undefined {
  const declared = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (!declared) return undefined;
  return [
    `trivet ${name} ${action}: ${declared.summary}`,
    `Usage: ${usageOf(name, action, declared)}`,
    ...Object.keys(declared.options).length === 0 ? [] : [describeOptions(declared.options)],
    describeOptions(common),
  ].join("\n\n");
}

function usageOf(command: string, action: string, { operands, options }: Action): string {
  return ["trivet", command, action, operands, Object.keys(options).length > 0 ? "[options]" : ""]
    .filter((word) => word !== "").join(" ");
}
