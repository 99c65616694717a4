import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readJws, signJws, verifyJws } from "../../crypto/jws.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { newServer } from "../test_server.ts";
import { listSigningKeys, rotateSigningKeys } from "./rotate_signing_keys.ts";
import { createSigningKeys, type SigningKeys } from "./signing_keys.ts";

const test = suite("oauth/rotate_signing_keys");
const DAY = 86_400;

/** Three instances on one store with a settable clock. */
function newInstances() {
  let at = Date.UTC(2026, 0, 1);
  const now = () => at;
  const store: Store = Object.assign(memoryStore({ now }), { now });
  const options = { signingKeyLifetime: 90 * DAY, signingKeyNotice: DAY, maxTokenLifetime: 7200 };
  const open = () => createSigningKeys({ store, now, signingAlgorithms: ["ES256"], ...options });
  return {
    store,
    instances: [open(), open(), open()],
    advance: (seconds: number) => void (at += seconds * 1000),
  };
}

const sign = async (keys: SigningKeys) => await signJws(await keys.current(), "at+jwt", { a: 1 });
const kidOf = (token: string) => readJws(token)!.header.kid as string;
async function isAccepted(keys: SigningKeys, token: string): Promise<boolean> {
  const key = await keys.find(kidOf(token));
  return key !== undefined && await verifyJws(key, "at+jwt", token) !== undefined;
}
const states = async (store: Store) => (await listSigningKeys(store)).map(({ state }) => state);

test("the new key is published by every instance long before one signs with it, and no token is refused", async () => {
  const { store, instances, advance } = newInstances();
  const first = kidOf(await sign(instances[0]!));
  const [key] = await listSigningKeys(store);
  assert.equal([key!.kid, key!.state, key!.expires], [first, "current", undefined]);
  assert.equal(
    await rotateSigningKeys(store),
    await rotateSigningKeys(store),
    "the next key is there already",
  );
  assert.equal(await states(store), ["current", "next"]);
  advance(61);
  for (const keys of instances) {
    assert.is((await keys.publish()).keys.length, 2);
    assert.is(kidOf(await sign(keys)), first);
  }
  advance(DAY - 70);
  const tokens: string[] = [];
  for (let seconds = 0; seconds < 120; seconds++) {
    advance(1);
    const signing = instances[seconds % 3]!;
    tokens.push(await sign(signing));
    for (const keys of instances) assert.ok(await isAccepted(keys, tokens.at(-1)!));
  }
  assert.is(new Set(tokens.map(kidOf)).size, 2);
  assert.is.not(kidOf(tokens.at(-1)!), first);
  assert.equal(await states(store), ["retired", "current"]);
  advance(7200);
  for (const keys of instances) assert.ok(await isAccepted(keys, tokens[0]!), "as long as a token is valid");
  advance(3600);
  assert.equal(await states(store), ["current"]);
  for (const keys of instances) assert.is(await isAccepted(keys, tokens[0]!), false);
});

test("with a notice of 0 every instance accepts the new key at once, also just after it read the keys", async () => {
  const { store, instances, advance } = newInstances();
  const old = await sign(instances[0]!);
  for (const keys of instances) await keys.publish();
  advance(1);
  await rotateSigningKeys(store, { notice: 0 });
  advance(60);
  await instances[1]!.publish();
  const token = await sign(instances[1]!);
  assert.is.not(kidOf(token), kidOf(old));
  for (const keys of instances) {
    assert.ok(await isAccepted(keys, token));
    assert.ok(await isAccepted(keys, old));
  }
  for (const keys of instances) assert.is(kidOf(await sign(keys)), kidOf(token));
});

test("a token of a new key is accepted by an instance that has read the keys a second before it was made", async () => {
  const { store, instances: [one, two], advance } = newInstances();
  await sign(one!);
  advance(61);
  await two!.publish();
  advance(1);
  await rotateSigningKeys(store, { notice: 0 });
  await one!.publish();
  assert.ok(await isAccepted(two!, await sign(one!)));
});

test("with a notice of 0 a key that is published already signs, instead of another one", async () => {
  const { store, instances: [keys], advance } = newInstances();
  await sign(keys!);
  const [, next] = await rotateSigningKeys(store);
  const [, now] = await rotateSigningKeys(store, { notice: 0 });
  assert.equal([now!.kid, now!.state], [next!.kid, "current"]);
  advance(61);
  assert.is(kidOf(await sign(keys!)), next!.kid);
});

test("with revokeOld no instance accepts a token of an earlier key after a minute, and all sign with the new one", async () => {
  const { store, instances, advance } = newInstances();
  const old = await sign(instances[0]!);
  for (const keys of instances) assert.ok(await isAccepted(keys, old));
  await rotateSigningKeys(store);
  const [key, ...others] = await rotateSigningKeys(store, { revokeOld: true });
  assert.equal([key!.state, others], ["current", []], "the next key may be known, too");
  advance(60);
  for (const keys of instances) {
    assert.is(await isAccepted(keys, old), false);
    assert.is(kidOf(await sign(keys)), key!.kid);
    assert.equal((await keys.publish()).keys.length, 1);
  }
});

test("attack: a revoked key does not come back when an instance that read it before finds the next key due", async () => {
  const { store, instances: [behind, other], advance } = newInstances();
  const old = await sign(behind!);
  advance(89 * DAY - 20);
  await behind!.current();
  advance(21);
  await other!.current();
  assert.equal(await states(store), ["current", "next"]);
  const revoked = await rotateSigningKeys(store, { revokeOld: true });
  await behind!.current();
  assert.equal(await listSigningKeys(store), revoked);
  advance(61);
  for (const keys of [behind!, other!]) {
    assert.is(await isAccepted(keys, old), false);
    assert.is(kidOf(await sign(keys)), revoked[0]!.kid);
  }
});

test("rotations at once add one key, and one for an algorithm that the server does not have is refused", async () => {
  const { store, instances: [keys] } = newInstances();
  await sign(keys!);
  await Promise.all(Array.from({ length: 5 }, () => rotateSigningKeys(store)));
  assert.equal(await states(store), ["current", "next"]);
  const failure = await rotateSigningKeys(store, { algorithms: ["RS256"] }).catch((error) => error);
  assert.instance(failure, TypeError);
  assert.equal(await rotateSigningKeys(memoryStore()), []);
});

test("a server accepts its access tokens across a rotation, and not after one that revokes the old keys", async () => {
  const server = await newServer({ accessTokenFormat: "jwt" });
  const tokenOf = async () => (await server.tokens({ scope: "profile" })).access_token!;
  const access_token = await tokenOf();
  const ask = async (token: string) =>
    (await server.send("/api/user", { headers: { authorization: `Bearer ${token}` } })).status;
  await rotateSigningKeys(server.store, { notice: 0 });
  server.advance(61);
  const next = await tokenOf();
  assert.is.not(kidOf(next), kidOf(access_token));
  assert.equal([await ask(access_token), await ask(next)], [200, 200]);
  await rotateSigningKeys(server.store, { revokeOld: true });
  server.advance(61);
  assert.equal([await ask(access_token), await ask(next)], [401, 401]);
  assert.is(await ask(await tokenOf()), 200);
});

test("a server whose tokens are valid for longer keeps the old key for as long", async () => {
  let at = Date.UTC(2026, 0, 1);
  const now = () => at;
  const store: Store = Object.assign(memoryStore({ now }), { now });
  const keys = createSigningKeys({
    store,
    now,
    signingAlgorithms: ["ES256", "RS256"],
    signingKeyLifetime: 90 * DAY,
    signingKeyNotice: DAY,
    maxTokenLifetime: 3 * DAY,
  });
  const token = await sign(keys);
  // As the command line does, which does not know the options of the server.
  await rotateSigningKeys(store, { notice: 0 });
  at += 61_000;
  assert.ok(await isAccepted(keys, token));
  const [old, current] = await listSigningKeys(store);
  assert.equal([old!.state, current!.state], ["retired", "current"]);
  assert.is(old!.expires, current!.starts + 3 * DAY * 1000 + 3600_000);
  at += 3 * DAY * 1000 - 61_000;
  assert.ok(await isAccepted(keys, token));
  at += 3600_000;
  assert.is(await isAccepted(keys, token), false);
});

test.run();
