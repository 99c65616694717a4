/**
 * Commands that administer a store, such as `trivet user`: each has actions, which are declared as data. Reads the arguments,
 * opens the store, and writes `--help`.
 *
 * @module
 */
import process from "node:process";
import type { Store } from "../../../store/store.ts";
import { unknownAction } from "../actions.ts";
import { DATA_OPTIONS, readPlace, withStore } from "../data.ts";
import { suggest } from "../nearest.ts";
import { describeOptions, type Options, readArguments, type ValuesOf } from "../options.ts";
import { UsageError } from "../output.ts";

const COMMON_OPTIONS = { ...DATA_OPTIONS, json: { summary: "print JSON" } } as const;

export interface StoreAction<Declared extends Options = Options> {
  /** Its operands in the usage line, separated by blanks; one in brackets can be left out. */
  readonly operands: string;
  /** What it does, in one line of `--help`. */
  readonly summary: string;
  /** Its own options, besides the common ones. */
  readonly options: Declared;
  /** Stands in `--help` for options that are those of another action. */
  readonly help?: { readonly options: Options; readonly note: string };
  run(call: StoreCall<ValuesOf<Declared>>): Promise<void>;
}

export interface StoreCall<Values = ValuesOf<Options>> {
  readonly store: Store;
  readonly values: Values;
  /** The names of the options that were given. */
  readonly given: ReadonlySet<string>;
  /** As many as the usage line says; an empty text for one that was left out. */
  readonly operands: readonly string[];
  readonly json: boolean;
}

/** Declares an action. */
export function storeAction<const Declared extends Options>(
  action: StoreAction<Declared>,
): StoreAction<Declared> {
  return action;
}

export type StoreActions = Readonly<Record<string, StoreAction>>;

/** Runs the action that the arguments name. @throws {UsageError} with the nearest name for an unknown action or option */
export async function runAction(
  command: string,
  actions: StoreActions,
  argv: readonly string[],
): Promise<void> {
  const all: Options = Object.assign({}, ...Object.values(actions).map(({ options }) => options));
  const { given, operands: [name, ...operands], values } = readArguments(
    argv,
    { ...all, ...COMMON_OPTIONS },
    Infinity,
  );
  const action = name !== undefined && Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw unknownAction(name, Object.keys(actions));
  const other = [...given].find((option) => !(option in COMMON_OPTIONS || option in action.options));
  if (other !== undefined) {
    const near = suggest(other, Object.keys(action.options), "--");
    throw new UsageError(`--${other} is not an option of trivet ${command} ${name}${near}`);
  }
  const expected = action.operands.split(" ").filter((each) => each !== "");
  if (operands.length > expected.length) {
    throw new UsageError(`unexpected argument "${operands[expected.length]}"`);
  }
  const missing = expected.slice(operands.length).find((each) => !each.startsWith("["));
  if (missing !== undefined) throw new UsageError(`missing argument: ${missing}`);
  const { json, ...place } = values as ValuesOf<typeof COMMON_OPTIONS>;
  await withStore(readPlace(place, process.env), (store) =>
    action.run({
      store,
      values: values as ValuesOf<Options>,
      given,
      operands: expected.map((_, i) => operands[i] ?? ""),
      json,
    }));
}

/** The usage lines and the options of all actions. */
export function describeActions(command: string, actions: StoreActions): string {
  const usages = Object.entries(actions).map(([name, { operands, options }]) =>
    ["trivet", command, name, operands, Object.keys(options).length > 0 ? "[options]" : ""]
      .filter((word) => word !== "").join(" ")
  );
  const width = Math.max(...usages.map(({ length }) => length)) + 2;
  const lines = Object.values(actions).map(({ summary }, i) =>
    `${i === 0 ? "Usage: " : "       "}${usages[i]!.padEnd(width)}${summary}`
  );
  const groups = Object.entries(actions)
    .filter(([, { options }]) => Object.keys(options).length > 0)
    .map(([name, { options, help }]) =>
      [`${name}:`, describeOptions(help?.options ?? options), help && `  ${help.note}`].filter(Boolean).join(
        "\n",
      )
    );
  const { blobs: _, ...common } = COMMON_OPTIONS;
  return [...lines, "", describeOptions(common), "", groups.join("\n\n")].join("\n");
}
