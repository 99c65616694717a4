/**
 * Every scenario against three clients: a careful one passes, and a careless or rigid one does not.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadRequirements } from "../vector/load.ts";
import { runClient } from "./run_client.ts";
import { loadScenarios } from "./scenario.ts";
import { createTestDriver } from "./test_clients.ts";

const test = suite("tests of clients");
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const JOBS = 8;

const scenarios = loadScenarios(ROOT, ["all"], loadRequirements(ROOT));

test("a careful client passes every scenario", async () => {
  const results = await runClient(scenarios, createTestDriver("careful"), JOBS);
  const failing = results.filter(({ outcome }) => outcome !== "pass");
  assert.equal(failing.map(({ name, outcome, reason }) => `${name}: ${outcome}, ${reason}`), []);
});

test("every scenario fails a careless or a rigid client", async () => {
  const [careless, rigid] = [
    await runClient(scenarios, createTestDriver("careless"), JOBS),
    await runClient(scenarios, createTestDriver("rigid"), JOBS),
  ];
  const setup = [...careless, ...rigid].filter(({ outcome }) => outcome === "setup" || outcome === "error");
  assert.equal(setup.map(({ name, reason }) => `${name}: ${reason}`), []);
  const isUnharmed = (outcome: string) => outcome === "pass" || outcome === "skip";
  const passing = careless.filter(({ outcome }, at) => isUnharmed(outcome) && isUnharmed(rigid[at]!.outcome));
  assert.equal(passing.map(({ name }) => name), []);
});

test("a careless client fails every scenario that demands a refusal", async () => {
  const refusals = scenarios.filter(({ scenario }) => scenario.expect.ends === "refused");
  const results = await runClient(refusals, createTestDriver("careless"), JOBS);
  assert.equal(results.filter(({ class: failure }) => !failure).map(({ name }) => name), []);
});

test.run();
