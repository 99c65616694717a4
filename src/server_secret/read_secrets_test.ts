import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ServerSecrets } from "../crypto/server_secrets.ts";
import { listServerSecrets, rotateServerSecret } from "./rotate_secret.ts";
import { serverSecret } from "../server_secret.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";

const test = suite("server_secret/read_secrets");
const DAY = 86_400;

/** A store with a settable clock, and rotations whose pauses move it. */
function newStore() {
  let at = Date.UTC(2026, 0, 1);
  const advance = (seconds: number) => void (at += seconds * 1000);
  const store: Store = Object.assign(memoryStore({ now: () => at }), { now: () => at });
  const pause = (milliseconds: number) => Promise.resolve(advance(milliseconds / 1000));
  return { store, advance, pause };
}

const sameBytes = (a: Uint8Array, b: Uint8Array) =>
  a.length === b.length && a.every((each, i) => each === b[i]);
const accepts = ({ accepted }: ServerSecrets, secret: Uint8Array) =>
  accepted.some((each) => sameBytes(each, secret));

test("instances share the first secret, and a store of an earlier version keeps its own", async () => {
  const { store } = newStore();
  const [one, two] = await Promise.all([serverSecret(store)(), serverSecret(store)()]);
  assert.ok(sameBytes(one.current, two.current));
  assert.is(one.first, one.current);
  assert.is(one.accepted.length, 1);
  const old = newStore().store;
  const secret = new Uint8Array(32).fill(9);
  await old.commit({ set: [{ key: ["server_secret"], value: secret }] });
  assert.ok(sameBytes((await serverSecret(old)()).current, secret));
});

test("every instance accepts the new secret before one signs with it, and the old one for 30 days", async () => {
  const { store, advance, pause } = newStore();
  const instances = Array.from({ length: 3 }, () => serverSecret(store));
  const read = () => Promise.all(instances.map((find) => find()));
  // They read the store at different times.
  for (const find of instances) {
    await find();
    advance(3);
  }
  const old = (await read())[0]!.current;
  const rotation = rotateServerSecret(store, {
    async pause(milliseconds) {
      for (let elapsed = 0; elapsed < milliseconds; elapsed += 1000) {
        await pause(1000);
        for (const signed of await read()) {
          for (const secrets of await read()) assert.ok(accepts(secrets, signed.current), `${elapsed} ms`);
        }
      }
    },
  });
  const { id, isResumed } = await rotation;
  assert.is(isResumed, false);
  const current = (await read()).map((each) => each.current);
  assert.not.ok(sameBytes(current[0]!, old));
  assert.ok(current.every((each) => sameBytes(each, current[0]!)));
  assert.equal((await listServerSecrets(store)).map(({ state }) => state), ["previous", "current"]);
  assert.is((await listServerSecrets(store))[1]!.id, id);
  for (const secrets of await read()) assert.ok(sameBytes(secrets.first, old) && accepts(secrets, old));
  advance(30 * DAY - 30);
  for (const secrets of await read()) assert.ok(accepts(secrets, old));
  advance(31);
  for (const secrets of await read()) assert.is(accepts(secrets, old), false);
  for (const secrets of await read()) assert.ok(sameBytes(secrets.first, old));
  assert.equal((await listServerSecrets(store)).map(({ state }) => state), ["current"]);
});

test("with revokeOld every instance refuses all earlier secrets after the rotation", async () => {
  const { store, pause } = newStore();
  const instance = serverSecret(store);
  const first = (await instance()).current;
  await rotateServerSecret(store, { pause });
  const second = (await instance()).current;
  await rotateServerSecret(store, { pause, revokeOld: true });
  const secrets = await instance();
  assert.is(secrets.accepted.length, 1);
  assert.is(accepts(secrets, first) || accepts(secrets, second), false);
  assert.ok(sameBytes(secrets.first, first));
});

test("a rotation that was interrupted while it waited is finished by the next one", async () => {
  const { store, advance, pause } = newStore();
  const instance = serverSecret(store);
  const old = (await instance()).current;
  const crash = () => Promise.reject(new Error("killed"));
  const failure = await rotateServerSecret(store, { pause: crash }).catch((error) => error);
  assert.is(failure.message, "killed");
  advance(40 * DAY);
  const { current } = await instance();
  assert.not.ok(sameBytes(current, old));
  assert.ok(accepts(await instance(), old), "the old secret stays until a rotation has finished");
  const { isResumed, secrets } = await rotateServerSecret(store, { pause });
  assert.is(isResumed, true);
  assert.equal(secrets.map(({ state }) => state), ["previous", "current"]);
  assert.ok(sameBytes((await instance()).current, current));
});

test("of rotations at once, one adds a secret", async () => {
  const { store, advance } = newStore();
  // As in reality, the first one has not finished when the others notice it.
  const pause = async (milliseconds: number) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    advance(milliseconds / 1000);
  };
  const rotations = await Promise.all(Array.from({ length: 4 }, () => rotateServerSecret(store, { pause })));
  assert.is(new Set(rotations.map(({ id }) => id)).size, 1);
  assert.is((await listServerSecrets(store)).length, 2);
});

test("the store is read once in ten seconds, and what is known is used while it is unavailable", async () => {
  const { store, advance } = newStore();
  let lists = 0;
  let isDown = false;
  const counted: Store = Object.assign(Object.create(store), {
    get: store.get.bind(store),
    commit: store.commit.bind(store),
    list(...args: Parameters<Store["list"]>) {
      lists++;
      return isDown ? Promise.reject(new StoreUnavailableError("down")) : store.list(...args);
    },
  });
  const find = serverSecret(counted);
  const secrets = await find();
  for (let i = 0; i < 9; i++) {
    advance(1);
    assert.is(find(), secrets, "no promise, and the same object");
  }
  assert.is(lists, 1);
  isDown = true;
  advance(1);
  assert.is(await find(), secrets);
  assert.is(find(), secrets, "not asked again at once");
  assert.is(lists, 2);
  isDown = false;
  advance(1);
  assert.is(await find(), secrets);
  assert.is(lists, 3);
  advance(-3600);
  await find();
  assert.is(lists, 4, "a clock that was set back");
});

test.run();
