import { suite } from "uvu";
import * as assert from "uvu/assert";
import { modernHeaders, modernParams, readEvents } from "../mcp/test_exchange.ts";
import { resource, tool, toolServer } from "../mcp_service.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { until } from "../test_until.ts";
import { gateway, type GatewayOptions } from "./gateway.ts";

const test = suite("gateway/users");

const ORIGIN = "http://127.0.0.1:8787";
const MARKER = "test://marker";
const reads = (description: string) => [tool({ name: "read", description, run: () => "" })];

/** An upstream where each user has a session of their own, with another list: the description names the user. */
function newServer(options: Partial<GatewayOptions> = {}) {
  const lists = new Map(["ada", "bob"].map((user) => {
    const own = { url: "https://up.example", store: memoryStore(), definitions: reads(`reads for ${user}`) };
    return [user, toolServer(own)];
  }));
  const userOfSession = new Map<string, string>();
  let connecting = "";
  const server = toolServer({
    url: ORIGIN,
    store: memoryStore(),
    definitions: [resource({ uri: MARKER, name: "marker", read: () => "" })],
    authenticate: async (request) => ({
      subject: request.headers.get("authorization")!,
      scopes: new Set(),
      workspace: "default",
    }),
    gateway: gateway({
      fetch: async (url, init) => {
        const request = new Request(url, init);
        const session = request.headers.get("mcp-session-id");
        const user = session === null ? connecting : userOfSession.get(session)!;
        const response = await lists.get(user)!.fetch(request);
        const begun = response.headers.get("mcp-session-id");
        if (begun !== null) userOfSession.set(begun, user);
        return response;
      },
      mcpServers: { up: { url: "https://up.example/mcp", shared: false, revision: "2025-11-25" } },
      ...options,
    }),
  });
  const post = (user: string, method: string, params: object): Promise<Response> =>
    server.fetch(
      new Request(`${ORIGIN}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", ...modernHeaders(method), authorization: user },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: modernParams({ ...params }) }),
      }),
    );
  return {
    server,
    /** The user's server has other tools from now on. */
    replace: (user: string, description: string) => lists.get(user)!.replace(reads(description)),
    /** The descriptions of the tools that the user is offered. Connects the user where necessary. */
    async offered(user: string): Promise<string[]> {
      connecting = user;
      const { result } = await (await post(user, "tools/list", {})).json();
      return result.tools.map(({ description }: { description: string }) => description);
    },
    /** The notifications that the user's client gets. */
    async listen(user: string) {
      connecting = user;
      const notifications = { toolsListChanged: true, resourceSubscriptions: [MARKER] };
      const events = readEvents(await post(user, "subscriptions/listen", { notifications }));
      await events.message();
      return events;
    },
  };
}

test("each user has a first list: what another user's server offers is held as a change", async () => {
  const { server, replace, offered } = newServer({ hold: { users: "each" } });
  assert.equal(await offered("ada"), ["reads for ada"]);
  // What was approved at first is read again, and kept.
  for (let i = 0; i < 5; i++) {
    assert.equal(await offered("bob"), ["reads for bob"]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await replace("ada", "reads for bob");
  const after = await until(async () => {
    const list = await offered("ada");
    return list[0] !== "reads for ada" && list;
  });
  assert.equal(after, []);
  assert.equal(await offered("bob"), ["reads for bob"]);
  await server.gateway!.close();
});

test("a list that changes for one user is no news for the clients of others", async () => {
  const { server, replace, offered, listen } = newServer({ hold: false });
  const [ada, bob] = [await listen("ada"), await listen("bob")];
  for (const description of ["one", "two", "three"]) {
    await replace("ada", description);
    await until(async () => (await offered("ada"))[0] === description);
    assert.is((await ada.message()).method, "notifications/tools/list_changed");
  }
  await server.resourceUpdated(MARKER);
  let received = 0;
  while ((await bob.message()).method !== "notifications/resources/updated") received++;
  // When his server was connected, his list was new.
  assert.ok(received <= 1, `${received}`);
  assert.equal(await offered("bob"), ["reads for bob"]);
  await ada.cancel();
  await bob.cancel();
  await server.gateway!.close();
});

test.run();
