import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toTimes } from "./times.ts";

const test = suite("times of test files");
const FILE = "src/a_test.ts";
const of = (seconds: number, processor = 0) => ({ file: FILE, seconds, processor });

test("a run on a loaded machine does not raise a known time", () => {
  assert.equal(toTimes([of(20, 2)], { [FILE]: 4 }), { [FILE]: 4 });
});

test("a faster run lowers it, and a run with more work raises it", () => {
  assert.equal(toTimes([of(2, 1)], { [FILE]: 4 }), { [FILE]: 2 });
  assert.equal(toTimes([of(20, 9)], { [FILE]: 4 }), { [FILE]: 9 });
});

test("the longest of several runtimes counts for a file that is not known", () => {
  assert.equal(toTimes([of(2, 1), of(5, 1)], {}), { [FILE]: 5 });
});

test("a file below a second is left out, and one that did not run stays", () => {
  assert.equal(toTimes([of(0.4)], { [FILE]: 3, "src/b_test.ts": 7 }), { "src/b_test.ts": 7 });
});

test.run();
