/**
 * Both generations of the official client walk through everything that the server has, over every transport and in both
 * eras.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RunningServer } from "./server.ts";
import { entries } from "./test_entries.ts";
import { TOUR } from "./test_mcp_tour.ts";
import { connectTour, type TourClient, type TourOptions } from "./test_mcp_tour_client.ts";
import { soon } from "./test_mcp_tour_heard.ts";
import { serveTour, STDIO } from "./test_mcp_tour_serve.ts";

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

/** Over HTTP on every entry of this runtime. */
const TOURS = CLIENTS.flatMap(([name, revision, options]) =>
  (options.transport === "stdio" ? [undefined] : Object.keys(entries)).map((entry) => ({
    name: entry === undefined ? name : `${name}, ${entry}`,
    revision,
    options,
    entry,
  }))
);

for (const { name, revision, options, entry } of TOURS) {
  const test = suite(name);
  let server: RunningServer | undefined;
  let client: TourClient;

  test.before(async () => {
    server = entry === undefined ? undefined : await serveTour(entry);
    client = await soon(connectTour(options, server ?? STDIO), "the connection");
  });
  test.after(async () => {
    await client.close();
    await server?.close();
  });

  test(`${name}: speaks ${revision}`, () => {
    assert.is(client.revision, revision);
  });

  for (const stop of TOUR) test(`${name}: ${stop.name}`, () => soon(stop.run(client), stop.name));

  test.run();
}
