/**
 * Trivet passes the vectors for servers over stdio, as a process of the current runtime for each vector.
 *
 * @module
 */
import { suite } from "uvu";
import { runtimeCommand, temporaryFolder } from "../../src/end_to_end/test_process.ts";
import { assertPassed, replayWith, targetFile } from "./test_replay.ts";

const test = suite("conformance of Trivet over stdio");

for (
  const [suites, name, minRun] of [
    [["mcp"], "trivet_stdio", 27],
    [["jsonrpc"], "example_methods_stdio", 90],
  ] as const
) {
  test(`${name}: ${suites}`, async () => {
    const [program, before] = runtimeCommand();
    // Node strips the types of each file at each start, unless it has a compile cache.
    const cache = temporaryFolder();
    try {
      const report = await replayWith(suites, `${name}.json`, {
        stdio: {
          command: [program, ...before, targetFile(`${name}.ts`)],
          env: { NODE_COMPILE_CACHE: cache.path },
        },
        // Generous, because each vector starts a process and other work slows this machine.
        limits: { seconds: 60 },
      });
      assertPassed(report, minRun);
    } finally {
      cache.remove();
    }
  });
}

test.run();
