/**
 * Trivet passes the whole kit over a socket, served by the current runtime, including the vectors that need a socket: raw
 * headers and closed connections.
 *
 * @module
 */
import { suite } from "uvu";
import { freePort } from "../runner/target/free_port.ts";
import { runtimeCommand } from "../../src/end_to_end/test_process.ts";
import { assertPassed, replayWith, targetFile, WHOLE_KIT } from "./test_replay.ts";

const test = suite("conformance of Trivet over a socket");

test("OAuth, JSON-RPC, MCP and Skills", async () => {
  const port = await freePort();
  const [program, before] = runtimeCommand();
  const report = await replayWith(WHOLE_KIT, "trivet_served.json", {
    base: `http://127.0.0.1:${port}`,
    start: { command: [program, ...before, targetFile("trivet_served.ts"), String(port)], ready: "/" },
    // Generous, because other work on this machine slows the server.
    limits: { seconds: 60 },
  });
  assertPassed(report, 1180);
});

test.run();
