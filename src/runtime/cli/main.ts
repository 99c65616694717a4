/**
 * The command line, `trivet`: finds the command, and turns what it throws into a message and an exit code (0 done,
 * 1 failed, 2 called wrongly). On Node, Deno and Bun.
 *
 * @module
 */
import { VERSION } from "../../version.ts";
import * as client from "./client.ts";
import { printError, printLine, UsageError } from "./output.ts";
import * as key from "./key.ts";
import * as migrate from "./migrate.ts";
import * as serve from "./serve.ts";
import * as skill from "./skill.ts";
import * as stdio from "./stdio.ts";
import * as user from "./user.ts";

/** A command: a line for the overview, its help, and what it does. */
interface Command {
  readonly summary: string;
  readonly help: string;
  run(argv: readonly string[]): Promise<void>;
}

const COMMANDS: Readonly<Record<string, Command>> = { serve, stdio, client, user, skill, key, migrate };

const HELP = `trivet: permission, know-how and tools for AI agents

Usage: trivet <command> [options]

${Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(8)}${summary}`).join("\n")}

  trivet <command> --help tells more. trivet --version prints the version.
`;

/** Runs the command that the words name. */
export async function main([name, ...argv]: readonly string[]): Promise<number> {
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    printLine(HELP.trimEnd());
    return name === undefined ? 2 : 0;
  }
  if (name === "--version" || name === "-v") {
    printLine(VERSION);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    printError(`trivet: there is no command "${name}". Commands: ${Object.keys(COMMANDS).join(", ")}`);
    return 2;
  }
  if (argv.includes("--help") || argv.includes("-h")) {
    printLine(command.help.trimEnd());
    return 0;
  }
  try {
    await command.run(argv);
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    printError(`trivet ${name}: ${message}`);
    if (error instanceof UsageError) printError(`Try: trivet ${name} --help`);
    return error instanceof UsageError ? 2 : 1;
  }
}
