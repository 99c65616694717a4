/**
 * Measures what a `tools/call` through the gateway costs, compared with the same call of the same client directly at the
 * upstream: in this process, and over HTTP with a process for each server. The goal: the gateway adds at most 1.5 times the
 * processor time of the direct call, however many upstreams and tools there are.
 *
 * @module
 */
import { fork } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createUpstreams } from "../../../src/gateway/upstream/upstreams.ts";
import type { McpClient } from "../../../src/mcp_client/client.ts";
import { createMcpClient } from "../../../src/mcp_client/create_client.ts";
import { httpTransport } from "../../../src/mcp_client/transports/http_transport.ts";
import { createTrivet, memoryStore, type Trivet } from "../../../src/mod.ts";
import { measure, printResults, type Result, type Subject } from "../harness.ts";
import { add } from "../in_process.ts";
import { toCall, warmUp } from "./calls.ts";

export const ORIGIN = "http://127.0.0.1:8787";
/** Of the processor time of a direct call. */
const MAX_OVERHEAD = 1.5;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** An upstream with so many tools. */
export function createUpstream(tools: number, issuer: string): Trivet {
  const all = Array.from({ length: tools }, (_, i) => add(`add_${i}`));
  return createTrivet({ issuer, store: memoryStore(), mcp: { tools: all } });
}

/** A gateway before so many upstreams at the URL. */
export async function createGateway(
  upstreams: number,
  url: string,
  issuer: string,
  fetch?: Fetch,
): Promise<Trivet> {
  const all = createUpstreams({
    mcpServers: Object.fromEntries(
      Array.from(
        { length: upstreams },
        (_, i) => [`up${i}`, { type: "http", url }],
      ),
    ),
    startTimeout: 60_000,
    ...(fetch && { fetch }),
  });
  await all.ready();
  return createTrivet({
    issuer,
    store: memoryStore(),
    mcp: {
      sources: [{
        current: () => all.list(undefined),
        watch: (onChange) => void all.watch(onChange),
        ready: () => all.ready(),
      }],
    },
  });
}

function newClient(url: string, fetch?: Fetch): McpClient {
  return createMcpClient({
    transport: httpTransport({ url, fetch }),
    name: "bench",
    version: "1",
  });
}

const fetchOf = (trivet: Trivet): Fetch => (url, init) => trivet.fetch(new Request(url, init));

/** @param tools of each upstream */
const inProcess = (upstreams: number, tools: number): Subject => ({
  name: `in process, ${upstreams} upstreams, ${upstreams * tools} tools`,
  baseline: DIRECT,
  processorTime,
  prepare: async () => {
    const upstream = fetchOf(createUpstream(tools, ORIGIN));
    const gateway = await createGateway(
      upstreams,
      `${ORIGIN}/mcp`,
      ORIGIN,
      upstream,
    );
    const client = newClient(`${ORIGIN}/mcp`, fetchOf(gateway));
    return await warmUp(toCall(client, `up${upstreams - 1}_add_${tools - 1}`));
  },
});

const DIRECT = "in process, direct";
const OVER_HTTP = "over HTTP, direct";

async function processorTime(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return user + system;
}

interface Child {
  readonly url: string;
  /** Microseconds of processor time so far. */
  processorTime(): Promise<number>;
  stop(): void;
}

async function startChild(...args: string[]): Promise<Child> {
  const child = fork(
    fileURLToPath(new URL("server_process.ts", import.meta.url)),
    args,
  );
  const next = () => new Promise((resolve) => child.once("message", resolve));
  const url = await next() as string;
  return {
    url,
    async processorTime() {
      const answer = next();
      child.send("cpu");
      return await answer as number;
    },
    stop: () => void child.kill(),
  };
}

/** Prints the results, and the overhead of each row beside its direct call. */
export async function measureOverhead(
  rounds: number,
  slice: number,
): Promise<Result[]> {
  const upstream = await startChild("upstream", "50");
  const gateways = await Promise.all([
    startChild("gateway", "1", upstream.url),
    startChild("gateway", "100", upstream.url),
  ]);
  const timeOf = (...children: readonly Child[]) => async (): Promise<number> => {
    const times = await Promise.all(
      children.map((child) => child.processorTime()),
    );
    return times.reduce((sum, each) => sum + each, await processorTime());
  };
  const subjects: Subject[] = [
    {
      name: DIRECT,
      processorTime,
      prepare: () =>
        warmUp(
          toCall(
            newClient(`${ORIGIN}/mcp`, fetchOf(createUpstream(50, ORIGIN))),
            "add_1",
          ),
        ),
    },
    inProcess(1, 1),
    inProcess(1, 5000),
    inProcess(100, 50),
    {
      name: OVER_HTTP,
      concurrency: 4,
      processorTime: timeOf(upstream),
      prepare: () => warmUp(toCall(newClient(upstream.url), "add_1")),
    },
    ...gateways.map((gateway, i): Subject => ({
      name: `over HTTP, ${i === 0 ? "1 upstream, 50 tools" : "100 upstreams, 5000 tools"}`,
      baseline: OVER_HTTP,
      concurrency: 4,
      processorTime: timeOf(upstream, gateway),
      prepare: () => warmUp(toCall(newClient(gateway.url), "up0_add_1")),
    })),
  ];
  try {
    const results = await measure(subjects, rounds, slice);
    printResults("tools/call through the gateway", results);
    for (const { name, processor } of results) {
      if (processor === undefined) continue;
      const overhead = 1 / processor.ratio - 1;
      const verdict = overhead <= MAX_OVERHEAD ? "ok" : "FAIL";
      console.log(
        `${verdict}  ${name}: the gateway adds ${
          overhead.toFixed(2)
        } times the direct call (at most ${MAX_OVERHEAD})`,
      );
    }
    return results;
  } finally {
    for (const each of [upstream, ...gateways]) each.stop();
  }
}
