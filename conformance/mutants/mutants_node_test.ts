/**
 * Each mutant is caught by every vector that it names, and a mutant without a fault by none. `main.ts` asks all vectors.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Hunt, hunt, leave, prepare } from "./hunt.ts";
import { MUTANTS } from "./mutants.ts";

const test = suite<{ hunting: Hunt }>("mutants");

test.before(async (context) => {
  context.hunting = await prepare(MUTANTS);
});
test.after(async ({ hunting }) => await leave(hunting));

test("each fault is caught by the vectors that it names", async ({ hunting }) => {
  const wrong: string[] = [];
  for (const mutant of MUTANTS) {
    const { missed } = await hunt(mutant, hunting, false);
    if (missed.length > 0) wrong.push(`${mutant.name}: ${missed.join(" ")} passed all the same`);
  }
  assert.equal(wrong, []);
});

test("a server without a fault survives, and the hunt says so", async ({ hunting }) => {
  const breaks = ["oauth/code/twice"];
  const sound = { name: "oauth/sound", fault: "None", breaks };
  assert.equal((await hunt(sound, hunting, false)).missed, breaks);
});

test("a vector that turns red and is not named is told", async ({ hunting }) => {
  const mutant = MUTANTS.find(({ name }) => name === "oauth/token-by-put")!;
  const breaks = mutant.breaks.slice(1);
  const few = {
    ...hunting,
    vectors: hunting.vectors.filter(({ name }) => mutant.breaks.includes(name)),
  };
  const { beyond, missed } = await hunt({ ...mutant, breaks, mayBreak: [] }, few, true);
  assert.equal([beyond, missed], [[mutant.breaks[0]], []]);
});

test("names are said once, and each mutant has vectors to fear", () => {
  assert.is(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
  for (const { name, breaks } of MUTANTS) assert.ok(breaks.length > 0, name);
});

test.run();
