import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fuzzMcp } from "./mcp.ts";
import { fuzzOAuth } from "./oauth.ts";
import { fuzzSkills } from "./skills.ts";

const test = suite("generated requests");

/** How many were taken: a generator whose requests are all refused has lost its aim. */
function countTaken(answers: ReadonlyMap<string, number>): number {
  return [...answers].filter(([key]) => / (200|201|302)$/.test(key)).reduce(
    (sum, [, count]) => sum + count,
    0,
  );
}

test("2,000 to the authorization server: each refusal in its standard's form", async () => {
  const { problems, answers } = await fuzzOAuth(2000, 1);
  assert.equal(problems, []);
  assert.ok(countTaken(answers) > 200);
});

test("2,000 messages to the tool server: a specified answer each, and nothing is left", async () => {
  const { problems, answers } = await fuzzMcp(2000, 1);
  assert.equal(problems, []);
  assert.ok(countTaken(answers) > 400);
});

test("2,000 to the Skills service: an answer of its dialect each, and no fault", async () => {
  const { problems, answers } = await fuzzSkills(2000, 1);
  assert.equal(problems, []);
  assert.ok(countTaken(answers) > 400);
});

test.run();
