import { suite } from "uvu";
import * as assert from "uvu/assert";
import { StoreUnavailableError } from "../store.ts";
import { type D1Binding, d1Store } from "./d1.ts";

const test = suite("store/d1");

/** A store in a database that fails. */
function failing(message: string) {
  const fail = () => Promise.reject(new Error(message));
  const statement = { bind: () => statement, all: fail };
  const database: D1Binding = { prepare: () => statement, batch: fail };
  return d1Store(database);
}

/** https://developers.cloudflare.com/d1/observability/debug-d1/#list-of-d1_errors */
const TEMPORARY = [
  "D1 DB is overloaded. Too many requests queued.",
  "D1 DB is overloaded. Requests queued for too long.",
  "Network connection lost.",
  "D1 DB reset because its code was updated.",
  "Internal error while starting up D1 DB storage caused object to be reset.",
  "Internal error in D1 DB storage caused object to be reset.",
  "D1 DB storage operation exceeded timeout which caused object to be reset.",
  "Cannot resolve D1 DB due to transient issue on remote node.",
  "Replica disconnected from primary.",
];

test("each error that a retry can solve says that the store is unavailable", async () => {
  for (const message of TEMPORARY) {
    const store = failing(`D1_ERROR: ${message}`);
    const read = await store.get(["k"]).catch((error) => error);
    assert.instance(read, StoreUnavailableError, message);
    const written = await store.commit({ set: [{ key: ["k"], value: 1 }] }).catch((error) => error);
    assert.instance(written, StoreUnavailableError, message);
  }
  const error = await failing("D1_ERROR: no such column: x").get(["k"]).catch((error) => error);
  assert.not.instance(error, StoreUnavailableError);
});

test("a change before the first poll that succeeds is reported", async () => {
  let fails = 1;
  const prepare = (sql: string): ReturnType<D1Binding["prepare"]> => {
    const isPoll = sql.startsWith("SELECT version FROM sequence");
    const statement = {
      bind: () => statement,
      all: () =>
        isPoll && fails-- > 0
          ? Promise.reject(new Error("D1_ERROR: Network connection lost."))
          : Promise.resolve({ results: isPoll ? [{ version: 2 }] : [], meta: {} }),
    };
    return statement;
  };
  const store = d1Store({ prepare, batch: () => Promise.resolve([{ results: [], meta: {} }]) }, {
    pollEvery: 5,
  });
  const reader = store.watch(["k"]).getReader();
  const { promise: late, resolve } = Promise.withResolvers<{ value: unknown }>();
  const timer = setTimeout(resolve, 20_000, { value: "nothing was reported" });
  assert.equal((await Promise.race([reader.read(), late])).value, [["k"]]);
  clearTimeout(timer);
  await reader.cancel();
});

test.run();
