/**
 * Fails when a hot path uses more processor time than in the previous release: ratios of one run only, never times.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../test/run_files.ts";
import { compareCosts, type Effort } from "./compare.ts";
import { createHotCalls } from "./hot_rows.ts";
import { extractPreviousRelease, type PreviousRelease, ROOT } from "./previous_release.ts";

/** Of the previous release's speed. */
const MIN_RATIO = 0.85;
const FIRST: Effort = { slices: 20, slice: 30 };
/** A ratio that is too low is measured again, with more and longer slices. */
const AGAIN: Effort = { slices: 24, slice: 60 };

const test = suite("hot paths, compared with the previous release");
const release = extractPreviousRelease();
if ("missing" in release) skipBecause(test, release.missing);
else testRelease(release);

function testRelease({ name, folder, remove }: PreviousRelease): void {
  test.after(remove);
  const calls = Promise.all([createHotCalls(folder), createHotCalls(ROOT)]);
  calls.catch(() => {});
  for (const row of ["MCP tools/call", "token endpoint", "introspection", "page of skills"]) {
    test(`${row}: at least ${MIN_RATIO} of the speed of ${name}`, async () => {
      const [previous, current] = (await calls).map((each) => each.get(row)!);
      let ratio = await compareCosts(previous!, current!, FIRST);
      if (ratio < MIN_RATIO) ratio = await compareCosts(previous!, current!, AGAIN);
      assert.ok(ratio >= MIN_RATIO, `${row} has ${ratio.toFixed(2)} of the speed of ${name}`);
    });
  }

  test("a call that does half of its work twice is found", async () => {
    const call = (await calls)[1].get("token endpoint")!;
    let count = 0;
    const slower = async () => {
      await call();
      if (++count % 2 === 0) await call();
    };
    assert.ok(await compareCosts(call, slower, FIRST) < MIN_RATIO);
  });
}

test.run();
