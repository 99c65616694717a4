import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { useOnce } from "./replay.ts";

const test = suite("oauth/replay");
const MAX_REMEMBERED = 100_000;

test("without a store a full memory refuses new proofs and keeps the earlier ones", async () => {
  const server = { now: Date.now };
  const expires = Date.now() + 180_000;
  for (let n = 0; n < MAX_REMEMBERED; n++) assert.ok(await useOnce(server, "dpop", `${n}`, expires));
  const error = await useOnce(server, "dpop", "one more", expires).catch((thrown) => thrown);
  assert.instance(error, StoreUnavailableError);
  assert.is(await useOnce(server, "dpop", "0", expires), false);
});

test("without a store a proof is forgotten after it has expired", async () => {
  const server = { now: Date.now };
  assert.ok(await useOnce(server, "dpop", "a", Date.now() + 500));
  assert.is(await useOnce(server, "dpop", "a", Date.now() + 500), false);
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.ok(await useOnce(server, "dpop", "a", Date.now() + 500));
});

test("with a store a proof is accepted by exactly one of several instances", async () => {
  const store = memoryStore();
  const [one, two] = [{ now: Date.now, store }, { now: Date.now, store }];
  const all = await Promise.all(
    [one, two, one, two].map((each) => useOnce(each, "dpop", "a", Date.now() + 9000)),
  );
  assert.is(all.filter((each) => each).length, 1);
});

test.run();
