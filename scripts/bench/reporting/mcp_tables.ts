/**
 * Adds the comparison of tool servers to the page: one table for each operation, with the ratio of the floor's processor
 * time to that of each server, and for starts and memory with the ratio of Trivet's to that of each server.
 *
 * @module
 */
import { explain } from "./explanations.ts";
import type { Result } from "../harness.ts";
import type { Row } from "./page.ts";
import { addTable } from "./report.ts";
import type { CallResult } from "../mcp_peers/in_process.ts";
import type { HttpResult } from "../mcp_peers/over_http.ts";
import type { MemoryResult } from "../mcp_peers/memory.ts";
import type { StdioResult } from "../mcp_peers/over_stdio.ts";
import { PUBLISHED } from "../mcp_peers/stdio/starts.ts";
import { FLOOR, TRIVET } from "../mcp_peers/subject.ts";

const RATIO = "processor time: that of the floor, divided by that of the server";

/** Adds the tables of each part. */
export function addMcpTables(
  inProcess: readonly CallResult[],
  overHttp: readonly HttpResult[],
  overStdio: readonly StdioResult[],
  memory: readonly MemoryResult[],
): void {
  for (
    const rows of group(
      inProcess,
      ({ operation, tools }) => `${operation} ${tools}`,
    )
  ) {
    const { operation, tools } = rows[0]!;
    addTable(
      `In process, ${countTools(tools)}: ${operation}`,
      rows.map(toCallRow),
      RATIO,
    );
  }
  for (
    const rows of group(
      overHttp,
      ({ operation, tools, concurrency }) => `${operation} ${tools} ${concurrency}`,
    )
  ) {
    const { operation, tools, concurrency } = rows[0]!;
    const title = `Over HTTP, ${countTools(tools)}: ${operation}, ${concurrency} at once`;
    addTable(title, rows.map(toNetworkRow), RATIO);
  }
  const isStart = ({ operation }: StdioResult): boolean => operation === "start";
  const calls = overStdio.filter((result) => !isStart(result));
  for (const rows of group(calls, ({ operation }) => operation)) {
    addTable(`Over stdio: ${rows[0]!.operation}`, rows.map(toNetworkRow), RATIO);
  }
  const starts = overStdio.filter(isStart);
  if (starts.length > 0) addTable("Over stdio: start", starts.map(toStartRow), ownRatio("time"));
  for (const rows of group(memory, ({ what }) => what)) {
    addTable(`Memory of each: ${rows[0]!.what}`, rows.map(toMemoryRow), ownRatio("resident memory"));
  }
}

const ownRatio = (what: string): string => `${what}: that of Trivet, divided by that of the server`;

const countTools = (tools: number): string => `${tools.toLocaleString("en")} tool${tools === 1 ? "" : "s"}`;

function group<Item>(
  items: readonly Item[],
  key: (item: Item) => string,
): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    groups.set(key(item), [...groups.get(key(item)) ?? [], item]);
  }
  return [...groups.values()];
}

function toRow(subject: string, unsupported: string | undefined): Row {
  const baseline = subject === FLOOR.name ? undefined : FLOOR.name;
  return {
    name: subject,
    explanation: explain(subject),
    baseline,
    unsupported,
  };
}

function toCallRow(
  { subject, unsupported, perSecond, cpu, ratio, interval, noise }: CallResult,
): Row {
  const row = toRow(subject, unsupported);
  return {
    ...row,
    perSecond,
    cpu,
    noise,
    ...(row.baseline !== undefined && { ratio, interval }),
  };
}

function toStartRow(
  { subject, milliseconds, least, listed, cpu, unsupported }: StdioResult,
  _: number,
  all: readonly StdioResult[],
): Row {
  const own = all.find(({ subject }) => subject === PUBLISHED) ?? all.find(isTrivet);
  return {
    ...toOwnRow(subject, unsupported, own, own?.milliseconds, milliseconds),
    ...(milliseconds !== undefined && {
      cpu,
      others: [
        `${milliseconds.toFixed(0)} ms`,
        `at least ${least!.toFixed(0)} ms`,
        `${listed!.toFixed(0)} ms until the tools are listed`,
      ],
    }),
  };
}

function toMemoryRow(
  { subject, heap, resident, count, unsupported }: MemoryResult,
  _: number,
  all: readonly MemoryResult[],
): Row {
  const own = all.find(isTrivet);
  return {
    ...toOwnRow(subject, unsupported, own, own?.resident, resident),
    ...(heap !== undefined && {
      others: [
        `${(resident! / 1000).toFixed(1)} kB resident`,
        `${(heap / 1000).toFixed(1)} kB heap`,
        `at ${count!.toLocaleString("en")}`,
      ],
    }),
  };
}

const isTrivet = ({ subject }: { readonly subject: string }): boolean => subject === TRIVET.name;

/** A row that is compared with Trivet's. */
function toOwnRow(
  subject: string,
  unsupported: string | undefined,
  own: { readonly subject: string } | undefined,
  ownValue: number | undefined,
  value: number | undefined,
): Row {
  const isCompared = own !== undefined && own.subject !== subject && ownValue !== undefined &&
    value !== undefined;
  return {
    name: subject,
    explanation: explain(subject),
    unsupported,
    ...(isCompared && { ratio: ownValue / value, baseline: own.subject }),
  };
}

interface NetworkResult {
  readonly subject: string;
  readonly result?: Omit<Result, "name">;
  readonly unsupported?: string;
}

function toNetworkRow({ subject, unsupported, result }: NetworkResult): Row {
  return {
    ...toRow(subject, unsupported),
    perSecond: result?.perSecond,
    cpu: result?.cpu,
    ratio: result?.processor?.ratio,
    interval: result?.processor?.interval,
    noise: result?.processor?.noise ?? result?.noise,
  };
}
