import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Commit } from "../store/store.ts";
import { createAudit, digestOf } from "./audit.ts";
import { filled, given, groupsOf, newTrail } from "./test_audit.ts";

import type { AuditVerification } from "./verify_audit.ts";

const test = suite("observability/verify_audit");

/** Changes the record with this number where it is. */
const inRecord = (number: number, change: (line: string) => string[]) => (groups: string[]): string[] =>
  groups.map((text) =>
    text.split("\n").flatMap((line) => line.startsWith(`{"number":${number},`) ? change(line) : [line]).join(
      "\n",
    )
  );

/** Groups: records 1 and 2, 3 and 4, 5. */
const tampering: Record<string, (groups: string[]) => string[] | Promise<string[]>> = {
  "a changed record": inRecord(3, (line) => [line.replace("user_3", "user_9")]),
  "a changed last record": inRecord(5, (line) => [line.replace("user_5", "user_9")]),
  "a record that was removed": inRecord(3, () => []),
  "a record twice": inRecord(3, (line) => [line, line]),
  "two records exchanged": ([a, b, c]) => [a!, b!.replace(/^(.*)\n(.*)\n(.*)$/, "$1\n$3\n$2"), c!],
  "the first records removed": (groups) => groups.slice(1),
  "records in the middle removed": (groups) => groups.toSpliced(1, 1),
  "the last record removed": (groups) => groups.slice(0, -1),
  "two groups exchanged": ([a, b, c]) => [a!, c!, b!],
  "records of another trail": async (groups) => {
    const other = newTrail();
    for (const user of ["w", "x", "y", "z"]) {
      other.audit.add(given(user));
      if (user === "x") await other.audit.flush();
    }
    await other.audit.close();
    return groups.toSpliced(1, 1, (await groupsOf(other))[1]!);
  },
  "a text that is no JSON": (groups) => groups.toSpliced(1, 1, "x"),
  "a group without records": (groups) => groups.map((text, i) => i === 1 ? text.split("\n")[0]! : text),
  "everything removed": () => [],
};
for (const [name, tamper] of Object.entries(tampering)) {
  test(`verification finds ${name}`, async () => {
    const trail = await filled(5);
    assert.ok((await trail.verify()).valid);
    const texts = await tamper(await groupsOf(trail));
    const stored = await trail.store.list(["audit"]);
    await trail.store.commit({
      remove: stored.map(({ key }) => key),
      set: texts.map((text, i) => ({ key: ["audit", i + 1], value: new TextEncoder().encode(text) })),
    });
    assert.not.ok((await trail.verify()).valid);
  });
}

test("verification finds a head that was removed, and later records go on after the last one", async () => {
  const trail = await filled(5);
  await trail.store.commit({ remove: [["audit_head"]] });
  assert.not.ok((await trail.verify()).valid);
  const later = createAudit({ store: trail.store, now: trail.now });
  later.add(given("user_6"));
  await later.close();
  assert.equal((await trail.all()).map(({ number }) => number), [1, 2, 3, 4, 5, 6]);
});

test("a trail that was written anew is found by a record that was noted before", async () => {
  const trail = await filled(5);
  const result = await trail.verify();
  assert.ok(result.valid);
  const noted = result.last!;
  const other = newTrail();
  for (let i = 0; i < 6; i++) other.audit.add(given("someone else"));
  await other.audit.close();
  assert.ok((await other.verify()).valid);
  assert.not.ok((await other.verify({ noted })).valid);
  assert.ok((await trail.verify({ noted })).valid);
});

type Verified = Extract<AuditVerification, { valid: true }>;
/** Of a trail that is not empty. */
type Valid = { readonly last: NonNullable<Verified["last"]> };

test("a trail that was emptied, or begun again after the noted record, is found by what was noted", async () => {
  const trail = await filled(5);
  const { last } = await trail.verify() as Valid;
  const forged = new TextEncoder().encode(
    `${
      JSON.stringify({ previous: last.digest, previousTime: 0, previousExpires: 0 })
    }\n{"number":6,"time":0}`,
  );
  const head = { number: 6, digest: await digestOf(forged), time: 0, expires: 0 };
  const writes: Record<string, Commit["set"]> = {
    emptied: [{ key: ["audit_head"], value: { ...head, number: last.number, digest: last.digest } }],
    "begun again": [{ key: ["audit_head"], value: head }, { key: ["audit", 6], value: forged }],
  };
  for (const [name, set] of Object.entries(writes)) {
    const stored = await trail.store.list(["audit"]);
    await trail.store.commit({ remove: stored.map(({ key }) => key) });
    await trail.store.commit({ set: set! });
    assert.ok((await trail.verify()).valid, `${name}: the trail alone does not show it`);
    assert.not.ok((await trail.verify({ noted: last })).valid, name);
    const { expires: _, ...withoutTime } = last;
    assert.not.ok((await trail.verify({ noted: withoutTime })).valid, `${name}, by a note without its time`);
  }
});

test("a noted record that has expired since may be missing", async () => {
  const trail = await filled(5);
  const { last: noted } = await trail.verify() as Valid;
  const stored = await trail.store.list(["audit"]);
  await trail.store.commit({ remove: stored.map(({ key }) => key) });
  assert.not.ok((await trail.verify({ noted, now: noted.expires - 1 })).valid);
  assert.ok((await trail.verify({ noted, now: noted.expires })).valid);
});

test.run();
