/**
 * Trivet passes the kit on workerd with its state in D1: JSON-RPC, MCP and Skills. The client runs on Node.
 * `trivet_d1_oauth_node_test.ts` covers the other suites.
 *
 * @module
 */
import { suite } from "uvu";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { assertPassesOnD1 } from "./test_worker.ts";

const test = suite("conformance of Trivet on D1: JSON-RPC, MCP and Skills");

// Miniflare, which has D1, runs on Node.
if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "Miniflare runs on Node");
else test("every MUST and SHOULD", () => assertPassesOnD1(["jsonrpc", "mcp", "skills"], 700));

test.run();
