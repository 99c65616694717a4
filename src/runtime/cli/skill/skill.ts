/**
 * `trivet skill`: the uploaded skills of a store or of a server. Finds the command, and opens the place of the skills.
 *
 * @module
 */
import process from "node:process";
import { SkillError } from "../../../skills/error.ts";
import { ApiError } from "../api/api_error.ts";
import { interruptible } from "../interrupt.ts";
import { type ActionCommand, describeAction, describeCommand, readAction } from "../actions.ts";
import type { ValuesOf } from "../options.ts";
import { openPlace } from "./open_skill_place.ts";
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

const COMMAND = {
  name: "skill",
  title: "skills, in a store or on a server of the Skills API",
  actions: { add, list, show, versions, pull, remove, validate, doctor },
  common: COMMON_OPTIONS,
  notes:
    `A NAME stands for the newest skill of that name. Skills in a folder of local skills are served without
"add". Without --url, the actions find uploaded skills only. With it, "list", "show", "versions" and "pull" also
find local skills of the server. Long transfers show a progress bar on a terminal.`,
  examples: [
    "trivet skill add ./my-skill",
    "trivet skill add ./my-skill --as-version",
    "trivet skill show my-skill",
    "trivet skill pull my-skill --url https://agents.example.com --key-file key.txt --output ~/.claude/skills",
    "trivet skill validate ./my-skill --json",
    "trivet skill doctor --client-skills",
  ],
} satisfies ActionCommand<SkillCommand>;

export const help: string = describeCommand(COMMAND);

export function describe(action: string): string | undefined {
  return describeAction(COMMAND, action);
}

export async function run(argv: readonly string[]): Promise<void> {
  const { action, operands, values, given } = readAction<SkillCommand>(COMMAND, argv);
  const call = values as ValuesOf<typeof COMMON_OPTIONS>;
  const { json } = call;
  await interruptible("skill", async (signal) => {
    let place: SkillPlace | undefined;
    try {
      await action.run({
        values: call,
        operands,
        json,
        // A program that reads JSON may mix both streams.
        terminal: json ? undefined : process.stderr,
        signal,
        open: async () => place ??= await openPlace(call, given, signal),
      });
    } catch (error) {
      throw addProblems(error);
    } finally {
      await place?.close();
    }
  });
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
