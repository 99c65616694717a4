/**
 * Both generations of the official client walk through everything that the server has, over every transport and in both
 * eras.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { FEATURE_STEPS } from "./test_feature_steps.ts";
import { connectFeatures, type FeatureClient, type Loose, type TourOptions } from "./test_feature_client.ts";
import { withTimeout } from "./test_notification_log.ts";
import { serveFeatures, STDIO } from "./test_feature_serve.ts";

const MODERN = { pin: "2026-07-28" };

const CLIENTS: readonly (readonly [name: string, revision: string, options: TourOptions])[] = [
  ["client 1.x over HTTP", "2025-11-25", { generation: 1, transport: "http" }],
  ["client 1.x over stdio", "2025-11-25", { generation: 1, transport: "stdio" }],
  ["client 1.x over HTTP+SSE", "2025-11-25", { generation: 1, transport: "sse" }],
  ["client 2.x over HTTP, modern", "2026-07-28", { generation: 2, transport: "http", mode: MODERN }],
  ["client 2.x over HTTP, legacy", "2025-11-25", { generation: 2, transport: "http", mode: "legacy" }],
  ["client 2.x over HTTP, its choice", "2026-07-28", { generation: 2, transport: "http", mode: "auto" }],
  ["client 2.x over HTTP+SSE", "2025-11-25", { generation: 2, transport: "sse", mode: "legacy" }],
  ["client 2.x over stdio, modern", "2026-07-28", { generation: 2, transport: "stdio", mode: MODERN }],
  ["client 2.x over stdio, legacy", "2025-11-25", { generation: 2, transport: "stdio", mode: "legacy" }],
  ["client 2.x over stdio, its choice", "2026-07-28", { generation: 2, transport: "stdio", mode: "auto" }],
];

/** Over HTTP on every entry of this runtime, and on two instances that take requests in turn. */
const TOURS = CLIENTS.flatMap(([name, revision, options]) => {
  if (options.transport === "stdio") return [{ name, revision, options, entry: undefined, count: 1 }];
  const [first, ...others] = Object.keys(entries);
  return [
    { name: `${name}, ${first}`, revision, options, entry: first, count: 1 },
    { name: `${name}, two instances`, revision, options, entry: first, count: 2 },
    ...others.map((entry) => ({ name: `${name}, ${entry}`, revision, options, entry, count: 1 })),
  ];
});

for (const { name, revision, options, entry, count } of TOURS) {
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

  test(`${name}: speaks ${revision}`, () => {
    assert.is(client.revision, revision);
  });

  for (const step of FEATURE_STEPS) {
    test(`${name}: ${step.name}`, () => withTimeout(step.run(client), step.name));
  }

  test.run();
}

const test = suite("clients that keep lists by themselves");

for (const [name, , options] of CLIENTS) {
  test(`${name}: reads lists again when they change`, async () => {
    const server = options.transport === "stdio" ? undefined : await serveFeatures(Object.keys(entries)[0]!);
    const client = await withTimeout(
      connectFeatures({ ...options, keepsLists: true }, server ?? STDIO),
      "the connection",
    );
    await client.call("grow");
    for (const list of ["tools", "resources", "prompts"]) {
      const { error, entries } = await client.notifications.next("kept", (kept) => kept.list === list);
      assert.is(error, null);
      // Client 1.x reads the first page alone.
      const isWhole = client.generation === 2;
      assert.is(entries.some((each: Loose) => each.name === "late"), isWhole, list);
    }
    await client.close();
    await server?.close();
  });
}

test.run();
