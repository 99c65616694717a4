/**
 * Instances of `trivet serve` on one store, behind a balancer: a whole server in many processes.
 *
 * @module
 */
import { type RunningTrivet, startTrivet, temporaryFolder } from "../../src/runtime/test_process.ts";
import { postgresStore } from "../../src/store/postgres.ts";
import { redisStore } from "../../src/store/redis.ts";
import type { Store } from "../../src/store/store.ts";
import { Balancer } from "./balancer.ts";

export interface Cluster {
  readonly url: string;
  readonly instances: readonly RunningTrivet[];
  stop(): Promise<void>;
}

/** Starts them all at once, on a store that may be empty. */
export async function startCluster(address: string, count: number, port: number = 0): Promise<Cluster> {
  const balancer = new Balancer();
  await balancer.start(port);
  const folder = temporaryFolder();
  const words = [
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
  const instances = await Promise.all(Array.from({ length: count }, () => startTrivet(words)));
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

/** The store itself, past the instances. */
export function openDirectly(address: string): Store {
  return address.startsWith("postgres") ? postgresStore(address) : redisStore(address);
}
