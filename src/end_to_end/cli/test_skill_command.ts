/**
 * `trivet skill` in the process of the tests, which is much faster than one of its own: what it prints is caught. Nothing
 * but tests imports this.
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

/** Runs it to its end; one at a time, since a process has one standard output. `key` is in TRIVET_API_KEY. */
export async function runSkill(words: readonly string[], key?: string): Promise<CommandOutcome> {
  const { stdout, stderr, env } = process;
  const caught = { stdout: "", stderr: "" };
  const written = { stdout: stdout.write, stderr: stderr.write };
  const { TRIVET_API_KEY: before } = env;
  stdout.write = (text: string | Uint8Array) => (caught.stdout += text, true);
  stderr.write = (text: string | Uint8Array) => (caught.stderr += text, true);
  if (key === undefined) delete env.TRIVET_API_KEY;
  else env.TRIVET_API_KEY = key;
  try {
    return { code: await main(["skill", ...words]), ...caught };
  } finally {
    stdout.write = written.stdout;
    stderr.write = written.stderr;
    if (before === undefined) delete env.TRIVET_API_KEY;
    else env.TRIVET_API_KEY = before;
  }
}

/** The same, for what must succeed and print JSON. */
export async function runSkillJson(words: readonly string[], key?: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runSkill([...words, "--json"], key);
  if (code !== 0) throw new Error(`trivet skill ${words.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Writes a skill's folder: SKILL.md and these files. Gives its path. */
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
