/**
 * `npm run bench`: prints benchmarks as tables, and writes them as JSON to `bench.json` or to `--json FILE`.
 *
 *   npm run bench -- [--only TEXT] [--rounds N] [--slice MS] [--scale N] [--json FILE]
 *   npm run bench -- --stores [--scale 1000000]
 *   npm run bench -- --costs
 *   npm run bench -- --observers
 *   npm run bench -- --telemetry
 *   npm run bench -- --peers [--scale 1000000]
 *   npm run bench -- --mcp [--quick] [--only http]
 *   npm run bench -- --gateway
 *   npm run bench -- --skills [--scale 100000] [--only "SQLite, 64 files"]
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import { printCosts } from "./costs.ts";
import { measureGateway } from "./gateway.ts";
import { measure, printResults, type Subject } from "./harness.ts";
import { createInProcessSubjects } from "./in_process.ts";
import { startHttpSubjects } from "./over_http.ts";
import { measureMcpPeers } from "./mcp_peers.ts";
import { measureObservers } from "./observers.ts";
import { measurePeers } from "./peers.ts";
import { measureSkills } from "./skills.ts";
import { measureStores } from "./stores.ts";
import { measureTelemetry } from "./telemetry.ts";
import { measureStoresOverHttp } from "./stores_over_http.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string" },
    slice: { type: "string" },
    scale: { type: "string", default: "100000" },
    json: { type: "string", default: "bench.json" },
    stores: { type: "boolean" },
    costs: { type: "boolean" },
    observers: { type: "boolean" },
    telemetry: { type: "boolean" },
    peers: { type: "boolean" },
    mcp: { type: "boolean" },
    gateway: { type: "boolean" },
    skills: { type: "boolean" },
    quick: { type: "boolean", default: false },
  },
});
// The peers are other processes and need longer slices.
const rounds = Number(values.rounds ?? (values.peers ? 10 : 15));
const slice = Number(
  values.slice ?? (values.peers || values.observers ? 500 : 150),
);

/** Selects the subjects of `--only`, and those that they are compared with. */
function select(subjects: readonly Subject[]): Subject[] {
  const { only } = values;
  if (only === undefined) return [...subjects];
  const selected = subjects.filter(({ name }) => name.includes(only));
  return subjects.filter((subject) =>
    selected.includes(subject) ||
    selected.some(({ baseline }) => baseline === subject.name)
  );
}

if (values.mcp) {
  console.log(
    `${process.version} on ${availableParallelism()} cores; servers run in turn`,
  );
  const mcp = await measureMcpPeers(values.quick, values.only);
  const report = { node: process.version, cores: availableParallelism(), mcp };
  writeFileSync(values.json, JSON.stringify(report, null, 2) + "\n");
  process.exit(0);
}
console.log(
  `${process.version} on ${availableParallelism()} cores; ${rounds} rounds of ${slice} ms per subject, interleaved`,
);
if (values.costs) {
  await printCosts();
  process.exit(0);
}
if (values.observers) {
  const observers = await measureObservers(rounds, slice);
  const report = {
    node: process.version,
    cores: availableParallelism(),
    rounds,
    slice,
    observers,
  };
  writeFileSync(values.json, JSON.stringify(report, null, 2) + "\n");
  process.exit(0);
}
if (values.telemetry) {
  const telemetry = await measureTelemetry(rounds, slice);
  const report = {
    node: process.version,
    cores: availableParallelism(),
    rounds,
    slice,
    telemetry,
  };
  writeFileSync(values.json, JSON.stringify(report, null, 2) + "\n");
  process.exit(0);
}
if (values.gateway) {
  const gateway = await measureGateway(rounds, slice);
  const report = { node: process.version, cores: availableParallelism(), rounds, slice, gateway };
  writeFileSync(values.json, JSON.stringify(report, null, 2) + "\n");
  process.exit(0);
}
if (values.skills) {
  const skills = await measureSkills(
    rounds,
    slice,
    Number(values.scale),
    values.only,
  );
  const report = {
    node: process.version,
    cores: availableParallelism(),
    rounds,
    slice,
    skills,
  };
  writeFileSync(values.json, JSON.stringify(report, null, 2) + "\n");
  process.exit(0);
}
if (values.peers) {
  const peers = await measurePeers(rounds, slice, Number(values.scale));
  const report = {
    node: process.version,
    cores: availableParallelism(),
    rounds,
    slice,
    peers,
  };
  writeFileSync(values.json, JSON.stringify(report, null, 2) + "\n");
  process.exit(0);
}
if (values.stores) {
  const largest = Number(values.scale);
  const sizes = [1000, 100_000, 1_000_000].filter((size) => size <= largest);
  const stores = await measureStores(sizes, rounds, slice);
  const overHttp = await measureStoresOverHttp(rounds, slice);
  const report = {
    node: process.version,
    cores: availableParallelism(),
    rounds,
    slice,
    stores,
    overHttp,
  };
  writeFileSync(values.json, JSON.stringify(report, null, 2) + "\n");
  process.exit(0);
}
const inProcess = await measure(
  select(createInProcessSubjects(Number(values.scale))),
  rounds,
  slice,
);
printResults("In process", inProcess);

const http = await startHttpSubjects();
try {
  const overHttp = await measure(select(http.subjects), rounds, slice);
  printResults("Over HTTP on Node, 16 connections", overHttp);
  if (values.json !== undefined) {
    const report = {
      node: process.version,
      cores: availableParallelism(),
      rounds,
      slice,
      inProcess,
      overHttp,
    };
    writeFileSync(values.json, JSON.stringify(report, null, 2) + "\n");
  }
} finally {
  await http.stop();
}
