/**
 * Test kit: runs all scenarios of two instances on one store as tests.
 *
 * @module
 */
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import type { Store } from "../../store/store.ts";
import { createInstance, type Instance } from "./test_instances.ts";
import { eventually, type Pair, type Scenario } from "./test_instances_client.ts";
import { SESSION_SCENARIOS } from "./test_instances_sessions.ts";
import { STREAM_SCENARIOS } from "./test_instances_streams.ts";
import { QUESTION_SCENARIOS, SSE_SCENARIOS, TASK_SCENARIOS } from "./test_instances_tasks.ts";

const SCENARIOS: readonly Scenario[] = [
  ...SESSION_SCENARIOS,
  ...STREAM_SCENARIOS,
  ...TASK_SCENARIOS,
  ...QUESTION_SCENARIOS,
  ...SSE_SCENARIOS,
];
/** Two instances, and the function that closes them. */
export interface Opened extends Pair {
  close(): Promise<void>;
}

/** Registers every scenario as a test. After each, no instance may have an open stream or call. */
export function testAll(
  test: Test,
  engine: string,
  open: () => Promise<Opened>,
  scenarios: readonly Scenario[] = SCENARIOS,
): void {
  let pair: Opened | undefined;
  for (const [name, scenario] of scenarios) {
    test(`${engine}: ${name}`, async () => {
      pair ??= await open();
      await scenario(pair);
      await waitUntilReleased([pair.a, pair.b]);
    });
  }
  test(`${engine}: a closed instance keeps no resources`, async () => {
    pair ??= await open();
    await pair.close();
  });
}

/** Waits until no stream is open and no call runs, so that the store has no watch. */
export async function waitUntilReleased(instances: readonly Instance[]): Promise<void> {
  for (const instance of instances) {
    const isReleased = async () => (await instance.order({ do: "report" })).watches === 0;
    await eventually(isReleased, `${instance.name} closes its watch of the store`);
    assert.equal((await instance.order({ do: "report" })).faults, []);
  }
}

/** Creates two instances in this process, on one store or one each. */
export function createPair(stores: readonly [Store, Store], remove: () => unknown = () => {}): Opened {
  return {
    a: createInstance(stores[0], "A"),
    b: createInstance(stores[1], "B"),
    async close() {
      for (const store of new Set(stores)) await store.close();
      await remove();
    },
  };
}
