/**
 * Instances that share a limit through each engine: three servers with a connection of their own.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dropStore } from "../../scripts/cluster/cluster.ts";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { postgresStore } from "../store/drivers/postgres.ts";
import { redisStore } from "../store/drivers/redis.ts";
import { sqliteStore } from "../store/drivers/sqlite.ts";
import type { Store } from "../store/store.ts";
import { findEngine } from "../store/test_engines.ts";
import { createTrivet } from "../trivet.ts";
import { rateLimits } from "./rate_limits.ts";

const test = suite("rate_limits on every engine");
const name = `trivet_test_limits_${Math.random().toString(36).slice(2, 8)}`;
const ISSUER = "https://agents.example";
const INSTANCES = 3;
const LIMIT = 100;
const PORTION = 5;

/** How many of 600 concurrent requests of one address three instances allow, 24 at a time. */
async function countAllowed(open: () => Store): Promise<number> {
  const stores = Array.from({ length: INSTANCES }, open);
  const servers = stores.map((store) =>
    createTrivet({ issuer: ISSUER, store, rateLimits: rateLimits({ address: `${LIMIT}/1h` }) })
  );
  let allowed = 0;
  let left = 600;
  const work = async (at: number): Promise<void> => {
    while (left-- > 0) {
      const response = await servers[at % INSTANCES]!.fetch(new Request(ISSUER + "/nothing"), {
        ip: "192.0.2.1",
      });
      if (response.status === 404) allowed++;
      else assert.is(response.status, 429);
    }
  };
  try {
    await Promise.all(Array.from({ length: 24 }, (_, at) => work(at)));
  } finally {
    for (const store of stores) await store.close();
  }
  return allowed;
}

function check(allowed: number): void {
  assert.ok(allowed >= LIMIT, `${allowed} allowed`);
  assert.ok(allowed <= LIMIT + INSTANCES * PORTION, `${allowed} allowed`);
}

test("SQLite: three instances share a limit", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trivet-limits-"));
  try {
    check(await countAllowed(() => sqliteStore(join(folder, "trivet.db"))));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

for (
  const [engine, query, open] of [["postgres", `?schema=${name}`, postgresStore], [
    "redis",
    `?name=${name}`,
    redisStore,
  ]] as const
) {
  const address = await findEngine(engine);
  if (address === undefined) {
    skipBecause(test, `no ${engine} listens: limits are not tested on it`);
    continue;
  }
  test(`${engine}: three instances share a limit`, async () => {
    try {
      check(await countAllowed(() => open(address + query)));
    } finally {
      await dropStore(address + query);
    }
  });
}

test.run();
