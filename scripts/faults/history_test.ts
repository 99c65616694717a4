import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  type Call,
  type FinalState,
  findViolations,
  History,
  type Operation,
  type ViolationCode,
} from "./history.ts";

const test = suite("faults/history: the checker finds violations");

let clock = 0;
/** An operation that begins after all before it have ended. */
function op(call: Call, outcome: Operation["outcome"], result?: Operation["result"]): Operation {
  clock += 10;
  return {
    call,
    client: 0,
    instance: 0,
    invoked: clock,
    completed: clock + 5,
    outcome,
    ...(result && { result }),
  };
}

const redeem = (outcome: Operation["outcome"], n: string = "1") =>
  op(
    { type: "redeem", code: "c" },
    outcome,
    outcome === "ok" ? { access: `a${n}`, refresh: `r${n}` } : undefined,
  );
const refresh = (token: string, outcome: Operation["outcome"], n: string) =>
  op(
    { type: "refresh", family: "c", token },
    outcome,
    outcome === "ok" ? { access: `a${n}`, refresh: `r${n}` } : undefined,
  );
const revoke = (outcome: Operation["outcome"]) => op({ type: "revoke", family: "c", token: "r1" }, outcome);
const introspect = (active: boolean) => op({ type: "check", family: "c", token: "a1" }, "ok", { active });
const publish = (outcome: Operation["outcome"]) =>
  op({ type: "publish", name: "n", content: "x" }, outcome, outcome === "ok" ? { id: "s" } : undefined);

async function check(operations: Operation[], active: string[], skill?: string): Promise<ViolationCode[]> {
  const history = new History();
  history.operations.push(...operations);
  const final: FinalState = {
    isActive: async (token) => active.includes(token),
    readSkill: async () => skill,
  };
  return (await findViolations(history, final)).map(({ code }) => code);
}

test("a history without violations", async () => {
  assert.equal(
    await check(
      [
        redeem("ok"),
        introspect(true),
        refresh("r1", "unknown", "2"),
        refresh("r1", "ok", "2"),
        publish("ok"),
      ],
      ["a1", "a2", "r2"],
      "x",
    ),
    [],
  );
  assert.equal(
    await check([redeem("ok"), revoke("ok"), introspect(false), refresh("r1", "refused", "")], []),
    [],
  );
  assert.equal(
    await check([redeem("ok"), revoke("unknown"), introspect(true)], []),
    [],
    "a revocation of unknown outcome",
  );
});

const BROKEN: [string, () => Operation[], string[], string | undefined, ViolationCode][] = [
  [
    "a code redeemed twice",
    () => [redeem("ok"), redeem("ok", "2")],
    [],
    undefined,
    "code_redeemed_twice",
  ],
  [
    "a refresh token rotated to two different tokens",
    () => [redeem("ok"), refresh("r1", "ok", "2"), refresh("r1", "ok", "3")],
    ["a1", "a2", "a3", "r3"],
    undefined,
    "rotated_twice",
  ],
  [
    "two live refresh tokens",
    () => [redeem("ok"), refresh("r1", "ok", "2")],
    ["a1", "a2", "r1", "r2"],
    undefined,
    "two_live_refresh_tokens",
  ],
  [
    "active after revocation",
    () => [redeem("ok"), revoke("ok"), introspect(true)],
    [],
    undefined,
    "active_after_revocation",
  ],
  [
    "rotated after revocation",
    () => [redeem("ok"), revoke("ok"), refresh("r1", "ok", "2")],
    [],
    undefined,
    "rotated_after_revocation",
  ],
  [
    "a revocation undone",
    () => [redeem("ok"), revoke("ok")],
    ["a1"],
    undefined,
    "revoked_access_token_active",
  ],
  ["a lost access token", () => [redeem("ok")], ["r1"], undefined, "access_token_lost"],
  ["a lost refresh token", () => [redeem("ok")], ["a1"], undefined, "refresh_token_lost"],
  ["a lost skill", () => [publish("ok")], [], undefined, "skill_lost"],
  ["a damaged skill", () => [publish("ok")], [], "y", "skill_damaged"],
  [
    "a skill read in part",
    () => [publish("ok"), op({ type: "read", id: "s" }, "ok", { content: "" })],
    [],
    "x",
    "skill_partial",
  ],
  [
    "a skill not found",
    () => [publish("ok"), op({ type: "read", id: "s" }, "refused")],
    [],
    "x",
    "skill_not_found",
  ],
  [
    "a deletion undone",
    () => [publish("ok"), op({ type: "delete", id: "s" }, "ok")],
    [],
    "x",
    "skill_not_deleted",
  ],
];

for (const [name, operations, active, skill, expected] of BROKEN) {
  test(`found: ${name}`, async () => {
    assert.equal(await check(operations(), active, skill), [expected]);
  });
}

test("an operation that throws is recorded as unknown", async () => {
  const history = new History();
  await history.record(1, 2, { type: "read", id: "s" }, () => Promise.reject(new Error("cut")));
  assert.is(history.operations[0]!.outcome, "unknown");
  assert.is(history.summary(), "1 operations: read 1 unknown");
});

test.run();
