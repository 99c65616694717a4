/**
 * Entry point of an instance of `instances.ts` that only watches: `node instances_watcher.ts ADDRESS`.
 *
 * @module
 */
import process from "node:process";
import { openStore } from "../../cluster/cluster.ts";

const store = openStore(process.argv[2]!);
const changes = store.watch(["mcp"]);
await store.get(["mcp"]);
process.send!("watching");
for await (const _ of changes);
