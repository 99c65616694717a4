/**
 * Trivet passes the kit on workerd with its state in D1, asked from Node: OAuth.
 * `trivet_d1_services_node_test.ts` asks the rest.
 *
 * @module
 */
import { suite } from "uvu";
import { skipBecause } from "../../scripts/test/run_files.ts";
import { checkOnD1 } from "./test_worker.ts";

const test = suite("conformance of Trivet on D1: OAuth");

// Miniflare, which has D1, runs on Node.
if ("Deno" in globalThis || "Bun" in globalThis) skipBecause(test, "Miniflare runs on Node");
else test("every MUST and SHOULD", () => checkOnD1(["oauth"], 900));

test.run();
