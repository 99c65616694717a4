/**
 * Adds the comparison of tool servers to the page: one table for each operation, with the ratio of the floor's processor
 * time to that of each server.
 *
 * @module
 */
import { explain } from "./explanations.ts";
import type { Result } from "../harness.ts";
import type { Row } from "./page.ts";
import { addTable } from "./report.ts";
import type { CallResult } from "../mcp_peers/in_process.ts";
import type { HttpResult } from "../mcp_peers/over_http.ts";
import type { StdioResult } from "../mcp_peers/over_stdio.ts";
import { FLOOR } from "../mcp_peers/subject.ts";

const RATIO = "processor time: that of the floor, divided by that of the server";

/** Adds the tables of each part. */
export function addMcpTables(
  inProcess: readonly CallResult[],
  overHttp: readonly HttpResult[],
  overStdio: readonly StdioResult[],
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
  const calls = overStdio.filter(({ milliseconds }) => milliseconds === undefined);
  for (const rows of group(calls, ({ operation }) => operation)) {
    addTable(
      `Over stdio: ${rows[0]!.operation}`,
      rows.map(toNetworkRow),
      RATIO,
    );
  }
}

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
