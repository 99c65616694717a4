/**
 * The results in the README of the tests of clients are those of the data beside each client.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  findChanges,
  listClients,
  readResultTable,
  readSavedResult,
  toResultTable,
} from "./client_results.ts";

const test = suite("results of clients");

test("the table in the README is that of the stored results", () => {
  assert.is(readResultTable(), toResultTable().trim());
});

test("a scenario with another outcome is a change", () => {
  const saved = readSavedResult(listClients()[0]!);
  assert.equal(findChanges(saved, saved), []);
  const now = { ...saved, failures: { ...saved.failures, "oauth/callback/example": { outcome: "fail" } } };
  assert.equal(findChanges(saved, now), ["oauth/callback/example (pass or skip, now fail)"]);
});

test.run();
