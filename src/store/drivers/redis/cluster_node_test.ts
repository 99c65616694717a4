import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createClient } from "redis";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../../scripts/test/run_files.ts";
import { freePort } from "../../../../conformance/runner/target/free_port.ts";
import { CutProxy } from "../../../../scripts/faults/cut_proxy.ts";
import { storeContract } from "../../contract/contract.ts";
import { StoreUnavailableError } from "../../store.ts";
import { redisStore } from "../redis.ts";

const test = suite("redis in cluster mode");
const PROGRAM = (process.env.PATH ?? "").split(":").map((folder) => join(folder, "redis-server")).find(
  existsSync,
);

if (PROGRAM === undefined) {
  if (process.env.CI === "true") throw new Error("redis-server must be installed where CI is true");
  skipBecause(test, "no redis-server is on this machine: cluster mode is not tested");
} else {
  // A single node with all slots refuses a script with keys of two slots, as a larger cluster does.
  const folder = mkdtempSync(join(tmpdir(), "trivet-redis-cluster-"));
  const port = await freePort();
  const args = [
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--save",
    "",
    "--cluster-enabled",
    "yes",
  ];
  const server: ChildProcess = spawn(PROGRAM, args, { stdio: "ignore" });
  const admin = await createClient({ url: `redis://127.0.0.1:${port}`, RESP: 2 }).on("error", () => {})
    .connect();
  await admin.sendCommand(["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
  while (!(await admin.sendCommand<string>(["CLUSTER", "INFO"])).includes("cluster_state:ok")) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  let names = 0;
  const open = (query: string, now?: () => number) =>
    redisStore(`redis://127.0.0.1:${port}?name=c${++names}${query}`, now ? { now } : {});

  storeContract("redis in cluster mode, one connection", { open: async (now) => open("", now), rounds: 20 });

  test("with cluster=true commits, lists, sweeps and a polling watcher work", async () => {
    const store = open("&cluster=true");
    const set = Array.from(
      { length: 300 },
      (_, i) => ({ key: ["k", i], value: i, expires: i % 2 ? 1 : undefined }),
    );
    assert.is(await store.commit({ set }), true);
    assert.is((await store.list(["k"], { limit: 1000 })).length, 150);
    assert.is(await store.sweep(), 150);
    const reader = store.watch(["k"]).getReader();
    await store.get(["k", 0]);
    // Timers of the store do not keep the process alive.
    const alive = setTimeout(() => {}, 10_000);
    await store.commit({ remove: [["k", 0]] });
    assert.equal((await reader.read()).value, [["k"]]);
    clearTimeout(alive);
    await store.close();
  });

  test("a node whose connections have no peer any more gets new ones, also while a watcher polls", async () => {
    const proxy = new CutProxy(port);
    await proxy.start();
    // The cluster names its nodes, and clients connect to these addresses.
    await admin.sendCommand(["CONFIG", "SET", "cluster-announce-port", String(proxy.port)]);
    const store = redisStore(`redis://127.0.0.1:${proxy.port}?name=silent&cluster=true&timeout=0.5`);
    try {
      const reader = store.watch(["k"]).getReader();
      await store.commit({ set: [{ key: ["k"], value: 1 }] });
      await reader.read();
      proxy.silence();
      assert.instance(await store.get(["k"]).catch((error) => error), StoreUnavailableError);
      assert.is((await store.get(["k"]))?.value, 1);
      const alive = setTimeout(() => reader.cancel(), 10_000);
      await store.commit({ set: [{ key: ["k"], value: 2 }] });
      assert.equal((await reader.read()).value, [["k"]]);
      clearTimeout(alive);
    } finally {
      await admin.sendCommand(["CONFIG", "SET", "cluster-announce-port", "0"]);
      await store.close();
      await proxy.stop();
    }
  });

  test("the password of the address is that of every node", async () => {
    await admin.sendCommand(["CONFIG", "SET", "requirepass", "of-all-nodes"]);
    const store = redisStore(`redis://:of-all-nodes@127.0.0.1:${port}?name=secret&cluster=true`);
    try {
      assert.is(await store.commit({ set: [{ key: ["k"], value: 1 }] }), true);
    } finally {
      await admin.sendCommand(["CONFIG", "SET", "requirepass", ""]);
      await store.close();
    }
  });

  test.after(() => {
    admin.destroy();
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
}

test.run();
