/**
 * `trivet skill`: the uploaded skills of a store or of a server. Finds the command, and opens the place of the skills.
 *
 * @module
 */
import process from "node:process";
import { SkillError } from "../../../skills/error.ts";
import { ApiError } from "../api/api_error.ts";
import { interruptible } from "../interrupt.ts";
import { type Arguments, describeOptions, type Options, readArguments } from "../options.ts";
import { unknownAction, UsageError } from "../output.ts";
import { openPlace, SERVER_PLACE_OPTIONS, STORE_PLACE_OPTIONS } from "./open_skill_place.ts";
import { add } from "./skill_add.ts";
import { COMMON_OPTIONS, type SkillCommand } from "./skill_command.ts";
import { doctor } from "./skill_doctor.ts";
import { list, versions } from "./skill_list.ts";
import type { SkillPlace } from "./skill_place.ts";
import { countProblems, describeProblems, toReported } from "./skill_problems.ts";
import { pull } from "./skill_pull.ts";
import { remove } from "./skill_remove.ts";
import { show } from "./skill_show.ts";
import { validate } from "./skill_validate.ts";

const COMMANDS = {
  add,
  list,
  show,
  versions,
  pull,
  remove,
  validate,
  doctor,
} satisfies Readonly<Record<string, SkillCommand>>;

export const help: string = `trivet skill: adds, shows, pulls and removes skills, here or on a server

Usage: ${
  Object.entries(COMMANDS).map(([name, { operands }]) =>
    `trivet skill ${[name, operands, "[options]"].filter((word) => word !== "").join(" ")}`
  ).join("\n       ")
}

${describeOptions(STORE_PLACE_OPTIONS)}
${describeOptions({ json: COMMON_OPTIONS.json })}

A server of the Skills API instead of a store:
${describeOptions(SERVER_PLACE_OPTIONS)}

add: uploads a new skill, or a new version of a skill
${describeOptions(add.options)}

show: prints a skill and one of its versions
${describeOptions(show.options)}

pull: writes a version as a folder with the skill's name, or as an archive
${describeOptions(pull.options)}

remove: removes a skill with all of its versions, or one version
${describeOptions(remove.options)}

validate: lists every problem that an upload would be refused for or warned of; exit code 1 for an error

doctor: lists which skills of a folder a server serves, which it skips, and why; DIR can also be the
folder of one skill; exit code 1 when a skill is skipped
${describeOptions(doctor.options)}

A NAME stands for the newest skill of that name. Skills in a folder of local skills are served without
"add". Long transfers show a progress bar on a terminal.

Examples:
  trivet skill add ./my-skill
  trivet skill add ./my-skill --as-version
  trivet skill show my-skill
  trivet skill pull my-skill --url https://agents.example.com --key-file key.txt --output ~/.claude/skills
  trivet skill validate ./my-skill --json
  trivet skill doctor --client-skills
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { command, operands, values, given } = readCommand(argv);
  const { json } = values;
  await interruptible("skill", async (signal) => {
    let place: SkillPlace | undefined;
    try {
      await command.run({
        values,
        operands,
        json,
        // A program that reads JSON may mix both streams.
        terminal: json ? undefined : process.stderr,
        signal,
        open: async () => place ??= await openPlace(values, given, signal),
      });
    } catch (error) {
      throw addProblems(error);
    } finally {
      await place?.close();
    }
  });
}

function readCommand(
  argv: readonly string[],
): Arguments<Options & typeof COMMON_OPTIONS> & { readonly command: SkillCommand } {
  const commands: Readonly<Record<string, SkillCommand>> = COMMANDS;
  const options: Options = Object.assign({}, ...Object.values(commands).map(({ options }) => options));
  const { given, operands: [name, ...operands] } = readArguments(
    argv,
    { ...options, ...COMMON_OPTIONS },
    Infinity,
  );
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw unknownAction(name, Object.keys(commands));
  const other = [...given].find((option) => !(option in COMMON_OPTIONS || option in command.options));
  if (other !== undefined) throw new UsageError(`--${other} is not an option of trivet skill ${name}`);
  if (operands.length > command.maxOperands) {
    throw new UsageError(`unexpected argument "${operands[command.maxOperands]}"`);
  }
  // Commands may declare different defaults for one option.
  const { values } = readArguments(argv, { ...command.options, ...COMMON_OPTIONS }, Infinity);
  return { command, operands, values, given };
}

/** Adds each broken rule to the message, on a line of its own. */
function addProblems(error: unknown): unknown {
  const problems = error instanceof SkillError
    ? error.problems.map(toReported)
    : error instanceof ApiError
    ? error.problems
    : [];
  if (problems.length === 0) return error;
  const codes = error instanceof ApiError ? ` ${error.codes}` : "";
  const lines = [`Invalid skill package: ${countProblems(problems)}${codes}`, ...describeProblems(problems)];
  return new Error(lines.join("\n"), { cause: error });
}
