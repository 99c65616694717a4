/**
 * Trivet passes the whole kit on PostgreSQL and Redis. Skipped if an engine is not running, except in CI.
 *
 * @module
 */
import { suite } from "uvu";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { findEngine } from "../../src/store/test_engines.ts";
import { assertPassed, replay, targetFile, WHOLE_KIT } from "./test_replay.ts";

const test = suite("conformance of Trivet on engines");

for (const [engine, name] of [["postgres", "PostgreSQL"], ["redis", "Redis"]] as const) {
  if (await findEngine(engine) === undefined) {
    skipBecause(test, `${name} is not running`);
  } else {
    test(`${name}: OAuth, JSON-RPC, MCP and Skills`, async () => {
      assertPassed(await replay(WHOLE_KIT, targetFile(`trivet_${engine}.json`)), 1680);
    });
  }
}

test.run();
