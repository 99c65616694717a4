/**
 * Compares `trivet serve --mcp-servers` with other gateways of npm: each is a process of its own in front of the same server
 * over stdio, configured as its documentation says, and called by the same client over HTTP. The processor time is that of
 * the gateway alone. The other gateways are packages of `scripts/bench/package.json`: `npm ci --prefix scripts/bench`.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../conformance/runner/target/free_port.ts";
import type { McpClient } from "../../../src/mcp_client/client.ts";
import { createMcpClient } from "../../../src/mcp_client/create_client.ts";
import { httpTransport } from "../../../src/mcp_client/transports/http_transport.ts";
import { measure, printResults, type Result, type Subject } from "../harness.ts";
import { readProcessorTime } from "../measuring/process_time.ts";
import { buildTrivet } from "../mcp_peers/stdio/build_trivet.ts";
import { toToolName } from "../mcp_peers/tools.ts";
import { toCall, warmUp } from "./calls.ts";

/** A gateway: the arguments of Node that start it in front of a server. */
interface Gateway {
  readonly name: string;
  readonly path?: string;
  readonly start: (files: Files, port: number) => readonly string[];
}

/** What the gateways read. */
interface Files {
  readonly folder: string;
  /** A file with the key `mcpServers`. */
  readonly config: string;
  /** The arguments of Node that start the server. */
  readonly server: readonly string[];
  /** The folder of the built Trivet. */
  readonly dist: string;
}

const BASELINE = "trivet serve";
const CHILD = fileURLToPath(new URL("../mcp_peers/child.ts", import.meta.url));
const START_MS = 30_000;

const GATEWAYS: readonly Gateway[] = [
  {
    name: BASELINE,
    start: ({ dist, config, folder }, port) => [
      join(dist, "runtime/cli.js"),
      "serve",
      "--mcp-servers",
      config,
      "--port",
      String(port),
      "--data",
      join(folder, "data"),
    ],
  },
  {
    name: "mcp-hub",
    start: ({ config }, port) => [
      findFile("mcp-hub", "dist/cli.js"),
      "--port",
      String(port),
      "--config",
      config,
    ],
  },
  {
    name: "mcp-proxy",
    start: ({ server }, port) => [
      findFile("mcp-proxy", "dist/bin/mcp-proxy.mjs"),
      "--port",
      String(port),
      "--",
      process.execPath,
      ...server,
    ],
  },
  {
    name: "supergateway",
    start: ({ server }, port) => [
      findFile("supergateway", "dist/index.js"),
      "--stdio",
      [process.execPath, ...server].map((part) => JSON.stringify(part)).join(
        " ",
      ),
      "--outputTransport",
      "streamableHttp",
      "--stateful",
      "--logLevel",
      "none",
      "--port",
      String(port),
    ],
  },
];

/** The path of a file of an installed package, which need not be exported. */
function findFile(name: string, file: string): string {
  return join(
    dirname(fileURLToPath(new URL("../package.json", import.meta.url))),
    "node_modules",
    name,
    file,
  );
}

/** Prints the results. */
export async function measureGatewayPeers(
  rounds: number,
  slice: number,
): Promise<Result[]> {
  const build = buildTrivet();
  if ("failure" in build) {
    throw new Error(`Trivet cannot be built: ${build.failure}`);
  }
  const folder = mkdtempSync(join(tmpdir(), "trivet-gateways-"));
  const started: ChildProcess[] = [];
  try {
    const server = [
      "--disable-warning=ExperimentalWarning",
      CHILD,
      "sdk_v1.ts",
      "stdio",
      "10",
    ];
    const config = join(folder, "servers.json");
    writeFileSync(
      config,
      JSON.stringify({
        mcpServers: { up: { command: process.execPath, args: server } },
      }),
    );
    const files: Files = { folder, config, server, dist: build.dist };
    const subjects: Subject[] = [];
    for (const gateway of GATEWAYS) {
      const port = await freePort();
      const child = spawn(process.execPath, gateway.start(files, port), {
        stdio: ["ignore", "ignore", process.env.DEBUG ? "inherit" : "ignore"],
        env: { ...process.env, NODE_ENV: "production", HOME: folder },
      });
      started.push(child);
      const { client, tool } = await connect(
        `http://127.0.0.1:${port}/mcp`,
        gateway.name,
      );
      subjects.push({
        name: `gateway, ${gateway.name}`,
        ...(gateway.name !== BASELINE && { baseline: `gateway, ${BASELINE}` }),
        concurrency: 4,
        processorTime: async () => readProcessorTime(child.pid!),
        prepare: () => warmUp(toCall(client, tool)),
      });
    }
    const results = await measure(subjects, rounds, slice);
    printResults(
      "tools/call through gateways, in front of one server over stdio",
      results,
    );
    for (const { name, processor } of results) {
      if (processor === undefined) continue;
      const costs = (1 / processor.ratio).toFixed(2);
      console.log(
        `${processor.ratio < 1 ? "ok" : "FAIL"}  ${name}: ${costs} times the processor time of ${BASELINE}`,
      );
    }
    return results;
  } finally {
    for (const child of started) child.kill("SIGTERM");
    build.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Connects when the gateway lists the tool. */
async function connect(
  url: string,
  name: string,
): Promise<{ client: McpClient; tool: string }> {
  const end = performance.now() + START_MS;
  for (;;) {
    const client = createMcpClient({
      transport: httpTransport({ url }),
      name: "bench",
      version: "1",
    });
    try {
      const { tools } = await client.request("tools/list", {}) as {
        tools: readonly { name: string }[];
      };
      const tool = tools.find((each) => each.name.endsWith(toToolName(0)));
      if (tool !== undefined) return { client, tool: tool.name };
    } catch (error) {
      if (performance.now() > end) {
        throw new Error(`${name} does not answer at ${url}`, { cause: error });
      }
    }
    if (performance.now() > end) {
      throw new Error(`${name} does not list the tool`);
    }
    await client.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
