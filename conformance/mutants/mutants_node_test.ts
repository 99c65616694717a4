/**
 * Each mutant is caught by every vector that it names, and a mutant without a fault by none. `main.ts` asks all vectors.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Hunt, hunt, leave, prepare } from "./hunt.ts";
import { at, LOGIN, METADATA } from "./message.ts";
import { MUTANTS } from "./mutants.ts";

const test = suite<{ hunting: Hunt }>("mutants");

test.before(async (context) => {
  context.hunting = await prepare(MUTANTS);
});
test.after(async ({ hunting }) => await leave(hunting));

test("each fault is caught by the vectors that it names", async ({ hunting }) => {
  const wrong: string[] = [];
  const queue = [...MUTANTS];
  // Several at once: some faults show in what never comes, which is waited for.
  await Promise.all(Array.from({ length: 6 }, async () => {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const { missed } = await hunt(mutant, hunting, false);
      if (missed.length > 0) wrong.push(`${mutant.name}: ${missed.join(" ")} passed all the same`);
    }
  }));
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
  const { beyond, missed } = await hunt({ ...mutant, breaks, mayBreak: {} }, few, true);
  assert.equal([beyond, missed], [[mutant.breaks[0]], []]);
});

test("a question that cannot be asked catches nothing, and is told unless the mutant says why", async ({ hunting }) => {
  const breaks = ["oauth/code/twice"];
  const few = { ...hunting, vectors: hunting.vectors.filter(({ name }) => breaks.includes(name)) };
  const shut = at(LOGIN, () => () => Promise.resolve(new Response(null, { status: 503 })));
  const mutant = { name: "oauth/shut", fault: "Signs nobody in", wrap: shut, breaks };
  const silent = await hunt({ ...mutant, breaks: [] }, few, true);
  assert.equal([silent.red, silent.failed, silent.beyond], [breaks, [], breaks]);
  const stopped = await hunt({ ...mutant, stops: "Nobody is signed in" }, few, true);
  assert.equal([stopped.missed, stopped.beyond], [breaks, []]);
});

test("a fault of one path is asked only of vectors that go there", async ({ hunting }) => {
  const names = ["oauth/code/twice", "oauth/metadata/found"];
  const few = { ...hunting, vectors: hunting.vectors.filter(({ name }) => names.includes(name)) };
  const wrap = at(METADATA, () => () => Promise.resolve(new Response(null, { status: 404 })));
  const { red } = await hunt({ name: "oauth/gone", fault: "Says nothing", wrap, breaks: [] }, few, true);
  assert.equal(red, ["oauth/metadata/found"]);
  assert.not(few.grounds.get("http")!.paths.get("oauth/code/twice")!.has(METADATA));
});

test("what may turn red besides has a reason, and there is such a vector", ({ hunting: { vectors } }) => {
  for (const { name, mayBreak = {} } of MUTANTS) {
    for (const [reason, starts] of Object.entries(mayBreak)) {
      assert.ok(/ /.test(reason) && starts.length > 0, name);
      const unmet = starts.filter((start) => !vectors.some((each) => each.name.startsWith(start)));
      assert.equal(unmet, [], name);
    }
  }
});

test("names are said once, and each mutant has vectors to fear", () => {
  assert.is(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
  for (const { name, breaks } of MUTANTS) assert.ok(breaks.length > 0, name);
});

test.run();
