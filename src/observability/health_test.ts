import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";
import { createHealth } from "./health.ts";

const test = suite("health");

const SECRET = "/var/secret/trivet.db";
const full = (): Promise<never> => Promise.reject(new StoreUnavailableError(`no space at ${SECRET}`));

/** Health checks of a store whose calls can be replaced, and a clock that `tick` advances. */
function setUp() {
  const inner = memoryStore();
  const faults: { get?: () => Promise<never>; commit?: () => Promise<never> } = {};
  let commits = 0;
  let time = 0;
  const store: Store = {
    guarantees: inner.guarantees,
    get: (key) => faults.get?.() ?? inner.get(key),
    list: (prefix, options) => inner.list(prefix, options),
    commit: (commit) => {
      commits++;
      return faults.commit?.() ?? inner.commit(commit);
    },
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  const errors: unknown[] = [];
  const health = createHealth(store, { monotonic: () => time, onError: (error) => errors.push(error) });
  const ready = async () => {
    const response = (await health.answer("/readyz"))!;
    assert.not.ok((await response.clone().text()).includes(SECRET));
    return [response.status, await response.text()];
  };
  return {
    health,
    faults,
    errors,
    inner,
    ready,
    tick: (ms: number) => void (time += ms),
    commits: () => commits,
  };
}

const READY = [200, "ready"];
const REFUSED = [503, "the store does not accept writes"];

test("a store that refuses writes is not ready, without its error in the answer, until it accepts them", async () => {
  const { faults, errors, health, ready, tick } = setUp();
  faults.commit = full;
  assert.equal(await ready(), REFUSED);
  assert.is(errors.length, 1);
  assert.is((await health.answer("/healthz"))!.status, 200);
  delete faults.commit;
  tick(1000);
  assert.equal(await ready(), READY);
});

test("a write is tried every 10 seconds, and every second while it fails", async () => {
  const { faults, ready, tick, commits } = setUp();
  for (let i = 0; i < 5; i++) assert.equal(await ready(), READY);
  assert.is(commits(), 1);
  faults.commit = full;
  tick(9999);
  assert.equal(await ready(), READY);
  tick(1);
  for (let i = 0; i < 5; i++) assert.equal(await ready(), REFUSED);
  assert.is(commits(), 2);
  tick(1000);
  assert.equal(await ready(), REFUSED);
  assert.is(commits(), 3);
});

test("after a commit that failed elsewhere, the next check tries a write", async () => {
  const { faults, health, ready, tick } = setUp();
  assert.equal(await ready(), READY);
  faults.commit = full;
  tick(1000);
  assert.equal(await ready(), READY);
  health.doubtWrites();
  assert.equal(await ready(), REFUSED);
});

test("concurrent checks share one write, and all writes one record", async () => {
  const { inner, ready, tick, commits } = setUp();
  assert.equal(await Promise.all([ready(), ready(), ready()]), [READY, READY, READY]);
  assert.is(commits(), 1);
  tick(10_000);
  assert.equal(await ready(), READY);
  assert.is(commits(), 2);
  assert.equal((await inner.list([])).map(({ key }) => key), [["health"]]);
});

test("a store that cannot be read, or never ends a write, does not answer", async () => {
  const { faults, ready, commits } = setUp();
  faults.get = full;
  assert.equal(await ready(), [503, "the store does not answer"]);
  assert.is(commits(), 0);
  delete faults.get;
  faults.commit = () => new Promise(() => {});
  assert.equal(await Promise.all([ready(), ready()]), [
    [503, "the store does not answer"],
    [503, "the store does not answer"],
  ]);
  assert.is(commits(), 1);
});

test("a write that never ends, as that of a request that ended on workerd, is given up after 10 seconds", async () => {
  const { faults, ready, tick, commits } = setUp();
  let end = () => {};
  faults.commit = () => new Promise((_, reject) => end = () => reject(new StoreUnavailableError("late")));
  assert.equal(await ready(), [503, "the store does not answer"]);
  delete faults.commit;
  tick(10_000);
  assert.equal(await ready(), READY);
  assert.is(commits(), 2);
  end();
  tick(1000);
  assert.equal(await ready(), READY, "its late answer says nothing of the later write");
  assert.is(commits(), 2);
});

test("an error that onError throws reaches the caller, and does not end the process", async () => {
  const store = Object.assign(memoryStore(), { commit: full });
  const health = createHealth(store, {
    onError: (error) => {
      throw error;
    },
  });
  assert.instance(await health.answer("/readyz").catch((error) => error), StoreUnavailableError);
  // An unhandled rejection would end it now.
  await new Promise((resolve) => setTimeout(resolve, 0));
});

test("draining comes first", async () => {
  const { health, ready } = setUp();
  health.drain();
  assert.equal(await ready(), [503, "draining"]);
});

test.run();
