import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { client, modernHeaders, modernParams, session } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/listen_memory");
const MB = 1024 * 1024;
const PADDING = 2 * MB;
const STREAMS = 20;

/** Garbage collection on demand, which only Node offers. */
function collector(): (() => void) | undefined {
  if ("Deno" in globalThis || "Bun" in globalThis) return undefined;
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

const gc = collector();
const method = "subscriptions/listen";

for (
  const [what, open] of [
    ["a stream of 2026-07-28", (server: ReturnType<typeof newServer>["server"]) => {
      const params = modernParams({ notifications: { toolsListChanged: true } }, {}, {
        pad: "x".repeat(PADDING),
      });
      return client(server).fetch({ jsonrpc: "2.0", id: 1, method, params }, modernHeaders(method));
    }],
    ["a stream of a session", async (server: ReturnType<typeof newServer>["server"]) => {
      const own = await session(server, { capabilities: { pad: "x".repeat(PADDING) } });
      return await own.other("GET");
    }],
  ] as const
) {
  test(`${what} does not retain the large request that opened it`, async () => {
    const { server } = newServer({ bodyLimit: 4 * MB });
    const used = async (): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      gc?.();
      return process.memoryUsage().heapUsed;
    };
    const first = await open(server);
    const before = await used();
    const streams: Response[] = [];
    for (let i = 0; i < STREAMS; i++) streams.push(await open(server));
    const each = (await used() - before) / STREAMS;
    if (gc) assert.ok(each < 100_000, `${Math.round(each)} bytes for each stream`);
    for (const { status, body } of [first, ...streams]) {
      assert.is(status, 200);
      await body!.cancel();
    }
  });
}

test.run();
