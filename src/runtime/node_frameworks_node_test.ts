/**
 * `toNodeListener` on `http` and in the real Express and Fastify, with all services.
 *
 * @module
 */
import newFastify from "fastify";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, tool, type Trivet } from "../mod.ts";
import { createApiKey } from "../skills/api_key.ts";
import { toNodeListener } from "./node_listener.ts";
import { FRAMEWORK_SERVERS, toRunningFastify } from "./test_framework_servers.ts";

const test = suite("toNodeListener in frameworks");
const ping = tool({ name: "ping", description: "Answers", run: () => "pong" });

for (const { name, path, isParsed, refusesEmptyJson = false, hasOwnRoute, start } of FRAMEWORK_SERVERS) {
  test(`${name}: all services read JSON, forms and uploads`, async () => {
    const { promise, resolve } = Promise.withResolvers<Trivet>();
    const app = await start({ fetch: async (request, context) => (await promise).fetch(request, context) });
    try {
      const issuer = app.origin + path;
      const store = memoryStore();
      resolve(createTrivet({
        issuer,
        store,
        oauth: { clients: [{ id: "app", secret: "secret" }] },
        mcp: { auth: "off", tools: [ping] },
      }));
      const metadata = await fetch(`${app.origin}/.well-known/oauth-authorization-server${path}`);
      const { token_endpoint } = await metadata.json();
      assert.is(token_endpoint, `${issuer}/oauth/token`);

      const form = new URLSearchParams({
        grant_type: "client_credentials",
        client_id: "app",
        client_secret: "secret",
      });
      const token = await fetch(token_endpoint, { method: "POST", body: form });
      assert.is(token.status, 200);
      const authorization = `Bearer ${(await token.json()).access_token}`;
      form.append("grant_type", "client_credentials");
      const repeated = await fetch(token_endpoint, { method: "POST", body: form });
      assert.equal([repeated.status, (await repeated.json()).error], [400, "invalid_request"]);

      const { secret } = await createApiKey(store, { name: "test" });
      const body = new FormData();
      const markdown = "---\nname: edge\ndescription: Use it when asked.\n---\nText";
      body.append("files[]", new Blob([markdown]), "edge/SKILL.md");
      body.append("files[]", new Blob([new Uint8Array(500_000)]), "edge/data.bin");
      const skills = `${issuer}/v1/skills`;
      const uploaded = await fetch(skills, { method: "POST", headers: { "x-api-key": secret }, body });
      assert.is(uploaded.status, 200);
      const listed = await (await fetch(skills, { headers: { authorization } })).json();
      assert.equal(listed.data.map(({ id }: { id: string }) => id), [(await uploaded.json()).id]);
      const refused = await fetch(skills, { method: "POST" });
      await refused.body?.cancel();
      assert.is(refused.status, 401);
      assert.ok(refused.headers.has("www-authenticate"));

      const send = (json: string) =>
        fetch(`${issuer}/mcp`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: json,
        });
      const called = await send(
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping"}}',
      );
      assert.is((await called.json()).result.content[0].text, "pong");
      const malformed = await send('{"jsonrpc":');
      assert.is(malformed.status, 400);
      const answer = await malformed.text();
      // A parser of the framework refuses it in its own form.
      if (!isParsed) assert.is(JSON.parse(answer).error.code, -32700);

      if (hasOwnRoute) {
        const headers = { "content-type": "application/json" };
        const own = await fetch(`${app.origin}/own`, { method: "POST", headers, body: '{"a":1}' });
        assert.equal(await own.json(), { a: 1 });
      }
    } finally {
      await app.close();
    }
  });

  test(`${name}: an empty JSON body stays empty`, async () => {
    const app = await start({ fetch: async (request) => new Response(`body: ${await request.text()}`) });
    try {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${app.origin}${path}/x`, { method: "POST", headers, body: "" });
      const text = await response.text();
      if (refusesEmptyJson) {
        assert.equal([response.status, JSON.parse(text).code], [400, "FST_ERR_CTP_EMPTY_JSON_BODY"]);
      } else assert.equal([response.status, text], [200, "body: "]);
    } finally {
      await app.close();
    }
  });

  test(`${name}: a response stream arrives part by part and is cancelled when the client disconnects`, async () => {
    const cancelled = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const app = await start({
      fetch(request) {
        signal = request.signal;
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
          cancel: () => cancelled.resolve(),
        });
        return Promise.resolve(new Response(body));
      },
    });
    try {
      const client = new AbortController();
      const response = await fetch(`${app.origin}${path}/x`, { signal: client.signal });
      const { value } = await response.body!.getReader().read();
      assert.is(new TextDecoder().decode(value), "first");
      client.abort();
      await cancelled.promise;
      assert.is(signal!.aborted, true);
    } finally {
      await app.close();
    }
  });
}

test("Fastify refuses media types without a parser, which is why the README adds one", async () => {
  const fastify = newFastify();
  fastify.all("/*", toNodeListener({ fetch: async () => new Response() }));
  const app = await toRunningFastify(fastify);
  try {
    const form = await fetch(app.origin, { method: "POST", body: new URLSearchParams({ a: "1" }) });
    assert.equal([form.status, (await form.json()).code], [415, "FST_ERR_CTP_INVALID_MEDIA_TYPE"]);
  } finally {
    await app.close();
  }
});

test.run();
