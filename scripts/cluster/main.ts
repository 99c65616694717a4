/**
 * `npm run cluster`: starts instances behind a balancer on one store, runs every flow with each request on another
 * instance, and prints which instance responded to which request.
 *
 *   node scripts/cluster/main.ts [--store postgres://…|redis://…] [--instances N] [--keep]
 *
 * With `--keep` the instances run until Ctrl+C.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { createAccount } from "../faults/load.ts";
import { openStore, startCluster } from "./cluster.ts";
import { runFlows } from "./flows.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "postgres://postgres@127.0.0.1:5432/test?schema=trivet_cluster" },
    instances: { type: "string", default: "3" },
    keep: { type: "boolean" },
  },
});
const cluster = await startCluster(values.store, Number(values.instances));
const store = openStore(values.store);
try {
  const account = await createAccount(store);
  const steps = await runFlows(cluster.url, account);
  for (const { name, status, instance, problem } of steps) {
    console.log(
      `instance ${instance}  ${String(status).padEnd(4)} ${name}${problem ? `  PROBLEM: ${problem}` : ""}`,
    );
  }
  const failed = steps.filter(({ problem }) => problem !== undefined).length;
  console.log(`\n${steps.length} steps on ${values.instances} instances, ${failed} problems`);
  process.exitCode = failed > 0 ? 1 : 0;
  if (values.keep) {
    console.log(
      `Running at ${cluster.url}, with the instances ${
        cluster.instances.map(({ facts }) => facts.url).join(", ")
      }\n${JSON.stringify(account, null, 2)}`,
    );
    await new Promise((resolve) => process.once("SIGINT", resolve));
  }
} finally {
  await store.close();
  await cluster.stop();
}
