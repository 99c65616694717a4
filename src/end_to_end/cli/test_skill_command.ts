/**
 * Runs `trivet skill` in the process of the tests. Only tests import this.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { skillMarkdown } from "../skills/test_skills_server.ts";
import { type CommandOutcome, runCommand } from "./test_command.ts";

/** Runs the command. One at a time: a process has one standard output. @param key value of TRIVET_API_KEY */
export function runSkill(args: readonly string[], key?: string): Promise<CommandOutcome> {
  return runCommand(["skill", ...args], { TRIVET_API_KEY: key });
}

/** Runs the command with `--json`. @throws {Error} when it fails */
export async function runSkillJson(args: readonly string[], key?: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runSkill([...args, "--json"], key);
  if (code !== 0) throw new Error(`trivet skill ${args.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Writes a skill's folder: SKILL.md and these files. Returns its path. */
export function writeSkill(
  parent: string,
  name: string,
  files: Readonly<Record<string, string | Uint8Array>> = {},
): string {
  for (const [path, content] of Object.entries({ "SKILL.md": skillMarkdown(name), ...files })) {
    const file = join(parent, name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return join(parent, name);
}
