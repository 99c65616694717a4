import { skipBecause } from "../../scripts/test/run_files.ts";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runOnCloudflare } from "../../scripts/test/cloudflare.ts";

const test = suite("D1 and Durable Objects, inside workerd");

if ("Deno" in globalThis || "Bun" in globalThis) {
  // The code under test runs on workerd all the same; Miniflare, which starts it, is made for Node.
  skipBecause(test, "Miniflare runs on Node: the contract on D1 and Durable Objects is tested there");
} else {
  test("the whole store contract, and Trivet on both", async () => {
    const { passed, failed, errors } = await runOnCloudflare("src/store/cloudflare_suite.ts");
    assert.is(failed, 0, errors);
    assert.ok(passed >= 75, `${passed} tests`);
  });
}

test.run();
