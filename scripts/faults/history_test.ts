import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Asked, type FinalState, findViolations, History, type Operation } from "./history.ts";

const test = suite("faults/history: the checker sees what it is there for");

let clock = 0;
/** An operation that begins after all before it have ended. */
function op(asked: Asked, outcome: Operation["outcome"], heard?: Operation["heard"]): Operation {
  clock += 10;
  return {
    asked,
    client: 0,
    instance: 0,
    invoked: clock,
    completed: clock + 5,
    outcome,
    ...(heard && { heard }),
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
const check = (active: boolean) => op({ type: "check", family: "c", token: "a1" }, "ok", { active });
const publish = (outcome: Operation["outcome"]) =>
  op({ type: "publish", name: "n", content: "x" }, outcome, outcome === "ok" ? { id: "s" } : undefined);

async function judge(operations: Operation[], active: string[], skill?: string): Promise<string[]> {
  const history = new History();
  history.operations.push(...operations);
  const final: FinalState = {
    isActive: async (token) => active.includes(token),
    readSkill: async () => skill,
  };
  return await findViolations(history, final);
}

test("a history that keeps every promise", async () => {
  assert.equal(
    await judge(
      [redeem("ok"), check(true), refresh("r1", "unknown", "2"), refresh("r1", "ok", "2"), publish("ok")],
      ["a1", "a2", "r2"],
      "x",
    ),
    [],
  );
  assert.equal(await judge([redeem("ok"), revoke("ok"), check(false), refresh("r1", "refused", "")], []), []);
  assert.equal(
    await judge([redeem("ok"), revoke("unknown"), check(true)], []),
    [],
    "a revocation nobody heard of",
  );
});

const BROKEN: [string, () => Operation[], string[], string | undefined, string][] = [
  [
    "a code redeemed twice",
    () => [redeem("ok"), redeem("ok", "2")],
    [],
    undefined,
    "a code was redeemed twice: c",
  ],
  [
    "two descendants",
    () => [redeem("ok"), refresh("r1", "ok", "2"), refresh("r1", "ok", "3")],
    ["a1", "a2", "a3", "r3"],
    undefined,
    "a refresh token has two descendants",
  ],
  [
    "two live refresh tokens",
    () => [redeem("ok"), refresh("r1", "ok", "2")],
    ["a1", "a2", "r1", "r2"],
    undefined,
    "a family has 2 live refresh tokens",
  ],
  [
    "active after revocation",
    () => [redeem("ok"), revoke("ok"), check(true)],
    [],
    undefined,
    "a token was active 5.0 ms after its revocation was acknowledged, on instance 0",
  ],
  [
    "rotated after revocation",
    () => [redeem("ok"), revoke("ok"), refresh("r1", "ok", "2")],
    [],
    undefined,
    "a refresh token was good 5.0 ms after its revocation was acknowledged, on instance 0",
  ],
  [
    "a revocation undone",
    () => [redeem("ok"), revoke("ok")],
    ["a1"],
    undefined,
    "a revoked token is alive in the end",
  ],
  ["a lost access token", () => [redeem("ok")], ["r1"], undefined, "an acknowledged access token is lost"],
  ["a lost refresh token", () => [redeem("ok")], ["a1"], undefined, "an acknowledged refresh token is lost"],
  ["a lost skill", () => [publish("ok")], [], undefined, "skill s is lost in the end"],
  ["a damaged skill", () => [publish("ok")], [], "y", "skill s is damaged in the end"],
  [
    "a skill read in part",
    () => [publish("ok"), op({ type: "read", id: "s" }, "ok", { content: "" })],
    [],
    "x",
    "skill s was read in part",
  ],
  [
    "a skill not found",
    () => [publish("ok"), op({ type: "read", id: "s" }, "refused")],
    [],
    "x",
    "skill s was not found after its upload was acknowledged",
  ],
  [
    "a deletion undone",
    () => [publish("ok"), op({ type: "delete", id: "s" }, "ok")],
    [],
    "x",
    "skill s is there in the end, though its deletion was acknowledged",
  ],
];

for (const [name, operations, active, skill, expected] of BROKEN) {
  test(`found: ${name}`, async () => {
    assert.equal(await judge(operations(), active, skill), [expected]);
  });
}

test("what throws is recorded as unknown", async () => {
  const history = new History();
  await history.record(1, 2, { type: "read", id: "s" }, () => Promise.reject(new Error("cut")));
  assert.is(history.operations[0]!.outcome, "unknown");
  assert.is(history.summary(), "1 operations: read 1 unknown");
});

test.run();
