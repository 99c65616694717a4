import { suite } from "uvu";
import * as assert from "uvu/assert";
import { resource, resourceTemplate } from "../definition/definition.ts";
import { client, modernHeaders, modernParams, readEvents, session } from "../test_exchange.ts";
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

test("subscriptions/listen omits resources for which the caller lacks scopes", async () => {
  const { server } = newServer({ definitions });
  const resourceSubscriptions = ["test://open", ...CLOSED, "test://not-yet"];
  const params = modernParams({ notifications: { resourceSubscriptions } });
  const message = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params };
  for (
    const [token, accepted] of [["reader", ["test://open", "test://not-yet"]], [
      "writer",
      resourceSubscriptions,
    ]] as const
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

test.run();
