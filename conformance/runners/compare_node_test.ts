/**
 * The runner in Python gives the same verdicts as the reference runner on `self/`, on Trivet over stdio, and on Trivet with
 * swapped endpoints, where many vectors fail, each in its own way, or with a scope that it refuses.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema } from "../../src/json_schema/compile.ts";
import { runAll } from "../runner/run.ts";
import { createSelfTarget } from "../runner/target/target.ts";
import { loadRequirements, loadVectors } from "../runner/vector/load.ts";
import { compare, hasPython, note, overStdio, runPython, served, toLines } from "./test_compare.ts";

const test = suite("conformance/runners: self, stdio, swapped endpoints");
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const testWithPython = hasPython ? test : test.skip;

testWithPython(`self${note}`, async () => {
  const vectors = loadVectors(ROOT, ["self"], loadRequirements(ROOT));
  const results = await runAll(vectors, { target: createSelfTarget(), seed: "test", maxWaitSeconds: 0 });
  const report = await runPython(["self"]);
  assert.equal(toLines(report.vectors), toLines(results));
  assert.equal(toLines(report.vectors).filter((line) => !line.includes(": pass,")), []);
  const schema = JSON.parse(readFileSync(join(ROOT, "result.schema.json"), "utf8"));
  assert.equal(compileSchema(schema)(report), []);
});

testWithPython(`swapped endpoints${note}`, async () => {
  const endpoints = {
    token: "{{base}}/oauth/introspect",
    revocation: "{{base}}/oauth/token",
    introspection: "{{base}}/oauth/revoke",
  };
  const files = ["token_endpoint", "revocation", "introspection", "code", "client_authentication", "refresh"];
  await compare(files.map((file) => `oauth/${file}`), { ...served, endpoints, deviations: {} }, 200, 60);
});

testWithPython(`a scope that the server refuses${note}`, async () => {
  await compare(["oauth/code"], { ...served, scope: "unknown", deviations: {} }, 20, 20);
});

testWithPython(`a server over stdio${note}`, async () => {
  await compare(["mcp/stdio"], overStdio("trivet_stdio"), 5, 0);
  await compare(["jsonrpc/batch"], overStdio("example_methods_stdio"), 5, 0);
});

test.run();
