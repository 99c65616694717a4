/**
 * Trivet's MCP client against the scenarios of the kit, in this process.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Driver, EXIT } from "../runner/client/driver.ts";
import { runClient } from "../runner/client/run_client.ts";
import { loadScenarios } from "../runner/client/scenario.ts";
import { loadRequirements } from "../runner/vector/load.ts";
// @ts-types="./trivet/flows.d.ts"
import { createFlows } from "./trivet/flows.mjs";

const test = suite("tests of Trivet's client");
const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Flows of OAuth, which the gateway does for the client. */
const OTHERS = ["authorize", "refresh_at_once"];

const drive: Driver = async (env) => {
  const flow = createFlows(env.CONFORMANCE_BASE!, env.CONFORMANCE_TEXT!)[env.CONFORMANCE_FLOW!]!;
  const end = (code: number, stdout: string) => ({ code, isTimeout: false, stdout, stderr: "" });
  try {
    return end(EXIT.accepted, `${JSON.stringify(await flow())}\n`);
  } catch (error) {
    return end(EXIT.refused, `${String(error)}\n`);
  }
};

test("it passes every scenario for MCP clients", async () => {
  const scenarios = loadScenarios(ROOT, ["mcp"], loadRequirements(ROOT))
    .filter(({ flow, scenario }) => !OTHERS.includes(scenario.flow ?? flow));
  assert.ok(scenarios.length > 60);
  const results = await runClient(scenarios, drive, 8);
  const failing = results.filter(({ outcome }) => outcome !== "pass");
  assert.equal(failing.map(({ name, outcome, reason }) => `${name}: ${outcome}, ${reason}`), []);
});

test.run();
