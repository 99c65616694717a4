/**
 * Trivet passes the whole kit on PostgreSQL and on Redis: where they listen, and everywhere that CI is true.
 *
 * @module
 */
import { suite } from "uvu";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { findEngine } from "../../src/store/test_engines.ts";
import { check, replay, targetFile, WHOLE_KIT } from "./test_replay.ts";

const test = suite("conformance of Trivet on engines");

for (const [engine, name] of [["postgres", "PostgreSQL"], ["redis", "Redis"]] as const) {
  if (await findEngine(engine) === undefined) {
    skipBecause(test, `no ${name} listens: the kit against Trivet on it is skipped`);
  } else {
    test(`${name}: OAuth, JSON-RPC, MCP and Skills`, async () => {
      check(await replay(WHOLE_KIT, targetFile(`trivet_${engine}.json`)), 1680);
    });
  }
}

test.run();
