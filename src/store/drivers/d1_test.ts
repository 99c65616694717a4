import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Put, StoreUnavailableError } from "../store.ts";
import { commitStatements } from "./cloudflare_rows.ts";
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

test("the size of a text is that of its UTF-8, and no parameter is larger than a row", () => {
  const large: readonly Put[] = [
    { key: ["ascii"], value: "a".repeat(1_899_990) },
    { key: ["quotes"], value: '"'.repeat(949_990) },
    { key: ["quotes", 2], value: '"'.repeat(230_000) },
    { key: ["utf-8"], value: "\u20ac".repeat(633_330) },
    { key: ["bytes"], value: new Uint8Array(1_900_000) },
  ];
  const encoder = new TextEncoder();
  for (const [, ...parameters] of commitStatements({ set: large }, 0)) {
    for (const each of parameters) {
      const size = typeof each === "string"
        ? encoder.encode(each).length
        : (each as Uint8Array | null)?.length ?? 0;
      assert.ok(size < 2_000_000, String(size));
    }
  }
  const tooLarge = { key: ["k"], value: "\u20ac".repeat(633_340) };
  assert.throws(
    () => commitStatements({ set: [tooLarge] }, 0),
    (error: unknown) => error instanceof RangeError,
  );
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
