import { suite } from "uvu";
import * as assert from "uvu/assert";
import { DAY_MS, newTrail } from "./test_audit.ts";

const test = suite("observability/failure_budget");

test("a flood of failures by one caller becomes a few records and a sum", async () => {
  const trail = newTrail();
  for (let i = 0; i < 5000; i++) trail.audit.add({ type: "login_failed", username: "u", ip: "192.0.2.1" });
  trail.audit.add({ type: "login_failed", username: "u", ip: "192.0.2.2" });
  await trail.audit.close();
  const records = await trail.all();
  assert.is(records.length, 7);
  assert.equal(records.at(-1)!.fields["count"], 4995);
});

test("a flood of refused passkeys, for which nobody needs an account, is bounded too", async () => {
  const trail = newTrail();
  for (let i = 0; i < 5000; i++) trail.audit.add({ type: "passkey_refused", ip: "192.0.2.1" });
  await trail.audit.close();
  const counts = (await trail.all()).map(({ fields }) => fields["count"]);
  assert.equal(counts, [...Array(5).fill(undefined), 4995]);
});

test("a flood by many callers is bounded in a minute, and all of it is counted", async () => {
  const trail = newTrail();
  for (let i = 0; i < 5000; i++) {
    trail.audit.add({ type: "login_failed", username: "u", ip: `2001:db8::${i}` });
  }
  await trail.audit.close();
  const records = await trail.all();
  assert.ok(records.length < 1100, String(records.length));
  const sum = records.reduce((total, { fields }) => total + Number(fields["count"] ?? 1), 0);
  assert.is(sum, 5000);
});

test("failures get records of their own after the clock was set back", async () => {
  const trail = newTrail();
  const fail = () => trail.audit.add({ type: "login_failed", username: "u", ip: "192.0.2.1" });
  for (let i = 0; i < 8; i++) fail();
  trail.pass(-DAY_MS);
  for (let i = 0; i < 3; i++) fail();
  await trail.audit.close();
  const counts = (await trail.all()).map(({ fields }) => fields["count"]);
  // Five and three records, and one for three that were counted.
  assert.equal(counts.toSorted(), [3, ...Array(8).fill(undefined)]);
});

test.run();
