/**
 * Trivet passes the whole kit in this process, on the memory store: every MUST and SHOULD that it claims, or the deviation
 * stands with its reason in `trivet.json`.
 *
 * @module
 */
import { suite } from "uvu";
import { check, replay, targetFile, WHOLE_KIT } from "./test_replay.ts";

const test = suite("conformance of Trivet in memory");

test("OAuth, JSON-RPC, MCP and Skills", async () => {
  check(await replay(WHOLE_KIT, targetFile("trivet.json")), 1680);
});

test.run();
