/**
 * The command line, `trivet`, on Node, Deno and Bun: finds the command, and turns what it throws into a message and an
 * exit code (0 done, 1 failed, 2 called wrongly).
 *
 * @module
 */
import { describeError } from "./file_error.ts";
import { suggest } from "./nearest.ts";
import { printError, printLine, UsageError } from "./output.ts";

interface Command {
  /** A function where it takes a millisecond to make. */
  readonly help: string | (() => string);
  /** The help of one of its actions; `undefined` when it has none of this name. */
  describe?(action: string): string | undefined;
  run(argv: readonly string[]): Promise<void>;
}

/** Each command with its line of the overview. Its code is loaded when it is called: that of `serve` takes long. */
const COMMANDS: Readonly<Record<string, { readonly summary: string; load(): Promise<Command> }>> = {
  serve: {
    summary: "runs the authorization server, the Skills service and the tool server",
    load: () => import("./serve/serve.ts"),
  },
  stdio: {
    summary: "serves tools to one MCP client over standard input and output",
    load: () => import("./stdio.ts"),
  },
  user: {
    summary: "users, their passwords and second factors",
    load: async () => (await import("./admin/user.ts")).command,
  },
  invitation: {
    summary: "one-time links with which people create an account",
    load: async () => (await import("./admin/invitation.ts")).command,
  },
  session: {
    summary: "where users are signed in",
    load: async () => (await import("./admin/session.ts")).command,
  },
  grant: {
    summary: "what users allowed applications",
    load: async () => (await import("./admin/grant.ts")).command,
  },
  client: {
    summary: "OAuth clients",
    load: async () => (await import("./admin/client.ts")).command,
  },
  provider: {
    summary: "identity providers at which users sign in",
    load: async () => (await import("./admin/provider.ts")).command,
  },
  key: {
    summary: "API keys",
    load: async () => (await import("./admin/key.ts")).command,
  },
  skill: {
    summary: "skills, in a store or on a server",
    load: () => import("./skill/skill.ts"),
  },
  mcp: {
    summary: "MCP servers behind the gateway, and a client that tests and calls any MCP server",
    load: () => import("./mcp/mcp.ts"),
  },
  tool: {
    summary: "the tools of a running server, and their calls",
    load: async () => (await import("./admin/tool.ts")).command,
  },
  audit: {
    summary: "who did what: lists, verifies and exports the audit trail",
    load: async () => (await import("./admin/audit.ts")).command,
  },
  rotate: {
    summary: "makes new signing keys and a new server secret while servers run",
    load: async () => (await import("./admin/rotate.ts")).command,
  },
  status: {
    summary: "version, clock and store of a running server",
    load: () => import("./admin/status.ts"),
  },
  doctor: {
    summary: "checks a store and a running server",
    load: () => import("./doctor/doctor.ts"),
  },
  backup: {
    summary: "writes everything in a store into one file",
    load: () => import("./store/backup.ts"),
  },
  restore: {
    summary: "fills an empty store from such a file",
    load: () => import("./store/restore.ts"),
  },
  upgrade: {
    summary: "makes the records of a store that an earlier version wrote current",
    load: () => import("./store/upgrade.ts"),
  },
  migrate: {
    summary: "copies everything from one store to another",
    load: () => import("./store/migrate.ts"),
  },
};

/** Of the names in the overview. */
const WIDTH = Math.max(...Object.keys(COMMANDS).map(({ length }) => length)) + 2;

/** Actions that became commands of their own. Their former names still work. */
const FORMER_NAMES: Readonly<Record<string, readonly string[]>> = {
  "user sessions": ["session", "list"],
  "user sign-out": ["session", "remove"],
  "user grants": ["grant", "list"],
  "user revoke": ["grant", "remove"],
  "user invite": ["invitation", "add"],
  "user invitations": ["invitation", "list"],
  "user uninvite": ["invitation", "remove"],
};

const HELP = `trivet: permission, know-how and tools for AI agents

Usage: trivet <command> [options]

${Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(WIDTH)}${summary}`).join("\n")}

"trivet <command> --help" describes a command. "trivet --version" prints the version.
`;

/** Runs the command that the arguments name. Returns the exit code. */
export async function main([name, ...argv]: readonly string[]): Promise<number> {
  if (name === "help" && argv.length > 0) return await main([...argv, "--help"]);
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    printLine(HELP.trimEnd());
    return name === undefined ? 2 : 0;
  }
  if (name === "--version" || name === "-v") {
    printLine((await import("../../version.ts")).VERSION);
    return 0;
  }
  const former = `${name} ${argv[0]}`;
  if (Object.hasOwn(FORMER_NAMES, former)) return await main([...FORMER_NAMES[former]!, ...argv.slice(1)]);
  const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!known) {
    const names = Object.keys(COMMANDS);
    const near = suggest(name, [...names, "--help", "--version"]) || ".";
    printError(`trivet: unknown command "${name}"${near} Commands: ${names.join(", ")}`);
    return 2;
  }
  const command = await known.load();
  // What follows "--" is the command line of another program, such as "docker run -h HOST".
  const own = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
  if (own.includes("--help") || own.includes("-h")) {
    const action = own.find((word) => !word.startsWith("-"));
    const help = action === undefined ? undefined : command.describe?.(action);
    printLine((help ?? (typeof command.help === "string" ? command.help : command.help())).trimEnd());
    return 0;
  }
  try {
    await command.run(argv);
    return 0;
  } catch (error) {
    const message = describeError(error);
    printError(`trivet ${name}: ${message}`);
    if (error instanceof UsageError) printError(`Try: trivet ${name} --help`);
    return error instanceof UsageError ? 2 : 1;
  }
}
