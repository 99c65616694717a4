/**
 * Trivet as a target in this process on Redis, under new key prefixes. The server is at `TRIVET_TEST_REDIS`, by default
 * on this machine.
 *
 * @module
 */
import { createClient } from "redis";
import { redisStore } from "../../src/store/drivers/redis.ts";
import { startOnEngine } from "./trivet_engine.ts";
import type { TrivetTarget } from "./trivet_target.ts";

export function start(): Promise<TrivetTarget> {
  return startOnEngine("redis", {
    open: (address, name, now) => redisStore(`${address}?name=${name}`, { now }),
    async remove(address, name) {
      const client = await createClient({ url: address }).connect();
      const keys = await client.keys(`{${name}}*`);
      if (keys.length > 0) await client.unlink(keys);
      await client.close();
    },
  });
}
