/**
 * The time from the start of a server to its first response, and until it has listed its tools: some servers convert their
 * schemas before the first, others after it. `trivet stdio` is the command of the package, with a file of
 * tools that imports "trivet"; the other servers are the same as in calls. Of Trivet, the tool server alone is measured too,
 * since the peers are no more.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { shuffle } from "../../measuring/rounds.ts";
import { type Build, buildTrivet } from "./build_trivet.ts";
import { ServerProcess } from "../server_process.ts";
import { StdioClient } from "./client.ts";
import { type Subject, TRIVET } from "../subject.ts";
import { median } from "../table.ts";
import { toParams } from "../wire.ts";

/** The row of the published command. */
export const PUBLISHED = "trivet stdio";
/** Starts of one server. */
export interface Start {
  readonly operation: "start";
  readonly subject: string;
  /** The median from the start of the process to the first response, and the least. */
  readonly milliseconds?: number;
  readonly least?: number;
  /** The median from the start of the process to the response to `tools/list`. */
  readonly listed?: number;
  /** Microseconds of processor time, until then. */
  readonly cpu?: number;
  readonly unsupported?: string;
}

/** A server that knows nothing: what Node itself needs. */
const BARE = `let id = 0;
process.stdin.on("data", () => process.stdout.write(\`{"jsonrpc":"2.0","id":\${++id},"result":{}}\\n\`));`;

/** @param starts the number of starts of each server, of which the median is returned */
export async function measureStarts(
  others: readonly Subject[],
  tools: number,
  starts: number,
): Promise<Start[]> {
  const build = buildTrivet();
  if ("failure" in build) {
    console.log(
      `\n  Cannot build Trivet, so it starts from sources: ${build.failure}`,
    );
    return await startInTurn(others, tools, starts);
  }
  try {
    const subjects = [
      ...installCommand(build, tools),
      ...others.flatMap((subject) =>
        subject === TRIVET
          ? [
            { ...TRIVET, name: "Trivet, trivet/mcp alone", file: "trivet_alone.ts", option: build.url },
            { ...TRIVET, option: build.url },
            { ...TRIVET, name: "Trivet, from sources" },
          ]
          : [subject]
      ),
    ];
    return await startInTurn(subjects, tools, starts);
  } finally {
    build.remove();
  }
}

/** In a random order, one process after the other: the end of one takes time, which would be charged to the next. */
async function startInTurn(
  subjects: readonly Subject[],
  tools: number,
  starts: number,
): Promise<Start[]> {
  const all = subjects.map((subject) => ({ subject, times: new Array<Times>() }));
  // The first start is not counted, because files are read from disk.
  for (let round = -1; round < starts; round++) {
    for (const { subject, times } of shuffle([...all])) {
      const measured = await startOnce(subject, tools);
      if (round >= 0 && measured) times.push(measured);
    }
  }
  return all.map(({ subject: { name }, times }) => ({
    operation: "start",
    subject: name,
    ...(times.length > 0
      ? {
        milliseconds: median(times.map((each) => each.first)),
        least: Math.min(...times.map((each) => each.first)),
        listed: median(times.map((each) => each.listed)),
        cpu: median(times.map((each) => each.cpu)),
      }
      : { unsupported: "no response" }),
  }));
}

interface Times {
  readonly first: number;
  readonly listed: number;
  readonly cpu: number;
}

/** `undefined` for a server that does not respond: the calls report why. */
async function startOnce(subject: Subject, tools: number): Promise<Times | undefined> {
  const started = performance.now();
  const client = new StdioClient(new ServerProcess(subject, "stdio", tools));
  const exited = once(client.server.process, "exit");
  try {
    await client.request("initialize", toParams("initialize", tools));
    const first = performance.now() - started;
    await client.request("tools/list", toParams("tools/list", tools));
    const listed = performance.now() - started;
    return { first, listed, cpu: await client.server.processorTime() };
  } catch {
    return undefined;
  } finally {
    client.server.stop();
    await exited;
  }
}

/** Installs the built package beside a file of tools. Returns the servers that start from there. */
function installCommand({ dist, folder }: Build, tools: number): Subject[] {
  const place = join(folder, "tools");
  mkdirSync(join(place, "node_modules"), { recursive: true });
  symlinkSync(dist, join(place, "node_modules/trivet"), "junction");
  const bare = join(place, "bare.mjs");
  writeFileSync(bare, BARE);
  const file = join(place, "tools.mjs");
  writeFileSync(
    file,
    `import { tool } from "trivet";
import { add, createZodTools } from ${JSON.stringify(new URL("../tools.ts", import.meta.url).href)};
const tools = await createZodTools(${tools});
export default tools.map(({ name, description, zod }) => tool({ name, description, input: zod, run: add }));
`,
  );
  const command = [
    join(dist, "runtime/cli.js"),
    "stdio",
    file,
    "--data",
    join(place, "data"),
  ];
  const environment = { XDG_CACHE_HOME: join(place, "cache") };
  // Later starts use what this one compiled: servers are killed before they would keep it.
  const request = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: toParams("initialize", tools),
  };
  spawnSync(process.execPath, command, {
    input: JSON.stringify(request) + "\n",
    env: { ...process.env, ...environment },
  });
  return [
    { name: "bare Node", file: bare, command: [bare] },
    { name: PUBLISHED, file, command, environment },
  ];
}
