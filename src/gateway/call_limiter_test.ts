import { suite } from "uvu";
import * as assert from "uvu/assert";
import { BusyError, CallLimiter } from "./call_limiter.ts";

const test = suite("gateway/call_limiter");
const { signal } = new AbortController();
const anonymous = () => "";

/** The class of the error of a rejected promise. */
const failureOf = (promise: Promise<unknown> | undefined) =>
  promise!.then(() => undefined, (error: Error) => error.name);

test("calls wait in order, up to a limit", async () => {
  const limiter = new CallLimiter(1, 2, 10_000);
  assert.is(limiter.enter({ signal }, anonymous), undefined);
  const entered: number[] = [];
  const first = limiter.enter({ signal }, anonymous)!.then(() => entered.push(1));
  const second = limiter.enter({ signal }, anonymous)!.then(() => entered.push(2));
  assert.is(await failureOf(limiter.enter({ signal }, anonymous)), "BusyError");
  limiter.leave();
  await first;
  assert.equal([entered, limiter.running, limiter.waiting], [[1], 1, 1]);
  limiter.leave();
  await second;
  limiter.leave();
  assert.equal([entered, limiter.running, limiter.waiting], [[1, 2], 0, 0]);
});

test("attack: users take turns, so the many calls of one do not keep back a call of another", async () => {
  const limiter = new CallLimiter(1, 8, 10_000);
  const entered: string[] = [];
  const enter = async (name: string, user: string): Promise<void> => {
    await limiter.enter({ signal }, () => user);
    entered.push(name);
  };
  const calls = [1, 2, 3, 4, 5].map((call) => enter(`ada ${call}`, "ada"));
  assert.is(
    await failureOf(limiter.enter({ signal }, () => "ada")),
    "BusyError",
    "half may be of one user",
  );
  calls.push(enter("bob 1", "bob"), enter("bob 2", "bob"));
  assert.is(limiter.waiting, 6);
  for (let call = 0; call < calls.length; call++) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    limiter.leave();
  }
  await Promise.all(calls);
  assert.equal(entered, ["ada 1", "ada 2", "bob 1", "ada 3", "bob 2", "ada 4", "ada 5"]);
  assert.equal([limiter.running, limiter.waiting], [0, 0]);
});

test("a call waits for some time only, and not when it is cancelled", async () => {
  const limiter = new CallLimiter(1, 5, 10);
  limiter.enter({ signal }, anonymous);
  assert.is(await failureOf(limiter.enter({ signal }, anonymous)), BusyError.name);
  const controller = new AbortController();
  const waiting = failureOf(limiter.enter({ signal: controller.signal }, anonymous));
  controller.abort();
  assert.is(await waiting, "AbortError");
  assert.is(limiter.waiting, 0);
});

test("a place that becomes free while a waiting call is cancelled stays free", async () => {
  const limiter = new CallLimiter(1, 5, 10_000);
  limiter.enter({ signal }, anonymous);
  const controller = new AbortController();
  const cancelled = failureOf(limiter.enter({ signal: controller.signal }, anonymous));
  controller.abort();
  limiter.leave();
  assert.is(await cancelled, "AbortError");
  assert.equal([limiter.running, limiter.waiting], [0, 0]);
});

test("a call that comes back may exceed the limit, and its place is not passed on", async () => {
  const limiter = new CallLimiter(1, 5, 10_000);
  limiter.enter({ signal }, anonymous);
  limiter.leave();
  limiter.enter({ signal }, anonymous);
  limiter.enterAgain();
  assert.is(limiter.running, 2);
  const waiting = limiter.enter({ signal }, anonymous)!;
  limiter.leave();
  assert.equal([limiter.running, limiter.waiting], [1, 1]);
  limiter.leave();
  await waiting;
  limiter.leave();
  assert.is(limiter.running, 0);
});

test.run();
