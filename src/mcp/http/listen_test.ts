import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as v from "valibot";
import { memoryStore } from "../../store/drivers/memory.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { prompt, resource, resourceTemplate, tool } from "../definition/define.ts";
import { client, META, modern, modernHeaders, modernParams, readEvents } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/listen");
const definitions = [
  tool({ name: "t", description: "A tool", run: () => "x" }),
  resource({ uri: "test://a", name: "a", read: () => "x" }),
  prompt({ name: "p", get: () => "x" }),
];

async function listen(
  server: ReturnType<typeof newServer>["server"],
  notifications: unknown,
  { id = "sub", capabilities = {}, headers = {} }: {
    id?: unknown;
    capabilities?: Record<string, unknown>;
    headers?: Record<string, string>;
  } = {},
) {
  const params = modernParams({ notifications }, capabilities);
  return await client(server).fetch({ jsonrpc: "2.0", id, method: "subscriptions/listen", params }, {
    ...modernHeaders("subscriptions/listen"),
    ...headers,
  });
}

test("the stream begins with the accepted filter and then has only matching notifications", async () => {
  const store = memoryStore();
  const a = newServer({ store, definitions }).server;
  const b = newServer({ store, definitions }).server;
  const filter = { toolsListChanged: true, promptsListChanged: false, resourceSubscriptions: ["test://a"] };
  const response = await listen(b, filter);
  assert.is(response.headers.get("x-accel-buffering"), "no");
  const events = readEvents(response);
  const _meta = { [META + "subscriptionId"]: "sub" };
  assert.equal(await events.message(), {
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["test://a"] }, _meta },
  });
  await a.listChanged("prompts");
  await a.listChanged("resources");
  await a.resourceUpdated("test://b");
  await a.listChanged("tools");
  await a.resourceUpdated("test://a");
  assert.equal(await events.message(), {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta },
  });
  assert.equal(await events.message(), {
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: { uri: "test://a", _meta },
  });
  await events.cancel();
});

test("a filter is not accepted for lists without definitions", async () => {
  const { server } = newServer({ definitions: [definitions[0]!] });
  const filter = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["test://a"],
  };
  const events = readEvents(await listen(server, filter, { id: 5 }));
  const { params } = await events.message();
  assert.equal(params.notifications, { toolsListChanged: true });
  assert.is(params._meta[META + "subscriptionId"], 5);
  await events.cancel();
});

test("while the store is unavailable no resource is left out of the filter: the client asks again", async () => {
  let failure: Error | undefined;
  const exists = (): boolean => {
    if (failure) throw failure;
    return true;
  };
  const template = resourceTemplate({ uriTemplate: "note://{id}", name: "n", exists, read: () => "x" });
  const { server } = newServer({ definitions: [template] });
  const filter = { resourceSubscriptions: ["note://1"] };
  failure = new StoreUnavailableError("stopped");
  const refused = await listen(server, filter);
  assert.is(refused.status, 503);
  assert.is(refused.headers.get("retry-after"), "1");
  for (const next of [new Error("a fault of this resource"), undefined]) {
    failure = next;
    const events = readEvents(await listen(server, filter));
    const { notifications } = (await events.message()).params;
    assert.equal(notifications.resourceSubscriptions, next ? [] : ["note://1"]);
    await events.cancel();
  }
});

test("a filter is accepted for lists of a source that has nothing yet, and its first tool is announced", async () => {
  let onChange = (): void => {};
  const tools: typeof definitions = [];
  const source = { current: () => tools, watch: (given: () => void) => void (onChange = given) };
  const { server } = newServer({ definitions: [], sources: [source] });
  const events = readEvents(await listen(server, { toolsListChanged: true }));
  assert.equal((await events.message()).params.notifications, { toolsListChanged: true });
  tools.push(definitions[0]!);
  onChange();
  assert.is((await events.message()).method, "notifications/tools/list_changed");
  await events.cancel();
});

test("close() ends the stream with the result", async () => {
  const { server } = newServer({ definitions });
  const events = readEvents(await listen(server, {}));
  assert.equal((await events.message()).params.notifications, {});
  server.close();
  assert.equal(await events.message(), {
    jsonrpc: "2.0",
    id: "sub",
    result: {
      resultType: "complete",
      _meta: { [META + "subscriptionId"]: "sub", [META + "serverInfo"]: { name: "test", version: "1.2.3" } },
    },
  });
  assert.is(await events.next(), undefined);
});

test("replace() notifies only of the lists that changed", async () => {
  const { server } = newServer({ definitions });
  const events = readEvents(
    await listen(server, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }),
  );
  await events.message();
  await server.replace([
    ...definitions.slice(1),
    tool({ name: "new", description: "New", run: () => "new" }),
  ]);
  await server.replace(definitions.slice(1, 2));
  const methods = [];
  for (let i = 0; i < 3; i++) methods.push((await events.message()).method);
  assert.equal(methods, [
    "notifications/tools/list_changed",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
  ]);
  assert.equal((await modern(server, "tools/list")).answer.result.tools, []);
  await events.cancel();
});

test("replace() on an instance that had no request yet notifies clients of another", async () => {
  const store = memoryStore();
  // Its schema is converted at the first request.
  const before = [tool({ name: "t", description: "", input: v.object({}), run: () => "" })];
  const [a, b] = [newServer({ store, definitions: before }), newServer({ store, definitions: before })];
  const events = readEvents(await listen(b.server, { toolsListChanged: true }));
  await events.message();
  await a.server.replace([]);
  assert.is((await events.message()).method, "notifications/tools/list_changed");
  await events.cancel();
});

test("invalid definitions replace nothing", async () => {
  const { server } = newServer({ definitions });
  let thrown: unknown;
  await server.replace([definitions[0]!, definitions[0]!]).catch((error) => thrown = error);
  assert.instance(thrown, TypeError);
  assert.is((await modern(server, "tools/call", { name: "t" })).answer.result.content[0].text, "x");
});

for (
  const [what, notifications, code] of [
    ["a list", [], -32602],
    ["a flag that is not a boolean", { toolsListChanged: 1 }, -32602],
    ["URIs that are not a list", { resourceSubscriptions: "test://a" }, -32602],
    ["a URI that is not a string", { resourceSubscriptions: [1] }, -32602],
    ["too many URIs", { resourceSubscriptions: Array.from({ length: 1001 }, String) }, -32602],
    ["too many characters", { resourceSubscriptions: Array(100).fill("u".repeat(700)) }, -32602],
    ["too many tasks", { taskIds: Array.from({ length: 101 }, String) }, -32602],
    ["tasks without their extension", { taskIds: ["x"] }, -32021],
  ] as const
) {
  test(`a filter with ${what} is refused with ${code} as JSON`, async () => {
    const { server } = newServer({ definitions, bodyLimit: 100_000 });
    const response = await listen(server, notifications);
    assert.is(response.headers.get("content-type"), "application/json");
    assert.is((await response.json()).error.code, code);
    assert.is(response.status, code === -32021 ? 400 : 200);
  });
}

test("a token that expires ends the stream", async () => {
  let now = Date.now();
  const principal = { client: "c", workspace: "default", scopes: new Set<string>(), expires: now + 1000 };
  const { server } = newServer({
    definitions,
    now: () => now,
    keepAlive: 10,
    identify: () => Promise.resolve(principal),
  });
  const events = readEvents(await listen(server, {}));
  await events.message();
  now += 1001;
  assert.is(await events.next(), undefined);
});

test.run();
