/**
 * Instances of `trivet serve` on one store, behind a balancer: a whole server in many processes.
 *
 * @module
 */
import postgres from "postgres";
import { createClient } from "redis";
import { type RunningTrivet, startTrivet, temporaryFolder } from "../../src/end_to_end/test_process.ts";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { redisStore } from "../../src/store/drivers/redis.ts";
import type { Store } from "../../src/store/store.ts";
import { Balancer } from "./balancer.ts";

export interface Cluster {
  readonly url: string;
  readonly instances: readonly RunningTrivet[];
  stop(): Promise<void>;
}

/** Starts `count` instances at the same time, on a store that may be empty. */
export async function startCluster(address: string, count: number, port: number = 0): Promise<Cluster> {
  const balancer = new Balancer();
  await balancer.start(port);
  const folder = temporaryFolder();
  const args = [
    "--store",
    address,
    "--no-demo",
    "--issuer",
    balancer.url,
    "--data",
    folder.path,
    "--cache",
    "200",
  ];
  const instances = await Promise.all(Array.from({ length: count }, () => startTrivet(args)));
  balancer.instances = instances.map(({ facts }) => facts.url);
  return {
    url: balancer.url,
    instances,
    async stop() {
      await balancer.stop();
      await Promise.all(instances.map((instance) => instance.stop()));
      folder.remove();
    },
  };
}

/** Deletes a store: the schema in PostgreSQL, the keys in Redis. */
export async function dropStore(address: string): Promise<void> {
  const url = new URL(address);
  if (address.startsWith("redis")) {
    const name = url.searchParams.get("name") ?? "trivet";
    url.search = "";
    const client = await createClient({ url: url.href }).connect();
    const keys = await client.keys(`{${name}}*`);
    for (let at = 0; at < keys.length; at += 1000) await client.unlink(keys.slice(at, at + 1000));
    return client.destroy();
  }
  const schema = url.searchParams.get("schema") ?? "trivet";
  url.search = "";
  const sql = postgres(url.href, { onnotice: () => {}, max: 1 });
  await sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await sql.end();
}

/** Opens the store directly, without an instance. */
export function openStore(address: string): Store {
  return address.startsWith("postgres") ? postgresStore(address) : redisStore(address);
}
