import { suite } from "uvu";
import * as assert from "uvu/assert";
import { prompt, resource, resourceTemplate, tool } from "../../../mcp/definition/define.ts";
import {
  client,
  type Message,
  modern,
  modernHeaders,
  modernParams,
  readEvents,
  session,
} from "../../../mcp/test_exchange.ts";
import { newServer } from "../../../mcp/test_server.ts";
import { MODERN, newGateway, upstreamOf } from "../test_gateway.ts";

const test = suite("gateway/upstream/proxy/proxy_resource");

const DEFINITIONS = [
  resource({
    uri: "test://text",
    name: "text",
    title: "Text",
    mimeType: "text/plain",
    ttl: 5000,
    read: () => ({
      contents: [{ uri: "test://text", text: "hello" }],
      _meta: { "com.example/a": 1 },
    }),
  }),
  resourceTemplate({
    uriTemplate: "test://things/{id}/{+path}",
    name: "thing",
    complete: { id: (value) => ({ values: [`${value}1`, `${value}2`], total: 9, hasMore: true }) },
    read: ({ id, path }) => id === "none" ? undefined : `${id}: ${path}`,
  }),
  prompt({
    name: "ask",
    description: "Asks",
    arguments: [{
      name: "what",
      required: true,
      complete: (
        value,
        { arguments: known },
      ) => [value, ...Object.values(known)],
    }],
    get: ({ what }) => [
      { role: "user", content: { type: "text", text: what! } },
      {
        role: "user",
        content: {
          type: "resource",
          resource: { uri: "test://text", text: "hello" },
        },
      },
    ],
  }),
];

for (const upstream of [MODERN, "2025-11-25"]) {
  for (const revision of [MODERN, "2025-11-25"]) {
    test(`a client of ${revision} reads from an upstream of ${upstream}`, async () => {
      const { server, upstreams } = await newGateway({
        up: upstreamOf(DEFINITIONS, upstream),
      });
      const request = revision === MODERN
        ? async (method: string, params = {}) => (await modern(server, method, params)).answer
        : await session(server, { revision }).then(
          ({ request }) => async (method: string, params = {}) => (await request(method, params)).answer,
        );
      const { resources } = (await request("resources/list")).result;
      assert.equal(resources, [
        {
          uri: "upstream://up/test://text",
          name: "text",
          title: "Text",
          mimeType: "text/plain",
        },
      ]);
      const { resourceTemplates } = (await request("resources/templates/list")).result;
      assert.equal(resourceTemplates.map((each: Message) => each.uriTemplate), [
        "upstream://up/test://things/{id}/{+path}",
      ]);
      const read = async (uri: string) => await request("resources/read", { uri });
      const { result } = await read("upstream://up/test://text");
      assert.equal(result.contents, [{
        uri: "upstream://up/test://text",
        text: "hello",
      }]);
      if (upstream === MODERN) assert.is(result._meta["com.example/a"], 1);
      if (revision === MODERN) {
        assert.is(result.ttlMs, upstream === MODERN ? 5000 : 0);
      }
      const thing = "upstream://up/test://things/a%20b/c/d?e";
      assert.equal((await read(thing)).result.contents, [{
        uri: thing,
        text: "a b: c/d?e",
      }]);
      for (
        const unknown of [
          "upstream://up/test://things/none/x",
          "upstream://up/test://nothing",
        ]
      ) {
        const { error } = await read(unknown);
        assert.is(error.code, revision === MODERN ? -32602 : -32002);
        assert.equal(error.data, { uri: unknown });
      }
      // Another server's URI, and the upstream's own.
      assert.ok((await read("upstream://other/test://text")).error);
      assert.ok((await read("test://text")).error);

      const { prompts } = (await request("prompts/list")).result;
      assert.equal(prompts, [
        {
          name: "up_ask",
          description: "Asks",
          arguments: [{ name: "what", required: true }],
        },
      ]);
      const { messages } = (await request("prompts/get", {
        name: "up_ask",
        arguments: { what: "why" },
      })).result;
      assert.is(messages[0].content.text, "why");
      assert.is(messages[1].content.resource.uri, "upstream://up/test://text");

      const complete = async (ref: object, name: string, context = {}) =>
        (await request("completion/complete", {
          ref,
          argument: { name, value: "v" },
          context,
        })).result
          .completion;
      assert.equal(
        await complete({
          type: "ref/resource",
          uri: resourceTemplates[0].uriTemplate,
        }, "id"),
        { values: ["v1", "v2"], total: 9, hasMore: true },
      );
      assert.equal(
        await complete({ type: "ref/prompt", name: "up_ask" }, "what", {
          arguments: { how: "so" },
        }),
        { values: ["v", "so"], total: 2, hasMore: false },
      );
      await upstreams.close();
    });

    test(`a client of ${revision} gets updates and list changes of an upstream of ${upstream}`, async () => {
      const up = newServer({ definitions: DEFINITIONS });
      const { server, upstreams } = await newGateway({
        up: { server: up.server, revision: upstream },
      }, {
        // Lists are refreshed every second at most.
        upstreams: { now: () => performance.now() * 100 },
      });
      const uri = "upstream://up/test://text";
      let events;
      if (revision === MODERN) {
        const params = {
          notifications: {
            resourceSubscriptions: [uri],
            toolsListChanged: true,
            resourcesListChanged: true,
          },
        };
        events = readEvents(await listen(server, params));
        await events.message();
      } else {
        const sessionClient = await session(server, { revision });
        events = readEvents(await sessionClient.other("GET"));
        await sessionClient.request("resources/subscribe", { uri });
      }
      // The subscription reaches the upstream after the client's was accepted.
      let update: Message;
      const timer = setInterval(
        () => up.server.resourceUpdated("test://text"),
        20,
      );
      do update = await events.message(); while (
        update.method !== "notifications/resources/updated"
      );
      clearInterval(timer);
      assert.is(update.params.uri, uri);
      await up.server.replace([
        ...DEFINITIONS,
        resource({ uri: "test://new", name: "new", read: () => "new" }),
        tool({ name: "new", description: "", run: () => "new" }),
      ]);
      do update = await events.message(); while (
        update.method !== "notifications/resources/list_changed"
      );
      await events.cancel();
      await upstreams.close();
    });
  }
}

async function listen(
  server: Awaited<ReturnType<typeof newGateway>>["server"],
  params: Record<string, unknown>,
): Promise<Response> {
  return await client(server).fetch(
    {
      jsonrpc: "2.0",
      id: 1,
      method: "subscriptions/listen",
      params: modernParams(params),
    },
    modernHeaders("subscriptions/listen"),
  );
}

test.run();
