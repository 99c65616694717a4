// deno-lint-ignore-file no-console -- the default observer writes to it
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toJsonSchema, toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import {
  type McpServer,
  type McpServerOptions,
  skillsExtension,
  tool,
  toolServer,
  type TrivetEvent,
} from "./mcp_service.ts";
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

test("a tool call returns its result, or isError for invalid arguments", async () => {
  const { server, call } = start();
  const { result } = await (await call("add", { a: 1, b: 2 })).json();
  assert.is(result.content[0].text, "3");
  assert.is((await (await call("add", { a: "x" })).json()).result.isError, true);
  for (const path of ["/", "/v1/skills", "/oauth/token"]) {
    assert.is((await server.fetch(new Request(URL + path))).status, 404);
  }
});

test("authenticate identifies callers, and impliedScopes applies to their scopes, also through others", async () => {
  const { call } = start({
    resourceMetadata: "https://auth.example/meta",
    impliedScopes: { own: ["write"], write: ["read"] },
    authenticate: ({ headers }) =>
      headers.get("authorization") === "Bearer good"
        ? { client: "app", workspace: "default", scopes: new Set(["own"]) }
        : undefined,
  });
  assert.is((await call("add", { a: 1, b: 2 })).status, 200);
  const good = await call("secret", {}, { authorization: "Bearer good" });
  assert.is((await good.json()).result.content[0].text, "app");
  const bad = await call("secret", {}, { authorization: "Bearer bad" });
  const anonymous = await call("secret");
  assert.equal([bad.status, anonymous.status], [401, 401]);
  assert.match(bad.headers.get("www-authenticate")!, 'error="invalid_token"');
  assert.match(anonymous.headers.get("www-authenticate")!, 'resource_metadata="https://auth.example/meta"');
});

test("without authenticate, credentials are ignored and auth cannot be required", async () => {
  const { call } = start();
  const headers = { authorization: "Bearer x" };
  assert.is((await call("add", { a: 1, b: 2 }, headers)).status, 200);
  assert.is((await call("secret", {}, headers)).status, 401);
  assert.throws(() => start({ auth: "required" }), /"auth"/);
  const authenticate = () => undefined;
  assert.throws(() => start({ authenticate, auth: "require" as "required" }), /"mcp\.auth"/);
});

for (const name of ["allowedHost", "authentication", "skills", "issuer"]) {
  test(`the option "${name}", which does not exist, is refused: it would have no effect`, () => {
    assert.throws(
      () => start({ [name]: "required" }),
      (error: unknown) => error instanceof TypeError && error.message.includes(`"${name}"`),
    );
  });
}

test("a request with another Host is refused", async () => {
  const { call } = start();
  assert.is((await call("add", { a: 1, b: 2 }, { host: "evil.example" })).status, 403);
});

test("skillsExtension() lists the skills of a Skills service", async () => {
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

async function listInput(server: McpServer): Promise<unknown> {
  const response = await server.fetch(
    new Request(`${URL}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    }),
  );
  const { result } = await response.json();
  return result.tools[0].inputSchema;
}

const SUM = v.object({ a: v.number(), b: v.optional(v.number(), 1) });
const PUBLISHED = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number", default: 1 } },
  required: ["a"],
};
const sum = tool({ name: "sum", description: "", input: SUM, run: ({ a, b }) => a + b });

test("a valibot schema needs no option", async () => {
  const { server, call } = start({ tools: [sum] });
  assert.is((await (await call("sum", { a: 1 })).json()).result.content[0].text, "2");
  assert.equal(await listInput(server), PUBLISHED);
});

test("a schema that makes its JSON Schema, or whose converter is an option, is compiled at start", async () => {
  const standard = toStandardJsonSchema(SUM);
  const first = start({ tools: [tool({ name: "sum", description: "", input: standard, run: () => 1 })] });
  const second = start({ tools: [sum], toJsonSchema });
  for (const { server } of [first, second]) {
    const { $schema: _, ...published } = await listInput(server) as Record<string, unknown>;
    assert.equal(published, PUBLISHED);
  }
  const date = tool({ name: "day", description: "", input: v.object({ a: v.date() }), run: () => 1 });
  assert.throws(() => start({ tools: [date], toJsonSchema }), /^Cannot define "day": .*date/);
});

test("a valibot schema without JSON Schema: the server does not become ready, and no request is answered", async () => {
  const events: TrivetEvent[] = [];
  const day = tool({ name: "day", description: "", input: v.object({ a: v.date() }), run: () => 1 });
  const { server, call } = start({ tools: [add, day], onEvent: (event) => events.push(event) });
  const response = await call("add", { a: 1, b: 2 });
  assert.is(response.status, 500);
  const { error } = await response.json();
  assert.is(error.code, -32603);
  assert.match(error.message, /"day"/);
  assert.is(events[0]?.type, "fault");
  const reason = await server.ready().catch((error: unknown) => error);
  assert.instance(reason, TypeError);
  // What replaces the definitions may be valid.
  await server.replace([add]);
  await server.ready();
  assert.is((await (await call("add", { a: 1, b: 2 })).json()).result.content[0].text, "3");
});

test("settings of a gateway that were not passed to gateway() are refused at start", () => {
  assert.throws(
    () => toolServer({ url: "http://127.0.0.1:8787", store: memoryStore(), gateway: {} as never }),
    (error: unknown) => error instanceof TypeError && error.message.includes('"gateway"'),
  );
});

test("without an observer, failures are written to the console, and refusals are not", async () => {
  const { error } = console;
  const written: unknown[][] = [];
  console.error = (...values) => written.push(values);
  try {
    const cause = new Error("no such table");
    const fails = tool({
      name: "fails",
      description: "",
      run: () => {
        throw cause;
      },
    });
    const { call } = start({ tools: [add, fails] });
    await (await call("add", { a: "x" })).text();
    assert.equal(written, []);
    await (await call("fails")).text();
    assert.equal(written, [["trivet:", { type: "fault", where: "tool fails", error: cause }]]);
    const { call: observed } = start({ tools: [fails], onEvent() {} });
    await (await observed("fails")).text();
    assert.is(written.length, 1);
  } finally {
    console.error = error;
  }
});

test.run();
