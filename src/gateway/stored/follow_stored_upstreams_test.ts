import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import type { McpServer } from "../upstream/configuration/configuration.ts";
import { followStoredUpstreams } from "./follow_stored_upstreams.ts";
import { addStoredUpstream, createUpstreamSealer, removeStoredUpstream } from "./stored_upstream.ts";

const test = suite("gateway/stored/follow");

const sealer = createUpstreamSealer(() => soleSecret(new Uint8Array(32).fill(1)));
const GITHUB: McpServer = { url: "https://mcp.example.com/mcp", headers: { authorization: "Bearer secret" } };

/** @param configured names of the server's own configuration */
function follow(store: Store, configured: readonly string[] = [], from = sealer) {
  const offered = new Map<string, McpServer>();
  const problems: string[] = [];
  const ended: string[] = [];
  /** Whether connections of users cannot be ended now. */
  const fails = { ending: false };
  const followed = followStoredUpstreams({
    store,
    sealer: from,
    upstreams: {
      add(name, server) {
        const isTaken = server.prefix !== undefined &&
          [...offered].some(([other, { prefix }]) => other !== name && prefix === server.prefix);
        if (isTaken) throw new TypeError("The prefix is taken");
        offered.set(name, server);
      },
      remove: async (name) => offered.delete(name),
    },
    async endConnections(name) {
      if (fails.ending) throw new StoreUnavailableError("fails in this test");
      ended.push(name);
    },
    isConfigured: (name) => configured.includes(name),
    onProblem: (name) => problems.push(name),
  });
  return { ...followed, offered, problems, ended, fails };
}

test("an upstream that is added at one instance is offered by every instance, until it is removed", async () => {
  const store = memoryStore();
  const [one, two] = [follow(store), follow(store)];
  await addStoredUpstream(store, sealer, "github", GITHUB);
  for (const { read, offered } of [one, two]) {
    await read();
    assert.equal(offered.get("github"), GITHUB);
  }
  await addStoredUpstream(store, sealer, "github", { url: "https://other.example.com/mcp" });
  await one.read();
  assert.equal(one.offered.get("github"), { url: "https://other.example.com/mcp" });
  assert.is(await removeStoredUpstream(store, "github"), true);
  assert.is(await removeStoredUpstream(store, "github"), false);
  for (const { read, offered, stop } of [one, two]) {
    await read();
    assert.is(offered.size, 0);
    stop();
  }
});

test("an instance that starts later has the upstreams when it is ready", async () => {
  const store = memoryStore();
  await addStoredUpstream(store, sealer, "github", GITHUB);
  const { ready, offered, stop } = follow(store);
  await ready;
  assert.is(offered.size, 1);
  stop();
});

test("a changed upstream that cannot be used is not offered as it was before", async () => {
  const store = memoryStore();
  const { read, offered, problems, stop } = follow(store);
  await addStoredUpstream(store, sealer, "github", GITHUB);
  await read();
  assert.ok(offered.has("github"));
  const other = createUpstreamSealer(() => soleSecret(new Uint8Array(32).fill(2)));
  await addStoredUpstream(store, other, "github", GITHUB);
  await read();
  assert.equal([problems, offered.size], [["github"], 0]);
  stop();
});

test("what another server sealed, and what the configuration already has, is reported and not used", async () => {
  const store = memoryStore();
  const other = createUpstreamSealer(() => soleSecret(new Uint8Array(32).fill(2)));
  await addStoredUpstream(store, other, "foreign", GITHUB);
  await addStoredUpstream(store, sealer, "github", GITHUB);
  const { ready, offered, problems, stop } = follow(store, ["github"]);
  await ready;
  assert.is(offered.size, 0);
  assert.equal(problems.sort(), ["foreign", "github"]);
  stop();
});

test("an upstream whose configuration could not be read is offered by the next reading", async () => {
  const store = memoryStore();
  let isAway = true;
  const secrets = () =>
    isAway
      ? Promise.reject(new StoreUnavailableError("away in this test"))
      : soleSecret(new Uint8Array(32).fill(1));
  await addStoredUpstream(store, sealer, "github", GITHUB);
  const { ready, read, offered, problems, stop } = follow(store, [], createUpstreamSealer(secrets));
  await ready;
  assert.is(offered.size, 0);
  isAway = false;
  await read();
  assert.equal([[...offered.keys()], problems], [["github"], []]);
  stop();
});

test("connections that could not be ended are ended by the next reading", async () => {
  const store = memoryStore();
  await addStoredUpstream(store, sealer, "github", GITHUB);
  const { ready, read, ended, fails, stop } = follow(store);
  await ready;
  await removeStoredUpstream(store, "github");
  fails.ending = true;
  await read();
  assert.equal(ended, []);
  fails.ending = false;
  await read();
  await read();
  assert.equal(ended, ["github"]);
  stop();
});

test("of two upstreams with one prefix the one that was added first has it, and the other after its removal", async () => {
  const store = memoryStore();
  for (const [added, name] of ["zeta", "alpha"].entries()) {
    const server: McpServer = { url: `https://${name}.example/mcp`, prefix: "p" };
    await addStoredUpstream(store, sealer, name, server, { now: () => added });
  }
  const { ready, read, offered, problems, stop } = follow(store);
  await ready;
  assert.equal([...offered.keys()], ["zeta"]);
  await read();
  assert.equal(problems, ["alpha"]);
  await removeStoredUpstream(store, "zeta");
  await read();
  assert.equal([...offered.keys()], ["alpha"]);
  stop();
});

test("an upstream is offered when the configuration has none of its name any more", async () => {
  const store = memoryStore();
  const configured = ["github"];
  await addStoredUpstream(store, sealer, "github", GITHUB);
  const { ready, readAgain, offered, stop } = follow(store, configured);
  await ready;
  assert.is(offered.size, 0);
  configured.pop();
  await readAgain("github");
  assert.ok(offered.has("github"));
  stop();
});

test.run();
