/**
 * Trivet passes the whole kit in this process on the memory store: every MUST and SHOULD that it claims, except the
 * deviations in `trivet.json`.
 *
 * @module
 */
import { suite } from "uvu";
import { assertPassed, replay, targetFile, WHOLE_KIT } from "./test_replay.ts";

const test = suite("conformance of Trivet in memory");

test("OAuth, JSON-RPC, MCP and Skills", async () => {
  assertPassed(await replay(WHOLE_KIT, targetFile("trivet.json")), 1680);
});

test.run();
