/**
 * Commands of administration, such as `trivet user`. An action maps its operands and options to the input of operations
 * (`src/admin/`) and prints their output.
 *
 * @module
 */
import process from "node:process";
import { type Action, type ActionCommand, describeAction, describeCommand, readAction } from "../actions.ts";
import { readServer, SERVER_OPTIONS } from "../api/server_options.ts";
import { DATA_OPTIONS, readPlace } from "../data.ts";
import { interruptible } from "../interrupt.ts";
import type { Options, ValuesOf } from "../options.ts";
import { printJson, UsageError } from "../output.ts";
import {
  type AdminTarget,
  type CallOperation,
  isNotFound,
  openServerTarget,
  openStoreTarget,
} from "./admin_target.ts";

const STORE_OPTIONS: Pick<typeof DATA_OPTIONS, "data" | "store"> = {
  data: DATA_OPTIONS.data,
  store: DATA_OPTIONS.store,
};
/** The options of every action. */
export const COMMON_OPTIONS: typeof STORE_OPTIONS & typeof SERVER_OPTIONS & { json: { summary: string } } = {
  ...STORE_OPTIONS,
  ...SERVER_OPTIONS,
  json: { summary: "print JSON" },
};

export interface AdminAction<Declared extends Options = Options, Output = unknown> extends Action {
  readonly options: Declared;
  /** The option with the URL of the server, for links that a command on a store makes. A server knows its own. */
  readonly issuerOption?: string;
  /** Calls operations. Returns what `--json` prints: the output of the last one. */
  run(call: AdminCall<ValuesOf<Declared>>): Promise<Output>;
  /** Prints the output for people. */
  print(output: Output, call: AdminCall<ValuesOf<Declared>>): void;
  /** What is wrong with the output; then the command fails after it printed it. */
  findProblem?(output: Output): string | null;
}

/** What an action is called with. */
export interface AdminCall<Values = ValuesOf<Options>> {
  readonly call: CallOperation;
  readonly values: Values;
  /** As many as the usage line says; an empty text for one that was left out. */
  readonly operands: readonly string[];
}

/** Declares an action. */
export function adminAction<const Declared extends Options, Output>(
  action: AdminAction<Declared, Output>,
): AdminAction {
  return action as never;
}

/** What the module of a command exports. */
export interface AdminCommand {
  readonly help: string;
  describe(action: string): string | undefined;
  run(argv: readonly string[]): Promise<void>;
}

/** Declares a command. */
export function adminCommand(declared: Omit<ActionCommand<AdminAction>, "common">): AdminCommand {
  const command = { ...declared, common: COMMON_OPTIONS };
  return {
    help: describeCommand(command),
    describe: (action) => describeAction(command, action),
    run: (argv) => interruptible(declared.name, (signal) => runCommand(command, argv, signal)),
  };
}

async function runCommand(
  command: ActionCommand<AdminAction>,
  argv: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { action, operands, values, given } = readAction(command, argv);
  const common = values as ValuesOf<typeof COMMON_OPTIONS>;
  const target = await openTarget(values, given, signal, action.issuerOption);
  const call: AdminCall = { call: target.call, values: values as ValuesOf<Options>, operands };
  let output: unknown;
  try {
    output = await action.run(call);
  } catch (error) {
    throw isNotFound(error) ? adviseList(error, command, operands) : error;
  } finally {
    // A change is not reported as done before it is in the audit trail.
    await target.close();
  }
  if (!common.json) action.print(output, call);
  else if (output !== undefined) printJson(output);
  const problem = action.findProblem?.(output) ?? null;
  if (problem !== null) throw new Error(problem);
}

/** Adds the command that lists what can be named, if the error says that nothing has the given name. */
function adviseList(
  error: Error,
  { name, actions }: ActionCommand<AdminAction>,
  operands: readonly string[],
): Error {
  if (!/not found/i.test(error.message)) return error;
  const isOther = error.message.startsWith("User not found") && name !== "user";
  if (!isOther && !actions.list) return error;
  // A list that needs an operand lists what belongs to the same user.
  const owner = !isOther && actions.list?.operands ? operands[0]! : "";
  const list = error.message.startsWith("Held tool") ? "held" : "list";
  const words = `trivet ${isOther ? "user" : name} ${list} ${owner}`.trimEnd();
  return new Error(`${error.message}. "${words}" shows what there is`, { cause: error });
}

/** Opens what the common options name. @param issuerOption as in {@linkcode AdminAction} */
export async function openTarget(
  values: Readonly<Record<string, unknown>>,
  given: ReadonlySet<string>,
  signal: AbortSignal,
  issuerOption: string = "",
): Promise<AdminTarget & { readonly server?: URL }> {
  const common = values as ValuesOf<typeof COMMON_OPTIONS>;
  const server = readServer(common, given, Object.keys(STORE_OPTIONS), process.env);
  if (server && given.has(issuerOption)) {
    throw new UsageError(`--${issuerOption} and --url exclude each other`);
  }
  if (server) return { ...openServerTarget(server, signal), server: server.url };
  const place = readPlace({ ...common, blobs: undefined }, process.env);
  return await openStoreTarget(place, values[issuerOption] as string | undefined);
}
