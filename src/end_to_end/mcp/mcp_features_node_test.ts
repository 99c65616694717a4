/**
 * Both generations of the official client use every feature of the server, over every transport and in both eras.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { FEATURE_STEPS } from "./test_feature_steps.ts";
import {
  connectFeatures,
  type FeatureClient,
  type FeatureClientOptions,
  type Loose,
} from "./test_feature_client.ts";
import { withTimeout } from "./test_notification_log.ts";
import { serveFeatures, STDIO } from "./test_feature_serve.ts";

const MODERN = { pin: "2026-07-28" };

const CLIENTS: readonly (readonly [name: string, revision: string, options: FeatureClientOptions])[] = [
  ["client 1.x over HTTP", "2025-11-25", { generation: 1, transport: "http" }],
  ["client 1.x over stdio", "2025-11-25", { generation: 1, transport: "stdio" }],
  ["client 1.x over HTTP+SSE", "2025-11-25", { generation: 1, transport: "sse" }],
  ["client 2.x over HTTP, modern", "2026-07-28", { generation: 2, transport: "http", mode: MODERN }],
  ["client 2.x over HTTP, legacy", "2025-11-25", { generation: 2, transport: "http", mode: "legacy" }],
  ["client 2.x over HTTP, automatic", "2026-07-28", { generation: 2, transport: "http", mode: "auto" }],
  ["client 2.x over HTTP+SSE", "2025-11-25", { generation: 2, transport: "sse", mode: "legacy" }],
  ["client 2.x over stdio, modern", "2026-07-28", { generation: 2, transport: "stdio", mode: MODERN }],
  ["client 2.x over stdio, legacy", "2025-11-25", { generation: 2, transport: "stdio", mode: "legacy" }],
  ["client 2.x over stdio, automatic", "2026-07-28", { generation: 2, transport: "stdio", mode: "auto" }],
];

/** Over HTTP: every entry of this runtime, and two instances that take requests in turn. */
const CASES = CLIENTS.flatMap(([name, revision, options]) => {
  if (options.transport === "stdio") return [{ name, revision, options, entry: undefined, count: 1 }];
  const [first, ...others] = Object.keys(entries);
  return [
    { name: `${name}, ${first}`, revision, options, entry: first, count: 1 },
    { name: `${name}, two instances`, revision, options, entry: first, count: 2 },
    ...others.map((entry) => ({ name: `${name}, ${entry}`, revision, options, entry, count: 1 })),
  ];
});

for (const { name, revision, options, entry, count } of CASES) {
  const test = suite(name);
  let server: RunningServer | undefined;
  let client: FeatureClient;

  test.before(async () => {
    server = entry === undefined ? undefined : await serveFeatures(entry, count);
    client = await withTimeout(
      connectFeatures({ ...options, instances: count }, server ?? STDIO),
      "the connection",
    );
  });
  test.after(async () => {
    await client.close();
    await server?.close();
  });

  test(`${name}: negotiates ${revision}`, () => {
    assert.is(client.revision, revision);
  });

  for (const step of FEATURE_STEPS) {
    test(`${name}: ${step.name}`, () => withTimeout(step.run(client), step.name));
  }

  test.run();
}

const test = suite("clients that refresh lists automatically");

for (const [name, , options] of CLIENTS) {
  test(`${name}: reads each list again after it changed`, async () => {
    const server = options.transport === "stdio" ? undefined : await serveFeatures(Object.keys(entries)[0]!);
    const client = await withTimeout(
      connectFeatures({ ...options, refreshesLists: true }, server ?? STDIO),
      "the connection",
    );
    await client.call("grow");
    for (const list of ["tools", "resources", "prompts"]) {
      const { error, entries } = await client.notifications.next("refreshed", (each) => each.list === list);
      assert.is(error, null);
      // Client 1.x reads only the first page.
      const isComplete = client.generation === 2;
      assert.is(entries.some((each: Loose) => each.name === "late"), isComplete, list);
    }
    await client.close();
    await server?.close();
  });
}

test.run();
