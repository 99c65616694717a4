import net from "node:net";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createClient } from "redis";
import { storeContract } from "../contract/contract.ts";
import { redisStore } from "./redis.ts";
import { type Store, StoreUnavailableError } from "../store.ts";
import { closingWith, findEngine } from "../test_engines.ts";

const address = await findEngine("redis");
const test = suite("redis");

let names = 0;
const run = Math.random().toString(36).slice(2, 8);
const newName = () => `trivet_test_${run}_${++names}`;
const named = (name: string) => `${address}?name=${name}`;
const admin = address === undefined ? undefined : await createClient({ url: address }).connect();

/** All Redis keys of a store. */
async function keysOf(name: string): Promise<string[]> {
  return (await admin!.keys(`{${name}}*`)).sort();
}

/** All Redis keys of a store, except those of the format record, which every store has. */
async function keysBesideFormat(name: string): Promise<string[]> {
  return (await keysOf(name)).filter((key) => !key.includes("1format"));
}

function open(now?: () => number, name: string = newName()): Store {
  const store = redisStore(named(name), now ? { now } : {});
  return closingWith(store, async () => {
    for (const key of await keysOf(name)) await admin!.del(key);
  });
}

if (address === undefined) {
  skipBecause(test, "no Redis listens: the whole store contract and this file's tests are skipped");
} else {
  storeContract("redis", {
    open: async (now) => open(now),
    reopen: async (now, options) => redisStore(named(`trivet_test_${run}_${names}`), { now, ...options }),
    rounds: 200,
  });

  test("all keys of a store have one hash tag, so that they are in one slot of a cluster", async () => {
    const name = newName();
    const store = open(undefined, name);
    await store.commit({
      set: [{ key: ["a", "{x}"], value: 1, expires: Date.now() + 1e6 }, { key: [1], value: 1 }],
    });
    assert.equal(await keysBesideFormat(name), [
      `{${name}}:expiries`,
      `{${name}}:i:0bff0000000000000\u0001`,
      `{${name}}:i:1a\u0001`,
      `{${name}}:kinds`,
      `{${name}}:r:0bff0000000000000\u0001`,
      `{${name}}:r:1a\u00011{x}\u0001`,
      `{${name}}:version`,
    ]);
    await store.close();
  });

  test("Redis removes an expired record, and a sweep removes its key from the sets", async () => {
    const name = newName();
    const store = open(undefined, name);
    await store.commit({
      set: [{ key: ["a", 1], value: 1, expires: Date.now() - 400_000 }, { key: ["a", 2], value: 1 }],
    });
    const record = (id: string) => `{${name}}:r:1a\u00010${id}\u0001`;
    assert.equal((await keysBesideFormat(name)).filter((key) => key.includes(":r:")), [
      record("c000000000000000"),
    ]);
    assert.is(await admin!.zCard(`{${name}}:i:1a\u0001`), 2);
    assert.equal((await store.list(["a"])).map(({ key }) => key), [["a", 2]]);
    assert.is(await store.sweep(), 1);
    assert.is(await admin!.zCard(`{${name}}:i:1a\u0001`), 1);
    assert.is(await admin!.zCard(`{${name}}:expiries`), 0);
    await store.close();
  });

  test("a removed record is removed from the sets", async () => {
    const name = newName();
    const store = open(undefined, name);
    await store.commit({ set: [{ key: ["a", 1], value: 1, expires: Date.now() + 1e6 }] });
    await store.commit({ remove: [["a", 1]] });
    assert.equal(await keysBesideFormat(name), [`{${name}}:kinds`, `{${name}}:version`]);
    await store.close();
  });

  test("list([]) returns all kinds in order, in both directions, in pages", async () => {
    const store = open();
    const keys = [[1, "x"], ["a", 1], ["a", 2], ["b"], ["c", "d"], ["format"]];
    await store.commit({ set: keys.slice(0, -1).map((key) => ({ key, value: 1 })) });
    for (const reverse of [false, true]) {
      const seen = [];
      for (let page = await store.list([], { limit: 2, reverse }); page.length > 0;) {
        seen.push(...page.map(({ key }) => key));
        page = await store.list([], { limit: 2, reverse, after: page.at(-1)!.key });
      }
      assert.equal(seen, reverse ? [...keys].reverse() : keys);
    }
    await store.close();
  });

  test("a list reads many expired records at once, whatever its limit", async () => {
    let now = Date.now();
    const store = open(() => now);
    const set = Array.from({ length: 2000 }, (_, i) => ({ key: ["k", i], value: i, expires: now + 60_000 }));
    await store.commit({ set: [...set, { key: ["k", 2000], value: "live" }] });
    now += 61_000;
    const readsOf = async () =>
      Number(/cmdstat_mget:calls=(\d+)/.exec(await admin!.info("commandstats"))?.[1] ?? 0);
    const before = await readsOf();
    assert.equal((await store.list(["k"], { limit: 1 })).map(({ value }) => value), ["live"]);
    // 1, 2, 4, … 1000, and what other tests read at the same time.
    assert.ok(await readsOf() - before < 1000, `${await readsOf() - before} reads`);
    await store.close();
  });

  test("the Lua functions are loaded again after SCRIPT FLUSH", async () => {
    const store = open();
    await store.commit({ set: [{ key: ["a"], value: 1 }] });
    await admin!.scriptFlush();
    assert.is(await store.commit({ set: [{ key: ["a"], value: 2 }] }), true);
    await admin!.scriptFlush();
    assert.equal((await store.list([])).map(({ key }) => key), [["a"], ["format"]]);
    await store.close();
  });

  test("an instance whose clock jumps uses the engine's clock: no record expires early, and no sweep removes one", async () => {
    const name = newName();
    let jump = 0;
    const clocks = { now: () => Date.now() + jump, monotonic: () => performance.now() };
    const [jumping, steady] = [redisStore(named(name), clocks), open(undefined, name)];
    await jumping.get(["nothing"]);
    for (const hours of [3, -3]) {
      const key = ["k", hours];
      await steady.commit({ set: [{ key, value: 1, expires: steady.now!() + 60_000 }] });
      jump = hours * 3600_000;
      assert.ok(Math.abs(jumping.now!() - Date.now()) < 5000);
      assert.is((await jumping.get(key))?.value, 1);
      assert.is((await jumping.list(["k"])).length, hours === 3 ? 1 : 2);
      await jumping.sweep();
      assert.is((await steady.get(key))?.value, 1);
      const own = ["own", hours];
      await jumping.commit({ set: [{ key: own, value: 1, expires: jumping.now!() + 60_000 }] });
      const { expires } = (await steady.get(own))!;
      assert.ok(Math.abs(expires! - Date.now() - 60_000) < 5000);
    }
    await jumping.close();
    await steady.close();
  });

  test("a watcher is notified of the keys of a commit of another instance", async () => {
    const name = newName();
    const [a, b] = [open(undefined, name), open(undefined, name)];
    const reader = a.watch(["w"]).getReader();
    await a.get(["w"]);
    await b.commit({
      set: [{ key: ["w", "ü\u0000", 1], value: 1 }, { key: ["x"], value: 1 }],
      remove: [["w", "y"]],
    });
    assert.equal((await reader.read()).value, [["w", "y"], ["w", "ü\u0000", 1]]);
    await b.commit({ set: Array.from({ length: 1000 }, (_, i) => ({ key: ["w", i], value: i })) });
    assert.equal((await reader.read()).value, [["w"]], "too many keys for one message: only the prefix");
    await b.close();
    await a.close();
  });

  test("an instance gets messages of the kinds that it watches only, and one that watches everything gets all", async () => {
    const name = newName();
    const [a, b] = [open(undefined, name), open(undefined, name)];
    const channels = async () => (await admin!.pubSubChannels(`{${name}}*`)).sort();
    const readers = [["w", 1], ["w"], ["v"]].map((prefix) => a.watch(prefix).getReader());
    await a.get(["w"]);
    assert.equal(await channels(), [`{${name}}:changes:1v\u0001`, `{${name}}:changes:1w\u0001`]);
    const every = b.watch([]).getReader();
    await b.get(["w"]);
    await b.commit({ set: [{ key: ["x"], value: 1 }] });
    await b.commit({ set: [{ key: ["w", 2], value: 1 }], remove: [["v"]] });
    assert.equal((await readers[1]!.read()).value, [["w", 2]]);
    assert.equal((await readers[2]!.read()).value, [["v"]]);
    assert.equal((await every.read()).value, [["x"]]);
    assert.equal(
      new Set([(await every.read()).value, (await every.read()).value].flat().map(String)),
      new Set(["w,2", "v"]),
    );
    await b.close();
    await a.close();
  });

  test("a watcher whose connection was closed subscribes again, and is notified with its prefix", async () => {
    const name = newName();
    const [a, b] = [open(undefined, name), open(undefined, name)];
    const reader = a.watch(["w"]).getReader();
    await a.get(["w"]);
    await admin!.sendCommand(["CLIENT", "KILL", "TYPE", "pubsub"]);
    assert.equal((await reader.read()).value, [["w"]]);
    await b.commit({ set: [{ key: ["w", 2], value: 1 }] });
    assert.equal((await reader.read()).value, [["w", 2]]);
    await b.close();
    await a.close();
  });

  test("a watch that began while Redis was away is subscribed when it is there", async () => {
    const name = newName();
    const { hostname, port } = new URL(address);
    const sockets = new Set<net.Socket>();
    const proxy = net.createServer((near) => {
      const far = net.connect(Number(port || 6379), hostname);
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on("error", () => {});
      }
      near.pipe(far).pipe(near);
    });
    const listen = (port: number) => new Promise<void>((resolve) => proxy.listen(port, "127.0.0.1", resolve));
    await listen(0);
    const own = (proxy.address() as net.AddressInfo).port;
    await new Promise((resolve) => proxy.close(resolve));
    const store = redisStore(`redis://127.0.0.1:${own}?name=${name}`);
    const other = open(undefined, name);
    const reader = store.watch(["w"]).getReader();
    assert.ok(await store.get(["w"]).then(() => false, () => true));
    await other.commit({ set: [{ key: ["w", 1], value: 1 }] });
    await listen(own);
    assert.equal((await reader.read()).value, [["w"]]);
    await other.commit({ set: [{ key: ["w", 2], value: 1 }] });
    assert.equal((await reader.read()).value, [["w", 2]]);
    await other.close();
    await store.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
  });

  test("an error says why there is no connection, without the password", async () => {
    const { hostname, port } = new URL(address);
    const closed = net.createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const free = (closed.address() as net.AddressInfo).port;
    await new Promise((resolve) => closed.close(resolve));
    const broken: readonly (readonly [address: string, code: RegExp, isTemporary: boolean])[] = [
      [`redis://127.0.0.1:${free}`, /ECONNREFUSED/, true],
      [`redis://127.0.0.1:${free}?cluster=true`, /ECONNREFUSED/, true],
      [`redis://stranger:hidden-secret@${hostname}:${port || 6379}`, /WRONGPASS/, false],
      [`rediss://${hostname}:${port || 6379}`, /E[A-Z]{4,}|ConnectionTimeoutError/, true],
    ];
    for (const [address, code, isTemporary] of broken) {
      const store = redisStore(`${address}${address.includes("?") ? "&" : "?"}timeout=0.4`);
      for (const key of ["a", "b"]) {
        const error = await store.get([key]).catch((error: Error) => error) as Error;
        assert.match(error.message, code);
        assert.not.match(error.message, "hidden-secret");
        assert.is(error instanceof StoreUnavailableError, isTemporary, error.message);
        assert.instance(error.cause, Error);
      }
      await store.close();
    }
  });

  test("a user who may not publish is refused before anything is written, by the right that is missing", async () => {
    const name = newName();
    await admin!.sendCommand(["ACL", "SETUSER", name, "on", ">secret", "~*", "resetchannels", "+@all"]);
    const own = new URL(address);
    [own.username, own.password] = [name, "secret"];
    const store = redisStore(`${own}?name=${name}`);
    try {
      const error = await store.commit({ set: [{ key: ["k"], value: 1 }] }).catch((error: Error) => error);
      assert.match((error as Error).message, `&{${name}}:changes:*`);
      assert.equal(await keysOf(name), []);
      await admin!.sendCommand(["ACL", "SETUSER", name, `&{${name}}:*`]);
      assert.is(await store.commit({ set: [{ key: ["k"], value: 1 }] }), true);
    } finally {
      await store.close();
      await admin!.sendCommand(["ACL", "DELUSER", name]);
      for (const key of await keysOf(name)) await admin!.del(key);
    }
  });

  test("guarantees.durable follows the persistence of the server, and none causes a warning", async () => {
    const warnings: string[] = [];
    const store = redisStore(named(newName()), { onWarning: (text) => warnings.push(text) });
    await store.get(["a"]);
    const info = await admin!.info("persistence");
    if (info.includes("aof_enabled:1")) assert.is.not(store.guarantees.durable, "none");
    else {
      assert.is(store.guarantees.durable, "none");
      assert.is(warnings.length, 1);
    }
    await store.close();
  });
}

test("an invalid address is refused at once", () => {
  assert.throws(() => redisStore("http://x"), /\bredis:\/\//);
  assert.throws(() => redisStore("redis://x?name={a}"), /\bname\b/);
  assert.throws(() => redisStore("redis://x?timeout=0"), /timeout/);
  assert.throws(() => redisStore("redis://x/abc"), /database.*"abc"/);
  assert.throws(() => redisStore("redis://x?nmae=a"), /"nmae".*name, timeout, cluster/);
  assert.throws(() => redisStore("redis://x?cluster=yes"), /\bcluster\b/);
});

test.after(() => admin?.destroy());

test.run();
