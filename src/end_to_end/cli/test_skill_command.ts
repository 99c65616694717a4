/**
 * Runs `trivet skill` in the process of the tests, which is faster than a process of its own, and captures its output. Only
 * tests import this.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { main } from "../../runtime/cli/main.ts";
import { skillMarkdown } from "../skills/test_skills_server.ts";

export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command. One at a time: a process has one standard output. @param key value of TRIVET_API_KEY */
export async function runSkill(args: readonly string[], key?: string): Promise<CommandOutcome> {
  const { stdout, stderr, env } = process;
  const captured = { stdout: "", stderr: "" };
  const written = { stdout: stdout.write, stderr: stderr.write };
  const { TRIVET_API_KEY: before } = env;
  stdout.write = (text: string | Uint8Array) => (captured.stdout += text, true);
  stderr.write = (text: string | Uint8Array) => (captured.stderr += text, true);
  if (key === undefined) delete env.TRIVET_API_KEY;
  else env.TRIVET_API_KEY = key;
  try {
    return { code: await main(["skill", ...args]), ...captured };
  } finally {
    stdout.write = written.stdout;
    stderr.write = written.stderr;
    if (before === undefined) delete env.TRIVET_API_KEY;
    else env.TRIVET_API_KEY = before;
  }
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
