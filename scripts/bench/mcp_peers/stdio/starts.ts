/**
 * The time from the start of a server to its first response. `trivet stdio` is the command of the package, with a file of
 * tools that imports "trivet"; the other servers are the same as in calls. Of Trivet, the tool server alone is measured too,
 * since the peers are no more.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
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
  /** Microseconds of processor time. */
  readonly cpu?: number;
  readonly unsupported?: string;
}

/** A server that knows nothing: what Node itself needs. */
const BARE =
  `process.stdin.once("data", () => process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\\n'));`;

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

async function startInTurn(
  subjects: readonly Subject[],
  tools: number,
  starts: number,
): Promise<Start[]> {
  const times = new Map<string, number[]>(
    subjects.map(({ name }) => [name, []]),
  );
  const costs = new Map<string, number[]>(
    subjects.map(({ name }) => [name, []]),
  );
  // The first start is not counted, because files are read from disk.
  for (let round = -1; round < starts; round++) {
    for (const subject of subjects) {
      const started = performance.now();
      const client = new StdioClient(
        new ServerProcess(subject, "stdio", tools),
      );
      try {
        await client.request("initialize", toParams("initialize", tools));
        const duration = performance.now() - started;
        const cost = await client.server.processorTime();
        if (round >= 0) {
          times.get(subject.name)!.push(duration);
          costs.get(subject.name)!.push(cost);
        }
      } catch {
        // The calls report why.
      }
      client.server.stop();
    }
  }
  return [...times].map(([subject, own]) => ({
    operation: "start",
    subject,
    ...(own.length > 0
      ? {
        milliseconds: median(own),
        least: Math.min(...own),
        cpu: median(costs.get(subject)!),
      }
      : { unsupported: "no response" }),
  }));
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
