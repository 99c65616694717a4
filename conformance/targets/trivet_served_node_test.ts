/**
 * Trivet passes the whole kit over a socket, served by the runtime that runs this: with the vectors that need one, about
 * fields as they are written and connections that break.
 *
 * @module
 */
import { suite } from "uvu";
import { freePort } from "../../scripts/test/workerd.ts";
import { runtimeCommand } from "../../src/end_to_end/test_process.ts";
import { check, replayWith, targetFile, WHOLE_KIT } from "./test_replay.ts";

const test = suite("conformance of Trivet over a socket");

test("OAuth, JSON-RPC, MCP and Skills", async () => {
  const port = await freePort();
  const [program, before] = runtimeCommand();
  const report = await replayWith(WHOLE_KIT, "trivet_served.json", {
    base: `http://127.0.0.1:${port}`,
    start: { command: [program, ...before, targetFile("trivet_served.ts"), String(port)], ready: "/" },
    // Other work on this machine is no fault of the server's.
    limits: { seconds: 60 },
  });
  check(report, 1180);
});

test.run();
