import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fuzzMcp } from "./mcp.ts";
import { fuzzOAuth } from "./oauth.ts";

const test = suite("generated requests");

for (const seed of [1, 2, 3]) {
  test(`2,000 of seed ${seed}: no fault, and each refusal in its standard's form`, async () => {
    const { problems, answers } = await fuzzOAuth(2000, seed);
    assert.equal(problems, []);
    const good = [...answers].filter(([key]) => / (200|201|302)$/.test(key)).reduce(
      (sum, [, count]) => sum + count,
      0,
    );
    assert.ok(good > 200, `only ${good} were taken: the generator has lost its aim`);
  });
}

for (const seed of [1, 2]) {
  test(`2,000 messages of seed ${seed} to the tool server: a specified answer each, and nothing is left`, async () => {
    const { problems, answers } = await fuzzMcp(2000, seed);
    assert.equal(problems, []);
    const good = [...answers].filter(([key]) => / 200$/.test(key)).reduce((sum, [, count]) => sum + count, 0);
    assert.ok(good > 400, `only ${good} were taken: the generator has lost its aim`);
  });
}

test.run();
