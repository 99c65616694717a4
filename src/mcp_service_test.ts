import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type McpServerOptions, skillsExtension, tool, toolServer } from "./mcp_service.ts";
import { createApiKey, skillsService } from "./skills_service.ts";
import { memoryStore } from "./store/drivers/memory.ts";

const test = suite("trivet/mcp alone");
const URL = "https://tools.example";

const add = tool({
  name: "add",
  description: "Adds",
  input: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  run: ({ a, b }: { a: number; b: number }) => a + b,
});
const secret = tool({
  name: "secret",
  description: "",
  scopes: ["read"],
  run: (_, { principal }) => principal!.client,
});

function start(options: Partial<McpServerOptions> = {}) {
  const server = toolServer({ url: URL, store: memoryStore(), tools: [add, secret], ...options });
  const call = (name: string, input: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    server.fetch(
      new Request(`${URL}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name, arguments: input },
        }),
      }),
    );
  return { server, call };
}

test("a tool is called", async () => {
  const { server, call } = start();
  const { result } = await (await call("add", { a: 1, b: 2 })).json();
  assert.is(result.content[0].text, "3");
  assert.ok((await (await call("add", { a: "x" })).json()).result?.isError ?? true);
  for (const path of ["/", "/v1/skills", "/oauth/token"]) {
    assert.is((await server.fetch(new Request(URL + path))).status, 404);
  }
});

test("authenticate identifies callers, whose scopes imply others", async () => {
  const { call } = start({
    resourceMetadata: "https://auth.example/meta",
    impliedScopes: { write: ["read"] },
    authenticate: ({ headers }) =>
      headers.get("authorization") === "Bearer good"
        ? { client: "app", workspace: "default", scopes: new Set(["write"]) }
        : undefined,
  });
  assert.is((await call("add", { a: 1, b: 2 })).status, 200);
  const good = await call("secret", {}, { authorization: "Bearer good" });
  assert.is((await good.json()).result.content[0].text, "app");
  const bad = await call("secret", {}, { authorization: "Bearer bad" });
  const none = await call("secret");
  assert.equal([bad.status, none.status], [401, 401]);
  assert.match(bad.headers.get("www-authenticate")!, 'error="invalid_token"');
  assert.match(none.headers.get("www-authenticate")!, 'resource_metadata="https://auth.example/meta"');
});

test("without authenticate credentials are not read, and nobody can require them", async () => {
  const { call } = start();
  const headers = { authorization: "Bearer x" };
  assert.is((await call("add", { a: 1, b: 2 }, headers)).status, 200);
  assert.is((await call("secret", {}, headers)).status, 401);
  assert.throws(() => start({ auth: "required" }), /"auth" is "required"/);
});

test("it refuses another Host", async () => {
  const { call } = start();
  assert.is((await call("add", { a: 1, b: 2 }, { host: "evil.example" })).status, 403);
});

test("the skills of a Skills service come as an extension", async () => {
  const store = memoryStore();
  const skills = skillsService({ url: "https://skills.example", store });
  const { secret } = await createApiKey(store, { name: "test" });
  const body = new FormData();
  body.append("files[]", new Blob(["---\nname: greet\ndescription: Greets.\n---\nHi."]), "greet/SKILL.md");
  const headers = { "x-api-key": secret };
  await skills.fetch(new Request("https://skills.example/v1/skills", { method: "POST", headers, body }));
  const { call } = start({
    extensions: [skillsExtension(skills.catalog)],
    authenticate: () => ({ client: "app", workspace: "default", scopes: new Set(["skills:read"]) }),
  });
  assert.match(await (await call("list_skills")).text(), "- greet: Greets.");
});

test.run();
