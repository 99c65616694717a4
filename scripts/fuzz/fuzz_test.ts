import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findExcess } from "./budgets.ts";
import { fuzzHeavy } from "./heavy.ts";
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

for (const seed of [1, 2, 3]) {
  test(`2,000 of seed ${seed} to the authorization server: each refusal in its standard's form`, async () => {
    const { problems, answers } = await fuzzOAuth(2000, seed);
    assert.equal(problems, []);
    assert.ok(countTaken(answers) > 200);
  });
}

for (const seed of [1, 2]) {
  test(`2,000 messages of seed ${seed} to the tool server: a specified answer each, and nothing is left`, async () => {
    const { problems, answers } = await fuzzMcp(2000, seed);
    assert.equal(problems, []);
    assert.ok(countTaken(answers) > 400);
  });
}

test("2,000 to the Skills service: an answer of its dialect each, and no fault", async () => {
  const { problems, answers } = await fuzzSkills(2000, 1);
  assert.equal(problems, []);
  assert.ok(countTaken(answers) > 400);
});

for (const kind of ["oauth", "mcp", "skills"]) {
  test(`large requests (${kind}) keep to the budgets of time, bytes and store calls`, async () => {
    const { problems, answers } = await fuzzHeavy(kind, kind === "skills" ? 12 : 40, 1);
    assert.equal(problems, []);
    assert.ok(answers.size > 2);
  });
}

test("what costs more than its budget is found", () => {
  const cost = { storeCalls: 1, storedBytes: 100, loopMs: 1 };
  const request = { endpoint: "/oauth/par", bytes: 10 };
  assert.is(findExcess(request, cost), undefined);
  for (const excess of [{ storeCalls: 2000 }, { storedBytes: 1_000_000 }, { loopMs: 51 }]) {
    assert.ok(findExcess(request, { ...cost, ...excess }), JSON.stringify(excess));
  }
});

test.run();
