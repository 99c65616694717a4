/**
 * `trivet skill`: uploaded skills of a data folder or of a server. Finds the command, and opens where the skills are.
 *
 * @module
 */
import process from "node:process";
import { SkillError } from "../../../skills/error.ts";
import { ApiError } from "../api/api_error.ts";
import { DATA_HELP } from "../data.ts";
import { interruptible } from "../interrupt.ts";
import { openPlace, PLACE_HELP, PLACE_OPTION } from "./open_skill_place.ts";
import { readArguments, UsageError, type Values } from "../output.ts";
import { add } from "./skill_add.ts";
import type { SkillCommand } from "./skill_command.ts";
import { doctor } from "./skill_doctor.ts";
import { list, versions } from "./skill_list.ts";
import type { SkillPlace } from "./skill_place.ts";
import { countRules, problemLines, toReported } from "./skill_problems.ts";
import { pull } from "./skill_pull.ts";
import { remove } from "./skill_remove.ts";
import { show } from "./skill_show.ts";
import { validate } from "./skill_validate.ts";

const COMMANDS: Readonly<Record<string, SkillCommand>> = {
  add,
  list,
  show,
  versions,
  pull,
  remove,
  validate,
  doctor,
};
const NAMES: string = Object.keys(COMMANDS).join(", ").replace(/, (?=\w+$)/, " or ");

export const help: string = `trivet skill: adds, shows, pulls and removes skills, here or on a server

Usage: ${
  Object.entries(COMMANDS).map(([name, { operands }]) =>
    `trivet skill ${[name, operands, "[options]"].filter((word) => word !== "").join(" ")}`
  ).join("\n       ")
}

${DATA_HELP}
${PLACE_HELP}
add: a new skill, or the next version of one:
  --skill ID           the skill that gets a version
  --as-version         that is the newest one with the name in SKILL.md
  --display-name NAME  a label of a new skill (default: the skill's name)
show, pull, remove: a version by its id; the newest one, when left out:
  --version ID         of remove: only this version, and not the whole skill
pull: a folder with the skill's name, or an archive:
  --output PATH        the folder to put it in, or a file that ends in .zip (default: .)
  --zip                an archive rather than a folder
  --force              replace what an earlier pull wrote
validate: what an upload would be refused for or warned of; exit code 1 when it would be refused
doctor: what a server serves of folders of skills (default: DIR/skills), what it leaves out, and why; of one skill,
when DIR is one; exit code 1 when anything is left out:
  --client-skills      also .agents/skills and .claude/skills, here and then in the home folder
  --follow-links       the folder of a skill may be a link

Names stand for the newest skill that has them. Skills that lie in the folder of local skills need no adding: they
are served as they are. Transfers that take long show a bar on a terminal.

Examples:
  trivet skill add ./my-skill
  trivet skill add ./my-skill --as-version
  trivet skill show my-skill
  trivet skill pull my-skill --url https://agents.example.com --key-file key.txt --output ~/.claude/skills
  trivet skill validate ./my-skill --json
  trivet skill doctor --client-skills
`;

const COMMON: SkillCommand["options"] = { ...PLACE_OPTION, json: { type: "boolean" } };

export async function run(argv: readonly string[]): Promise<void> {
  const [command, operands, values] = readCommand(argv);
  const json = values.json === true;
  await interruptible("skill", async (signal) => {
    let place: SkillPlace | undefined;
    try {
      await command.run({
        values,
        operands,
        json,
        // Programs that read JSON may show both streams in one place.
        terminal: json ? undefined : process.stderr,
        signal,
        open: async () => place ??= await openPlace(values, signal),
      });
    } catch (error) {
      throw tellProblems(error);
    } finally {
      await place?.close();
    }
  });
}

function readCommand(
  argv: readonly string[],
): [command: SkillCommand, operands: readonly string[], values: Values] {
  const all = Object.assign({}, COMMON, ...Object.values(COMMANDS).map(({ options }) => options));
  const { values, operands: [name = "", ...operands] } = readArguments(argv, all, Infinity);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`Say what to do: ${NAMES}`);
  const other = Object.keys(values).find((option) => !(option in COMMON || option in command.options));
  if (other !== undefined) throw new UsageError(`--${other} is not for trivet skill ${name}`);
  if (operands.length > command.most) {
    throw new UsageError(`"${operands[command.most]}" is one word too many`);
  }
  return [command, operands, values];
}

/** Every broken rule on a line of its own. */
function tellProblems(error: unknown): unknown {
  const problems = error instanceof SkillError
    ? error.problems.map(toReported)
    : error instanceof ApiError
    ? error.problems
    : [];
  if (problems.length === 0) return error;
  const codes = error instanceof ApiError ? ` ${error.codes}` : "";
  const lines = [`The package is refused: ${countRules(problems)}${codes}`, ...problemLines(problems)];
  return new Error(lines.join("\n"), { cause: error });
}
