/**
 * `trivet skill` in the process of the tests, which is much faster than a process of its own: its output is captured.
 * Only tests import this.
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

/** Runs the command; one at a time, since a process has one standard output. @param key for TRIVET_API_KEY */
export async function runSkill(words: readonly string[], key?: string): Promise<CommandOutcome> {
  const { stdout, stderr, env } = process;
  const captured = { stdout: "", stderr: "" };
  const written = { stdout: stdout.write, stderr: stderr.write };
  const { TRIVET_API_KEY: before } = env;
  stdout.write = (text: string | Uint8Array) => (captured.stdout += text, true);
  stderr.write = (text: string | Uint8Array) => (captured.stderr += text, true);
  if (key === undefined) delete env.TRIVET_API_KEY;
  else env.TRIVET_API_KEY = key;
  try {
    return { code: await main(["skill", ...words]), ...captured };
  } finally {
    stdout.write = written.stdout;
    stderr.write = written.stderr;
    if (before === undefined) delete env.TRIVET_API_KEY;
    else env.TRIVET_API_KEY = before;
  }
}

/** The same for a command that must succeed and print JSON. */
export async function runSkillJson(words: readonly string[], key?: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runSkill([...words, "--json"], key);
  if (code !== 0) throw new Error(`trivet skill ${words.join(" ")} ended with ${code}: ${stderr}`);
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
