/**
 * Trivet passes what is asked of servers on standard input, as a process of the runtime that runs this: one for each
 * vector.
 *
 * @module
 */
import { suite } from "uvu";
import { runtimeCommand, temporaryFolder } from "../../src/end_to_end/test_process.ts";
import { check, replayWith, targetFile } from "./test_replay.ts";

const test = suite("conformance of Trivet on standard input");

for (
  const [suites, name, least] of [
    [["mcp"], "trivet_stdio", 27],
    [["jsonrpc"], "example_methods_stdio", 90],
  ] as const
) {
  test(`${name}: ${suites}`, async () => {
    const [program, before] = runtimeCommand();
    // Node takes the types out of each file at each start, unless it keeps what came of it.
    const kept = temporaryFolder();
    try {
      const report = await replayWith(suites, `${name}.json`, {
        stdio: {
          command: [program, ...before, targetFile(`${name}.ts`)],
          env: { NODE_COMPILE_CACHE: kept.path },
        },
        // The first answer comes after the start of a process, and other work on this machine is no fault of the server's.
        limits: { seconds: 60 },
      });
      check(report, least);
    } finally {
      kept.remove();
    }
  });
}

test.run();
