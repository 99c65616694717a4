/**
 * Stores in PostgreSQL for tests, each in a schema that is dropped when the store is closed.
 *
 * @module
 */
import postgres from "postgres";
import { CutProxy } from "../../../../scripts/faults/cut_proxy.ts";
import type { Store } from "../../store.ts";
import { closingWith } from "../../test_engines.ts";
import { postgresStore } from "../postgres.ts";

export interface TestStores {
  /** A connection of an administrator. */
  readonly admin: postgres.Sql;
  /** The name of a schema that does not exist yet. */
  newSchema(): string;
  /** The name that `newSchema` returned last. */
  lastSchema(): string;
  /** The address of a store in a schema. */
  inSchema(schema: string): string;
  open(now?: () => number, schema?: string): Store;
  /** Runs with a store that connects through a proxy, and one that connects directly. */
  throughProxy(run: (through: Store, direct: Store, proxy: CutProxy) => Promise<void>): Promise<void>;
  /** Closes the connection of the administrator. */
  end(): Promise<void>;
}

export function createTestStores(address: string): TestStores {
  let schemas = 0;
  const run = Math.random().toString(36).slice(2, 8);
  const lastSchema = () => `trivet_test_${run}_${schemas}`;
  const newSchema = () => {
    schemas++;
    return lastSchema();
  };
  const inSchema = (schema: string) => `${address}?schema=${schema}&max=4`;
  const admin = postgres(address, { onnotice: () => {}, max: 2 });
  const open = (now?: () => number, schema: string = newSchema()): Store => {
    const store = postgresStore(inSchema(schema), now ? { now } : {});
    return closingWith(store, () => admin.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`));
  };
  return {
    admin,
    newSchema,
    lastSchema,
    inSchema,
    open,
    async throughProxy(run) {
      const proxy = new CutProxy(Number(new URL(address).port));
      await proxy.start();
      const schema = newSchema();
      const url = new URL(inSchema(schema));
      url.port = String(proxy.port);
      const direct = open(undefined, schema);
      await direct.get(["nothing"]);
      const through = postgresStore(`${url}&timeout=1`);
      try {
        await run(through, direct, proxy);
      } finally {
        await through.close();
        await direct.close();
        await proxy.stop();
      }
    },
    end: () => admin.end(),
  };
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
