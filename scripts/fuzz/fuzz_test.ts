import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fuzzMcp } from "./mcp.ts";
import { fuzzOAuth } from "./oauth.ts";
import { fuzzSkills } from "./skills.ts";

const test = suite("generated requests");

/** Counts accepted requests: a generator whose requests are all refused tests little. */
function countAccepted(answers: ReadonlyMap<string, number>): number {
  return [...answers].filter(([key]) => / (200|201|302)$/.test(key)).reduce(
    (sum, [, count]) => sum + count,
    0,
  );
}

test("2,000 requests to the authorization server: errors have the form of their standard", async () => {
  const { problems, answers } = await fuzzOAuth(2000, 1);
  assert.equal(problems, []);
  assert.ok(countAccepted(answers) > 200);
});

test("2,000 messages to the tool server: responses conform to the specification, and nothing leaks", async () => {
  const { problems, answers } = await fuzzMcp(2000, 1);
  assert.equal(problems, []);
  assert.ok(countAccepted(answers) > 400);
});

test("2,000 requests to the Skills service: responses have the form of its API, without faults", async () => {
  const { problems, answers } = await fuzzSkills(2000, 1);
  assert.equal(problems, []);
  assert.ok(countAccepted(answers) > 400);
});

test.run();
