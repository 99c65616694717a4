import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../../../http/principal.ts";
import { UpstreamFailure } from "../failure.ts";
import { callContext } from "../test_scripted_client.ts";
import { HeldCall, HeldCalls } from "./held_calls.ts";

const test = suite("gateway/upstream/held_calls");

const userOf = (subject: string, client = "app"): Principal => ({
  subject,
  client,
  scopes: new Set(),
  workspace: "default",
});

/** Holds so many calls, and returns those that are held: the others were refused and cancelled. */
function hold(held: HeldCalls, count: number, principal: Principal | undefined): HeldCall[] {
  const calls: HeldCall[] = [];
  for (let i = 0; i < count; i++) {
    let signal: AbortSignal | undefined;
    const call = new HeldCall(callContext(undefined, principal), (given) => {
      signal = given;
      return new Promise(() => {});
    });
    try {
      held.hold(call);
      calls.push(call);
    } catch (error) {
      assert.instance(error, UpstreamFailure);
      assert.ok(signal!.aborted);
    }
  }
  return calls;
}

test("attack: one user, by whichever client, cannot hold all calls of a session that users share", () => {
  const held = new HeldCalls(60_000);
  assert.is(hold(held, 40, userOf("ada")).length, 40);
  const [call] = hold(held, 40, userOf("ada", "other"));
  assert.is(held.size, 64);
  held.hold(call!);
  assert.is(held.size, 64, "a call that is held again");
  assert.is(hold(held, 1, userOf("bob")).length, 1);
  assert.is(held.take(call!.id), call);
  assert.is(hold(held, 2, userOf("ada")).length, 1);
  held.close();
  assert.is(held.size, 0);
});

test("anonymous callers hold at most 256 together", () => {
  const held = new HeldCalls(60_000);
  assert.is(hold(held, 300, undefined).length, 256);
  assert.is(hold(held, 1, userOf("ada")).length, 0);
  held.close();
});

test.run();
