/**
 * Each mutant is killed by every vector that it names. `main.ts` also runs the other vectors.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CONFORMING } from "./conforming.ts";
import { LOGIN, METADATA, onPath } from "./http_faults.ts";
import type { Mutant } from "./mutant.ts";
import { MUTANTS } from "./mutants.ts";
import { type Baseline, closeBaseline, runBaseline, runMutant } from "./run_mutant.ts";

const test = suite<{ baseline: Baseline }>("mutants");

const MAX_CONCURRENT = 6;

test.before(async (context) => {
  context.baseline = await runBaseline(MUTANTS);
});
test.after(async ({ baseline }) => await closeBaseline(baseline));

test("each mutant is killed by the vectors that it names", async ({ baseline }) => {
  const alive: Mutant[] = [];
  const queue = [...MUTANTS];
  // Concurrent, because faults that suppress a response cost a timeout.
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, async () => {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const { survived } = await runMutant(mutant, baseline, false);
      if (survived.length > 0) alive.push(mutant);
    }
  }));
  // A busy machine can time out before a vector reaches what the fault changes: these run again, one at a time.
  const wrong: string[] = [];
  for (const mutant of alive) {
    const { survived } = await runMutant(mutant, baseline, false);
    if (survived.length > 0) wrong.push(`${mutant.name}: ${survived.join(" ")} did not fail`);
  }
  assert.equal(wrong, []);
});

test("vectors pass on a server that conforms in another way than Trivet", async ({ baseline }) => {
  for (const [fault, wrap, killedBy] of CONFORMING) {
    const { notPassed } = await runMutant(
      { name: killedBy[0]!.replace(/\/.*/, "/conforming"), fault, wrap, killedBy },
      baseline,
      false,
    );
    assert.equal(notPassed, [], fault);
  }
});

test("an equivalent mutant survives, and the result reports it", async ({ baseline }) => {
  const killedBy = ["oauth/code/twice"];
  const equivalent = { name: "oauth/equivalent", fault: "None", killedBy };
  assert.equal((await runMutant(equivalent, baseline, false)).survived, killedBy);
});

test("a vector that fails and is not named is reported", async ({ baseline }) => {
  const mutant = MUTANTS.find(({ name }) => name === "oauth/token-by-put")!;
  const killedBy = mutant.killedBy.slice(1);
  const few = {
    ...baseline,
    vectors: baseline.vectors.filter(({ name }) => mutant.killedBy.includes(name)),
  };
  const { unexpected, survived } = await runMutant({ ...mutant, killedBy, mayFail: {} }, few, true);
  assert.equal([unexpected, survived], [[mutant.killedBy[0]], []]);
});

test("a vector that stops in setup kills nothing, and is reported unless the mutant has a reason", async ({ baseline }) => {
  const killedBy = ["oauth/code/twice"];
  const few = { ...baseline, vectors: baseline.vectors.filter(({ name }) => killedBy.includes(name)) };
  const wrap = onPath(LOGIN, () => () => Promise.resolve(new Response(null, { status: 503 })));
  const mutant = { name: "oauth/login-fails", fault: "Fails on every login", wrap, killedBy };
  const silent = await runMutant({ ...mutant, killedBy: [] }, few, true);
  assert.equal([silent.notPassed, silent.failed, silent.unexpected], [killedBy, [], killedBy]);
  const stopped = await runMutant({ ...mutant, preventsSetup: "No browser is signed in" }, few, true);
  assert.equal([stopped.survived, stopped.unexpected], [killedBy, []]);
});

test("a fault of one path runs only the vectors that request it", async ({ baseline }) => {
  const names = ["oauth/code/twice", "oauth/metadata/found"];
  const few = { ...baseline, vectors: baseline.vectors.filter(({ name }) => names.includes(name)) };
  const wrap = onPath(METADATA, () => () => Promise.resolve(new Response(null, { status: 404 })));
  const mutant = { name: "oauth/metadata-404", fault: "Returns 404 for metadata", wrap, killedBy: [] };
  const { notPassed } = await runMutant(mutant, few, true);
  assert.equal(notPassed, ["oauth/metadata/found"]);
  assert.not(
    few.targets.get("http")!.recordings.get("oauth/code/twice")!.some(({ path }) => path === METADATA),
  );
});

test("vectors that may fail have a reason and exist", ({ baseline: { vectors } }) => {
  for (const { name, mayFail = {} } of MUTANTS) {
    for (const [reason, prefixes] of Object.entries(mayFail)) {
      assert.ok(/ /.test(reason) && prefixes.length > 0, name);
      const unknown = prefixes.filter((prefix) => !vectors.some((each) => each.name.startsWith(prefix)));
      assert.equal(unknown, [], name);
    }
  }
});

test("names are unique, and each mutant names vectors", () => {
  assert.is(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
  for (const { name, killedBy } of MUTANTS) assert.ok(killedBy.length > 0, name);
});

test.run();
