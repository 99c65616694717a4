/**
 * The runner in Python gives the same verdicts as the reference runner on Trivet over HTTP.
 *
 * @module
 */
import { suite } from "uvu";
import { WHOLE_KIT } from "../targets/test_replay.ts";
import { compare, hasPython, note, served } from "./test_compare.ts";

const test = suite("conformance/runners: Trivet");

(hasPython ? test : test.skip)(`Trivet over HTTP${note}`, async () => {
  await compare(WHOLE_KIT, served, 1180, 0);
});

test.run();
