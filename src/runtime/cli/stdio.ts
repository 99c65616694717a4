/**
 * `trivet stdio`: the tool server for one client that started this process. Standard output carries messages only.
 *
 * @module
 */
import { Console } from "node:console";
import process from "node:process";
import { createTrivet } from "../../trivet.ts";
import { CALLER_HELP, readCaller } from "./caller.ts";
import { DATA_HELP, DATA_OPTION, openStore, readPlace } from "./data.ts";
import { ensureSkills } from "./serve/demo.ts";
import { endSoon, offerChanges } from "./serve/offer_tools.ts";
import { printError, readArguments, textOption } from "./output.ts";
import { readSkillFolders, SKILLS_HELP, SKILLS_OPTION } from "./skill/skill_folders.ts";
import { MODULE_HELP, MODULE_OPTION, readModule, WATCH_HELP } from "./serve/tool_module.ts";
import { watchSkills } from "./serve/watch_skills.ts";

export const help: string = `trivet stdio: serves tools to one MCP client over standard input and output

Usage: trivet stdio [MODULE] [options]

${MODULE_HELP}
What it writes by \`console\` goes to standard error.

${WATCH_HELP}
${DATA_HELP}
${SKILLS_HELP}
  --issuer URL   the server that gave TRIVET_TOKEN (default: http://127.0.0.1:8787)

${CALLER_HELP}

In a client's configuration:
  { "mcpServers": { "trivet": { "command": "npx", "args": ["trivet", "stdio", "--data", "/path/to/data"] } } }
  { "mcpServers": { "mine": { "command": "npx", "args": ["trivet", "stdio", "/path/to/tools.ts"],
                              "env": { "TRIVET_SCOPES": "skills:read write" } } } }
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [path] } = readArguments(argv, {
    ...DATA_OPTION,
    ...MODULE_OPTION,
    ...SKILLS_OPTION,
    issuer: { type: "string" },
  }, 1);
  const module = readModule(path, values);
  const place = readPlace(values, process.env);
  const { named, folders } = readSkillFolders(values, place.folder);
  const issuer = textOption(values, "issuer") ?? "http://127.0.0.1:8787";
  // Standard output is the protocol's.
  globalThis.console = new Console(process.stderr, process.stderr);
  const store = await openStore(place);
  try {
    ensureSkills(named[0]!);
    const blobs = await place.openBlobs();
    const trivet = createTrivet({
      issuer,
      store,
      skills: { folders, ...(blobs && { blobs }) },
      mcp: { definitions: await module?.load({ store }) ?? [] },
      onEvent: (event) => {
        if (event.type === "fault") printError(`trivet: fault in ${event.where}: ${String(event.error)}`);
      },
    });
    const { origin, pathname } = new URL(issuer);
    const server = `${origin}${pathname.replace(/\/$/, "")}/mcp`;
    const caller = await readCaller(trivet, server, process.env);
    const ended = new AbortController();
    const unwatch = caller.watch((reason) => ended.abort(reason));
    const stop = module && offerChanges(trivet, module, { store });
    const watched = watchSkills(trivet);
    try {
      await trivet.mcp!.serveStdio(readInput(ended.signal), writeOutput(), caller.principal);
    } finally {
      unwatch();
      stop?.();
      (await watched)();
      await trivet.skills!.flush();
    }
    if (ended.signal.aborted) throw new Error(ended.signal.reason);
  } finally {
    await store.close();
    if (module) endSoon();
  }
}

/** Standard input, until it ends or the signal is given. */
function readInput(signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      let open = true;
      const close = (): void => {
        if (open) controller.close();
        open = false;
      };
      signal.addEventListener("abort", () => {
        process.stdin.removeAllListeners();
        process.stdin.destroy();
        close();
      });
      process.stdin.on("data", (chunk: Uint8Array) => {
        controller.enqueue(new Uint8Array(chunk));
        if ((controller.desiredSize ?? 0) <= 0) process.stdin.pause();
      });
      process.stdin.on("end", close);
      process.stdin.on("error", (error) => controller.error(error));
    },
    pull() {
      process.stdin.resume();
    },
    cancel() {
      process.stdin.destroy();
    },
  }, { highWaterMark: 16 });
}

function writeOutput(): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (chunk) =>
      new Promise<void>((resolve, reject) => {
        process.stdout.write(chunk, (error) => error ? reject(error) : resolve());
      }),
  });
}
