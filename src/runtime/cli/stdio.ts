/**
 * `trivet stdio`: the tool server for one client, which started this process. Standard output carries only messages.
 *
 * @module
 */
import process from "node:process";
import type { NodeOutput } from "../../mcp/stdio/line_writer.ts";
import { createTrivet } from "../../trivet.ts";
import { CALLER_HELP, readCaller } from "./caller.ts";
import { DATA_OPTIONS, openStore, readPlace } from "./data.ts";
import { describeOptions, readArguments } from "./options.ts";
import { printError } from "./output.ts";
import { reserveStdout } from "./reserve_stdout.ts";
import { GATEWAY_OPTIONS, readArrange, readGateway } from "./gateway/gateway_options.ts";
import { EXPECTED_ISSUER, parseIssuer } from "./issuer_option.ts";
import { ensureSkills } from "./serve/demo.ts";
import { OBSERVE_OPTIONS } from "./serve/observe_options.ts";
import { reloadOnChange } from "./serve/reload_tools.ts";
import { exitSoon, stopOnSignal } from "./serve/stop.ts";
import { MODULE_HELP, MODULE_OPTIONS, readModule } from "./serve/tool_module.ts";
import { startTelemetry } from "./telemetry.ts";
import { watchSkills } from "./serve/watch_skills.ts";
import { readServedSkills, SKILL_FOLDER_OPTIONS } from "./skill/skill_folders.ts";

const OPTIONS = {
  ...MODULE_OPTIONS,
  ...DATA_OPTIONS,
  ...SKILL_FOLDER_OPTIONS,
  ...GATEWAY_OPTIONS,
  otel: OBSERVE_OPTIONS.otel,
  issuer: {
    value: "URL",
    summary: "the server that issued TRIVET_TOKEN",
    default: "http://127.0.0.1:8787",
    parse: parseIssuer,
    expected: EXPECTED_ISSUER,
  },
} as const;

export const help = (): string =>
  `trivet stdio: serves tools to one MCP client over standard input and output

Usage: trivet stdio [MODULE] [options]

${MODULE_HELP}
What MODULE writes to standard output goes to standard error, unless it writes to file descriptor 1 itself,
as programs do that it starts with stdio: "inherit".

${describeOptions(OPTIONS)}

${CALLER_HELP}

In a client's configuration:
  { "mcpServers": { "trivet": { "command": "npx", "args": ["trivet", "stdio", "--data", "/path/to/data"] } } }
  { "mcpServers": { "mine": { "command": "npx", "args": ["trivet", "stdio", "/path/to/tools.ts"],
                              "env": { "TRIVET_SCOPES": "skills:read write" } } } }
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [path] } = readArguments(argv, OPTIONS, 1);
  const module = readModule(path, values);
  const place = readPlace(values, process.env);
  const { named: [skillFolder], folders, isOffered } = readServedSkills(
    values,
    place.folder,
    path !== undefined,
  );
  const { issuer } = values;
  const gateway = await readGateway(values, (upstream, line) => printError(`${upstream}: ${line}`));
  let isServing = false;
  const stopping = stopOnSignal(() => !isServing);
  const output = reserveStdout();
  // A token is one of a store that a server made.
  const otel = values.otel ? await startTelemetry() : undefined;
  const store = await openStore(place, { create: process.env.TRIVET_TOKEN === undefined, mayBeDown: true });
  try {
    if (skillFolder !== undefined && ensureSkills(skillFolder) && values.skills) {
      printError(
        `trivet stdio: made the folder "${skillFolder}", which did not exist, with two example skills`,
      );
    }
    const blobs = await place.openBlobs();
    const trivet = createTrivet({
      issuer,
      store,
      // Only a token and the gateway need it.
      ...(process.env.TRIVET_TOKEN === undefined && !gateway && { oauth: false }),
      skills: { folders, ...(blobs && { blobs }) },
      mcp: {
        definitions: await module?.load({ store }) ?? [],
        arrange: await readArrange(values),
        skills: isOffered,
      },
      ...(gateway && { gateway: gateway.option }),
      telemetry: otel?.telemetry,
      onEvent: (event) => {
        if (event.type === "fault") printError(`trivet: fault in ${event.where}: ${String(event.error)}`);
      },
    });
    const { origin, pathname } = new URL(issuer);
    const server = `${origin}${pathname.replace(/\/$/, "")}/mcp`;
    const caller = await readCaller(trivet, server, process.env);
    /** Why it ends before its input does. */
    let ended: string | undefined;
    const endInput = (): void => {
      process.stdin.destroy();
      // On Deno no event follows.
      process.stdin.emit("end");
    };
    const unwatch = caller.watch((reason) => {
      ended = reason;
      endInput();
    });
    // So processes of servers behind the gateway are ended too.
    stopping.then(endInput);
    const stopReloading = module && reloadOnChange(trivet, module, { store });
    const stopFollowing = gateway &&
      (await import("./gateway/follow_file.ts")).followGatewayFile(
        gateway,
        trivet.gateway!,
        (message) => printError(`trivet: ${message}`),
      );
    let watched: ReturnType<typeof watchSkills> | undefined;
    // Skills are read after the first answer, for which the client waits.
    const onWritten = () => void (watched ??= watchSkills(trivet));
    isServing = true;
    try {
      await trivet.mcp!.serveStdio(process.stdin, observeWrites(output, onWritten), caller.principal);
    } finally {
      unwatch();
      stopReloading?.();
      stopFollowing?.();
      await trivet.gateway?.close();
      (await watched)?.();
      await trivet.skills!.flush();
    }
    if (ended !== undefined) throw new Error(ended);
  } finally {
    await store.close();
    await otel?.stop();
    // A module may have left something open, and on Deno an input that has not ended keeps the process.
    exitSoon();
  }
}

/** @param onWritten called after each write */
function observeWrites(output: NodeOutput, onWritten: () => void): NodeOutput {
  return {
    on: (event, onError) => output.on(event, onError),
    write: (text, done) =>
      output.write(text, (error) => {
        done(error);
        if (!error) onWritten();
      }),
  };
}
