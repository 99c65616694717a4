import { suite } from "uvu";
import * as assert from "uvu/assert";
import { resource, resourceTemplate } from "../definition/define.ts";
import { client, modernHeaders, modernParams, readEvents, session } from "../test_exchange.ts";
import type { ToolServer } from "../service.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/subscriptions");
const definitions = [
  resource({ uri: "test://open", name: "open", read: () => "x" }),
  resource({ uri: "test://closed", name: "closed", scopes: ["write"], read: () => "x" }),
  resourceTemplate({ uriTemplate: "test://closed/{id}", name: "each", scopes: ["write"], read: () => "x" }),
];
const CLOSED = ["test://closed", "test://closed/7"];

test("a caller without the scopes of a resource cannot subscribe to it", async () => {
  const { server } = newServer({ definitions });
  for (const [token, status] of [[undefined, 401], ["reader", 403], ["writer", 200]] as const) {
    const own = await session(server, token ? { headers: { authorization: `Bearer ${token}` } } : {});
    for (const uri of CLOSED) {
      const answer = await own.request("resources/subscribe", { uri });
      assert.is(answer.status, status);
      if (status !== 200) assert.match(answer.headers.get("www-authenticate")!, /scope="write"/);
    }
    assert.is((await own.request("resources/subscribe", { uri: "test://open" })).status, 200);
    assert.is((await own.request("resources/subscribe", { uri: "test://none" })).answer.error.code, -32002);
  }
});

test("subscriptions/listen omits resources that do not exist or for which the caller lacks scopes", async () => {
  const { server } = newServer({ definitions });
  const existing = ["test://open", ...CLOSED];
  const resourceSubscriptions = [...existing, "test://none"];
  const params = modernParams({ notifications: { resourceSubscriptions } });
  const message = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params };
  for (
    const [token, accepted] of [["reader", ["test://open"]], ["writer", existing]] as const
  ) {
    const headers = { ...modernHeaders("subscriptions/listen"), authorization: `Bearer ${token}` };
    const events = readEvents(await client(server).fetch(message, headers));
    const { params: { notifications } } = await events.message();
    assert.equal(notifications, { resourceSubscriptions: accepted });
    for (const uri of resourceSubscriptions) await server.resourceUpdated(uri);
    for (const uri of accepted) assert.is((await events.message()).params.uri, uri);
    await events.cancel();
  }
});

/** Listens to resources as a caller, and returns those that the acknowledgment names, and the stream. */
async function listen(server: ToolServer, resourceSubscriptions: readonly string[], token: string) {
  const params = modernParams({ notifications: { resourceSubscriptions } });
  const message = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params };
  const headers = { ...modernHeaders("subscriptions/listen"), authorization: `Bearer ${token}` };
  const events = readEvents(await client(server).fetch(message, headers));
  const { notifications } = (await events.message()).params;
  return { accepted: notifications.resourceSubscriptions, events };
}

test("attack: subscriptions/listen to a resource that only another user can read", async () => {
  const own = (name: string, exists: boolean) =>
    resourceTemplate({
      uriTemplate: `${name}://{user}/{id}`,
      name,
      read: ({ user }, { principal }) => principal?.client === user ? "text" : undefined,
      ...(exists && { exists: ({ user }, { principal }) => principal?.client === user }),
    });
  const { server } = newServer({ definitions: [own("notes", false), own("files", true)] });
  const uris = ["notes://writer/1", "files://writer/1", "notes://reader/1", "files://reader/1"];
  const { accepted, events } = await listen(server, uris, "reader");
  assert.equal(accepted, uris.slice(2));
  for (const uri of uris) await server.resourceUpdated(uri);
  for (const uri of accepted) assert.is((await events.message()).params.uri, uri);
  await events.cancel();
});

test("attack: subscriptions/listen checks one resource after another, and reads at most 100", async () => {
  let [reads, running, most] = [0, 0, 0];
  const slow = resourceTemplate({
    uriTemplate: "slow://{id}",
    name: "slow",
    async read({ id }) {
      reads++;
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      if (id === "7") throw new Error("broken");
      return "x";
    },
  });
  const quick = resourceTemplate({
    uriTemplate: "quick://{id}",
    name: "quick",
    exists: () => true,
    read: () => "x",
  });
  const { server } = newServer({ definitions: [slow, quick], bodyLimit: 100_000 });
  const uris = (name: string) => Array.from({ length: 300 }, (_, i) => `${name}://${i}`);
  const { accepted, events } = await listen(
    server,
    [...uris("slow"), ...uris("slow"), ...uris("quick")],
    "reader",
  );
  assert.equal([reads, most], [100, 1]);
  const read = uris("slow").slice(0, 100).filter((uri) => uri !== "slow://7");
  assert.equal(accepted, [...read, ...uris("quick")]);
  await events.cancel();
});

test.run();
