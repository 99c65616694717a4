/**
 * The official conformance suite (https://github.com/modelcontextprotocol/conformance) against a server with every feature,
 * directly and behind a gateway: what passes directly passes behind it, whatever revision the gateway and the server use.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runChecks, type ScenarioCheck, toLine } from "../serving/test_conformance.ts";
import { runtimeCommand, startTrivet, temporaryFolder } from "../test_process.ts";

const test = suite("MCP conformance behind a gateway");
const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const EVERYTHING = fileURLToPath(new URL("../../../scripts/serve_everything.ts", import.meta.url));

/** Checks that succeed directly and not behind a gateway. */
const EXCEPTIONS: readonly {
  readonly checks: RegExp;
  readonly revision?: string;
  readonly reason: string;
}[] = [
  {
    checks: /^server-sse-polling: /,
    revision: MODERN,
    reason: "in 2026-07-28 the server does not end the stream of a call so that the client polls",
  },
];

/** The arguments of the suite, by the revision of its client. */
const CLIENTS = {
  "2026-07-28": ["--requirements", "2026-07-28"],
  "2025-11-25": ["--requirements", "2025-11-25"],
  "2025-06-18": ["--suite", "all", "--spec-version", "2025-06-18"],
  "2025-03-26": ["--suite", "all", "--spec-version", "2025-03-26"],
  all: ["--suite", "all"],
} as const;
type Client = keyof typeof CLIENTS;

const folder = temporaryFolder();
const processes: { readonly child: ChildProcess }[] = [];

/** Starts the server with every feature; resolves to its address. */
async function startServer(): Promise<string> {
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, EVERYTHING, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  processes.push({ child });
  return await new Promise((resolve) => createInterface({ input: child.stdout! }).once("line", resolve));
}

/**
 * A gateway before a server of its own; resolves to its address. It keeps names, and the requests for input are as the server
 * wrote them.
 */
async function startGateway(name: string, options: object): Promise<string> {
  const file = join(folder.path, `${name}.json`);
  const everything = { url: await startServer(), prefix: "", ...options };
  writeFileSync(file, JSON.stringify({ mcpServers: { everything } }));
  const data = join(folder.path, name);
  const running = await startTrivet(["--data", data, "--mcp-servers", file, "--no-skills", "--no-demo"]);
  processes.push(running);
  return running.facts.mcp;
}

test.after(() => {
  for (const { child } of processes) child.kill("SIGKILL");
  folder.remove();
});

type Runs = Readonly<Record<string, readonly ScenarioCheck[]>>;

/**
 * Runs the suite as each of these clients, one after the other: what a scenario changes must not disturb another run. The
 * suite waits most of the time, so the three servers are tested at the same time.
 */
async function runAll(name: string, url: Promise<string>, clients: readonly Client[]): Promise<Runs> {
  const runs: Record<string, readonly ScenarioCheck[]> = {};
  for (const client of clients) {
    const results = join(folder.path, `${name} ${client}`);
    runs[client] = (await runChecks(url, results, ...CLIENTS[client])).checks;
  }
  return runs;
}

const ALL = Object.keys(CLIENTS) as Client[];
const OLD: readonly Client[] = [LEGACY, "2025-06-18", "2025-03-26"];
let direct: Runs;
let behindNewest: Runs;
let behindOld: Runs;

test.before(async () => {
  [direct, behindNewest, behindOld] = await Promise.all([
    runAll("direct", startServer(), ALL),
    runAll("newest", startGateway("gateway", {}), ALL),
    runAll("old", startGateway("old gateway", { revision: LEGACY }), OLD),
  ]);
});

const toKey = ({ scenario, id }: ScenarioCheck): string => `${scenario}: ${id}`;

/**
 * Checks that do not succeed behind a gateway, or are not made, of those that succeed directly.
 * @param revision what gateway and server speak
 */
function findFailures(client: Client, runs: Runs, revision: string): string[] {
  const before = direct[client]!;
  const behind = runs[client]!;
  const bad = ({ status }: ScenarioCheck): boolean => status !== "SUCCESS" && status !== "INFO";
  const failing = new Set(before.filter(bad).map(toKey));
  const made = new Set(behind.map(toKey));
  const missing = before.filter((each) => each.status === "SUCCESS" && !made.has(toKey(each)));
  assert.ok(before.length > failing.size + missing.length);
  const failed = behind.filter((each) => bad(each) && !failing.has(toKey(each)));
  return [...missing, ...failed].filter((each) =>
    !EXCEPTIONS.some(({ checks, revision: only = revision }) => only === revision && checks.test(toKey(each)))
  ).map((each) => `${toLine(each)} (${missing.includes(each) ? "not made" : "failed"})`);
}

for (const client of ALL) {
  test(`what passes for clients of ${client} directly passes behind a gateway`, () => {
    assert.equal(findFailures(client, behindNewest, MODERN), []);
  });
}

for (const client of OLD) {
  test(`what passes for clients of ${client} directly passes behind a gateway to a server of ${LEGACY}`, () => {
    assert.equal(findFailures(client, behindOld, LEGACY), []);
  });
}

test.run();
