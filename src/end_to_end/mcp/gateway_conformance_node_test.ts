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
import { type RunningTrivet, runtimeCommand, startTrivet, temporaryFolder } from "../test_process.ts";

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
let everything: string;
let gateway: RunningTrivet;
let oldGateway: RunningTrivet;

/** A gateway before the server. It keeps names, and the requests for input are as the server wrote them. */
async function startGateway(name: string, options: object): Promise<RunningTrivet> {
  const file = join(folder.path, `${name}.json`);
  writeFileSync(
    file,
    JSON.stringify({ mcpServers: { everything: { url: everything, prefix: "", ...options } } }),
  );
  const data = join(folder.path, name);
  const running = await startTrivet(["--data", data, "--mcp-servers", file, "--no-skills", "--no-demo"]);
  processes.push(running);
  return running;
}

test.before(async () => {
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, EVERYTHING, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  processes.push({ child });
  everything = await new Promise((resolve) =>
    createInterface({ input: child.stdout! }).once("line", resolve)
  );
  [gateway, oldGateway] = await Promise.all([
    startGateway("newest", {}),
    startGateway("old", { revision: LEGACY }),
  ]);
});

test.after(() => {
  for (const { child } of processes) child.kill("SIGKILL");
  folder.remove();
});

let runs = 0;
const run = async (url: string, client: Client): Promise<readonly ScenarioCheck[]> =>
  (await runChecks(url, join(folder.path, `run-${++runs}`), ...CLIENTS[client])).checks;

/** The runs without a gateway. */
const direct = new Map<Client, Promise<readonly ScenarioCheck[]>>();
const runDirectly = (client: Client): Promise<readonly ScenarioCheck[]> =>
  direct.get(client) ?? direct.set(client, run(everything, client)).get(client)!;

const toKey = ({ scenario, id }: ScenarioCheck): string => `${scenario}: ${id}`;

/**
 * Checks that do not succeed behind a gateway, or are not made, of those that succeed directly.
 * @param revision what gateway and server speak
 */
async function findFailures(client: Client, { facts }: RunningTrivet, revision: string): Promise<string[]> {
  // One after the other: what a scenario changes must not disturb another run.
  const before = await runDirectly(client);
  const behind = await run(facts.mcp, client);
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

for (const client of Object.keys(CLIENTS) as Client[]) {
  test(`what passes for clients of ${client} directly passes behind a gateway`, async () => {
    assert.equal(await findFailures(client, gateway, MODERN), []);
  });
}

for (const client of [LEGACY, "2025-06-18", "2025-03-26"] as const) {
  test(`what passes for clients of ${client} directly passes behind a gateway to a server of ${LEGACY}`, async () => {
    assert.equal(await findFailures(client, oldGateway, LEGACY), []);
  });
}

test.run();
