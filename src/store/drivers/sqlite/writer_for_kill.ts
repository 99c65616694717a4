/**
 * Commits until it is killed, and prints the number of each acknowledged commit. `sqlite_node_test.ts` starts it.
 *
 * @module
 */
import process from "node:process";
import { sqliteStore } from "../sqlite.ts";

const store = sqliteStore(process.argv[2]!);
for (let n = 1;; n++) {
  await store.commit({ set: [{ key: ["left", n], value: n }, { key: ["right", n], value: n }] });
  process.stdout.write(`${n}\n`);
}
