import { suite } from "uvu";
import * as assert from "uvu/assert";
import { StoreUnavailableError } from "../../store/store.ts";
import { retryWhileUnavailable } from "./retry_while_unavailable.ts";

const test = suite("mcp/retry_while_unavailable");

test("work is retried until the store is available", async () => {
  let tries = 0;
  let attempts = 0;
  const work = async () => {
    if (++tries < 3) throw new StoreUnavailableError("down");
    return "done";
  };
  assert.is(await retryWhileUnavailable(work, () => attempts++), "done");
  assert.is(tries, 3);
  assert.is(attempts, 3);
});

test("any other error is thrown at once", async () => {
  let tries = 0;
  const work = async () => {
    tries++;
    throw new TypeError("wrong");
  };
  assert.instance(await retryWhileUnavailable(work).catch((error) => error), TypeError);
  assert.is(tries, 1);
});

test.run();
