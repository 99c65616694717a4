import { suite } from "uvu";
import * as assert from "uvu/assert";
import { gateway } from "../../gateway/gateway.ts";
import { removeStoredUpstream } from "../../gateway/stored/stored_upstream.ts";
import { tool, toolServer } from "../../mcp_service.ts";
import { connectionKey, REVOCATIONS } from "../../oauth/connection_records.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";
import { COMMAND_LINE } from "../operation.ts";
import { newAdmin } from "../test_admin.ts";

const test = suite("admin/operations/upstreams");

const upstream = toolServer({
  url: "https://one.example",
  store: memoryStore(),
  definitions: [tool({ name: "echo", description: "Echoes", run: () => "echo" })],
});
const URL = "https://one.example/mcp";

/** Operations of a server with a gateway. */
function newGatewayAdmin() {
  const store = memoryStore();
  const trivet = createTrivet({
    issuer: "http://127.0.0.1:8787",
    store,
    gateway: gateway({
      mcpServers: { fixed: { url: `${URL}?secret=1` } },
      fetch: async (url, init) => await upstream.fetch(new Request(url, init)),
    }),
  });
  return { ...newAdmin(store, { gateway: trivet.gateway }), trivet };
}

test("an upstream is added, shown with its state, and removed", async () => {
  const { call, refuse, trivet, events } = newGatewayAdmin();
  const added = await call("addUpstream", {
    name: "late",
    url: `${URL}?key=hidden`,
    headers: { a: "hidden" },
  });
  assert.equal([added.name, added.server, added.source], ["late", URL, "store"]);
  await trivet.gateway!.ready();
  const listed = await call("listUpstreams");
  assert.equal(listed.data.map(({ name, source }: Record<string, string>) => [name, source]), [
    ["fixed", "configuration"],
    ["late", "store"],
  ]);
  assert.not.match(JSON.stringify([added, listed, events]), /hidden|secret=1/);
  assert.equal((await call("listUpstreams", { limit: 1 })).next_page, "fixed");
  assert.equal((await call("listUpstreams", { page: "fixed" })).data.length, 1);
  assert.is((await refuse("addUpstream", { name: "late", url: URL }))[0], 409);
  assert.is((await refuse("addUpstream", { name: "fixed", url: URL }))[0], 409);
  await call("removeUpstream", { upstream: "late" });
  assert.is((await refuse("removeUpstream", { upstream: "late" }))[0], 404);
  assert.is((await refuse("removeUpstream", { upstream: "fixed" }))[0], 409);
  assert.equal(events.map((each) => each.type === "admin_changed" && each.operation), [
    "addUpstream",
    "removeUpstream",
  ]);
  await trivet.gateway!.close();
});

test("invalid configurations and commands are refused, naming the place", async () => {
  const { call, refuse, trivet } = newGatewayAdmin();
  for (
    const [input, place] of [
      [{ name: "a", url: "ftp://x" }, /mcpServers\.a\.url/],
      [{ name: "a", command: "rm" }, /mcpServers\.a\.command/],
      [{ name: "a", url: URL, timeout: -1 }, /timeout/],
      [{ name: "a", url: URL, unknown: 1 }, /unknown/],
      [{ name: "a" }, /mcpServers\.a/],
    ] as const
  ) {
    const [status, message] = await refuse("addUpstream", input);
    assert.is(status, 400, JSON.stringify(input));
    assert.match(message, place);
  }
  assert.is((await call("listUpstreams")).data.length, 1);
  await trivet.gateway!.close();
});

test("without a gateway only the command line adds upstreams, also with a command", async () => {
  const { call, refuse } = newAdmin();
  assert.is((await refuse("addUpstream", { name: "a", url: URL }))[0], 400);
  const added = await call("addUpstream", { name: "a", command: "node" }, COMMAND_LINE);
  assert.equal([added.server, added.state], ["node", null]);
  await call("removeUpstream", { upstream: "a" }, COMMAND_LINE);
});

test("an instance ends connections that users made there until it saw that the upstream was removed", async () => {
  const { call, store, trivet } = newGatewayAdmin();
  await call("addUpstream", { name: "late", url: URL });
  await trivet.gateway!.ready();
  const key = connectionKey("user", "late");
  const value = { kind: "oauth", url: URL, sealed: "", connected: 0, hasRefreshToken: false };
  await store.commit({ set: [{ key, value }] });
  // As another instance does last.
  await removeStoredUpstream(store, "late");
  for (let tries = 0; tries < 200 && await store.get(key); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.is(await store.get(key), undefined);
  await trivet.gateway!.close();
});

test("the command line ends the connections of the upstream that it removes, and leaves its tokens to be revoked", async () => {
  const { call, refuse, store } = newAdmin();
  await call("addUpstream", { name: "a", url: URL }, COMMAND_LINE);
  const value = { kind: "oauth", url: URL, sealed: "", connected: 0, hasRefreshToken: false };
  // The upstream "b" is in a configuration.
  const keys = ["a", "b"].map((name) => connectionKey("user", name));
  await store.commit({ set: keys.map((key) => ({ key, value })) });
  await call("removeUpstream", { upstream: "a" }, COMMAND_LINE);
  assert.is((await refuse("removeUpstream", { upstream: "b" }, COMMAND_LINE))[0], 404);
  assert.equal((await store.list(["upstream_connection"])).map(({ key }) => key), [keys[1]]);
  assert.equal((await store.list(REVOCATIONS)).map(({ key }) => key.slice(1, 3)), [["user", "a"]]);
});

test.run();
