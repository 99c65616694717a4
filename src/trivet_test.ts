import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "./store/drivers/memory.ts";
import { addClient } from "./oauth/clients/client.ts";
import { createApiKey } from "./skills/api_key.ts";
import { tool } from "./mcp/definition/define.ts";
import { client, modernHeaders, modernParams, readEvents } from "./mcp/test_exchange.ts";
import type { TrivetOptions } from "./options/trivet_options.ts";
import { admin } from "./admin/admin.ts";
import { createTrivet } from "./trivet.ts";

const test = suite("trivet");
const ISSUER = "http://127.0.0.1:8787";

async function newTrivet(options: Partial<TrivetOptions> = {}) {
  const store = memoryStore();
  const { secret } = await addClient(store, { id: "worker", grant_types: ["client_credentials"] });
  const { secret: key } = await createApiKey(store, { name: "test" });
  const issuer = options.issuer ?? ISSUER;
  const trivet = createTrivet({ issuer, store, ...options });
  const send = (path: string, init?: RequestInit) =>
    trivet.fetch(new Request(new URL(issuer).origin + path, init));
  const base = new URL(issuer).pathname.replace(/\/$/, "");
  const token = async (scope: string): Promise<string> => {
    const form = { grant_type: "client_credentials", client_id: "worker", client_secret: secret!, scope };
    return (await (await send(`${base}/oauth/token`, { method: "POST", body: new URLSearchParams(form) }))
      .json()).access_token;
  };
  return { trivet, store, send, token, key };
}

const call = (name: string, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } }),
});

test("one handler serves all three services and /", async () => {
  const { send, key } = await newTrivet();
  assert.is((await send("/")).status, 200);
  assert.is((await send("/login")).status, 200);
  assert.is((await send("/v1/skills", { headers: { "x-api-key": key } })).status, 200);
  assert.is((await send("/mcp", call("list_skills"))).status, 200);
  for (const path of ["/nothing", "/.well-known/nothing", "/oauthx", "//", "/favicon.ico"]) {
    assert.is((await send(path)).status, 404, path);
  }
});

test("a subscription gets notifications/resources/list_changed when a skill is created, and when an administrator removes it", async () => {
  const { trivet, store, send, key } = await newTrivet({ admin: admin() });
  const params = modernParams({ notifications: { resourcesListChanged: true } });
  const body = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params };
  const events = readEvents(await client(trivet.mcp!).fetch(body, modernHeaders("subscriptions/listen")));
  await events.message();
  const form = new FormData();
  const skill = "---\nname: greet\ndescription: Greets people\n---\nSay hello.\n";
  form.append("files[]", new File([skill], "greet/SKILL.md"));
  const created = await send("/v1/skills", { method: "POST", headers: { "x-api-key": key }, body: form });
  assert.is(created.status, 200, await created.clone().text());
  assert.is((await events.message()).method, "notifications/resources/list_changed");
  const { secret } = await createApiKey(store, { name: "operator", scopes: ["admin"] });
  const removed = await send(`/admin/skills/${(await created.json()).id}`, {
    method: "DELETE",
    headers: { "x-api-key": secret },
  });
  assert.is(removed.status, 204, await removed.text());
  // Without a notification the stream would stay silent.
  const late = setTimeout(() => void events.cancel(), 10_000);
  assert.is((await events.message()).method, "notifications/resources/list_changed");
  clearTimeout(late);
  await events.cancel();
});

test("the scopes of an access token limit its use at the Skills service", async () => {
  const { send, token } = await newTrivet();
  const status = async (scope: string, method: string) => {
    const headers = { authorization: `Bearer ${await token(scope)}` };
    return (await send("/v1/skills", { method, headers })).status;
  };
  assert.equal([
    await status("profile", "GET"),
    await status("skills:read", "GET"),
    await status("skills:write", "GET"),
  ], [403, 200, 200]);
  assert.equal([await status("skills:read", "POST"), await status("skills:write", "POST")], [403, 400]);
});

test("a tool with scopes accepts an access token and an API key", async () => {
  const secret = tool({
    name: "secret",
    description: "",
    scopes: ["skills:read"],
    run: (_, { principal }) => principal!.client,
  });
  const { send, token, key } = await newTrivet({ mcp: { tools: [secret] } });
  const authorization = `Bearer ${await token("skills:read")}`;
  assert.is((await send("/mcp", call("secret"))).status, 401);
  assert.is(
    (await send("/mcp", call("secret", { authorization: `Bearer ${await token("profile")}` }))).status,
    403,
  );
  assert.match(await (await send("/mcp", call("secret", { authorization }))).text(), '"text":"worker"');
  for (const headers of [{ "x-api-key": key }, { authorization: `Bearer ${key}` }]) {
    assert.is((await send("/mcp", call("secret", headers as Record<string, string>))).status, 200);
  }
  assert.is((await send("/mcp", call("secret", { "x-api-key": "wrong" }))).status, 401);
});

test("list_skills has uploaded skills with an API key, and none without", async () => {
  const { send, key } = await newTrivet();
  const form = new FormData();
  form.append("files[]", new Blob(["---\nname: mine\ndescription: Is mine.\n---\nText"]), "mine/SKILL.md");
  assert.is(
    (await send("/v1/skills", { method: "POST", headers: { "x-api-key": key }, body: form })).status,
    200,
  );
  assert.match(
    await (await send("/mcp", call("list_skills", { "x-api-key": key }))).text(),
    "- mine: Is mine.",
  );
  const anonymous = await send("/mcp", call("list_skills"));
  assert.is(anonymous.status, 200);
  assert.not.match(await anonymous.text(), "mine");
});

test("with an issuer with a path all endpoints are below the path", async () => {
  const { send, key, token } = await newTrivet({ issuer: "http://127.0.0.1:8787/tenant" });
  assert.is((await send("/tenant/")).status, 200);
  assert.is((await send("/tenant")).status, 200);
  assert.is((await send("/tenant/v1/skills", { headers: { "x-api-key": key } })).status, 200);
  assert.is((await send("/tenant/mcp", call("list_skills"))).status, 200);
  assert.match(await token("read"), /^trivet_at_/);
  assert.is(
    (await (await send("/.well-known/oauth-authorization-server/tenant")).json()).issuer,
    "http://127.0.0.1:8787/tenant",
  );
  for (const path of ["/", "/v1/skills", "/mcp", "/oauth/authorize", "/tenant/tenant/mcp"]) {
    assert.is((await send(path)).status, 404, path);
  }
});

test("a disabled service has no endpoints", async () => {
  const { send } = await newTrivet({ oauth: false, skills: false });
  assert.is((await send("/login")).status, 404);
  assert.is((await send("/v1/skills")).status, 404);
  const init = {
    ...call("x"),
    body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
  };
  assert.equal((await (await send("/mcp", init)).json()).result.capabilities, { logging: {} });
  const home = async (options?: Partial<TrivetOptions>) =>
    await (await (await newTrivet(options)).send("/")).text();
  assert.match(await home(), "/v1/skills");
  assert.not.match(await home({ oauth: false, skills: false }), "/v1/skills");
});

test("a token and a cursor of one instance are valid on another instance with the same store", async () => {
  const first = await newTrivet({ oauth: { accessTokenFormat: "jwt" } });
  const second = createTrivet({ issuer: ISSUER, store: first.store });
  const headers = { authorization: `Bearer ${await first.token("skills:write")}` };
  const form = new FormData();
  form.append("files[]", new Blob(["---\nname: a\ndescription: A.\n---\n"]), "a/SKILL.md");
  for (let i = 0; i < 2; i++) {
    const body = new FormData();
    body.append("files[]", form.get("files[]")!);
    assert.is((await first.send("/v1/skills", { method: "POST", headers, body })).status, 200);
  }
  const { next_page } = await (await first.send("/v1/skills?limit=1", { headers })).json();
  const page = new Request(`${ISSUER}/v1/skills?limit=1&page=${encodeURIComponent(next_page)}`, { headers });
  assert.is((await (await second.fetch(page)).json()).data.length, 1);
});

for (
  const [options, named] of [
    [{ issuer: "http://public.example" }, '"issuer"'],
    [{ issuer: "https://a.example/?x" }, '"issuer"'],
    [{ issuer: "https://a.example/#x" }, '"issuer"'],
    [{ issuer: "https://u@a.example" }, '"issuer"'],
    [{ issuer: "nonsense" }, '"issuer"'],
    [{ oauth: { accessTokenLifetime: 0 } }, '"oauth.accessTokenLifetime"'],
    [{ oauth: { codeLifetime: 1.5 } }, '"oauth.codeLifetime"'],
    [{ oauth: { codeLifetime: 601 } }, '"oauth.codeLifetime"'],
    [{ oauth: { scopes: { "a b": "" } } }, '"a b"'],
    [{ oauth: { clients: [{ id: "x" }] } }, '"x"'],
    [{ skills: { uploadLimit: -1 } }, '"skills.uploadLimit"'],
    [{ mcp: { bodyLimit: 1 } }, '"mcp.bodyLimit"'],
    // A value that is not one of the option's must not be taken for a laxer one.
    [{ mcp: { auth: "require" } }, '"mcp.auth"'],
    [{ skills: { auth: "none" } }, '"skills.auth"'],
    [{ oauth: { registration: "closed" } }, '"oauth.registration"'],
    [{ oauth: { requestObjects: "require" } }, '"oauth.requestObjects"'],
    [{ oauth: { accessTokenFormat: "JWT" } }, '"oauth.accessTokenFormat"'],
    [{ oauth: { securityProfile: "fapi" } }, '"oauth.securityProfile"'],
    [{ oauth: { signUp: "invited" } }, '"oauth.signUp"'],
    [{ oauth: { signUp: { providers: "none" } } }, '"oauth.signUp"'],
    [{ skills: { unknownBetas: "reject" } }, '"skills.unknownBetas"'],
    [{ skills: { preset: "beta" } }, '"skills.preset"'],
    [{ skills: { messages: { markers: "none" } } }, '"skills.messages.markers"'],
    // A misspelt option would have no effect.
    [{ rateLimit: {} }, '"rateLimit"'],
    [{ oauth: { registraton: "off" } }, '"oauth.registraton"'],
    [{ skills: { uploadlimit: 1 } }, '"skills.uploadlimit"'],
    [{ mcp: { authentication: "required" } }, '"mcp.authentication"'],
    [{ mcp: "off" }, '"mcp"'],
    [{ oauth: true }, '"oauth"'],
  ] as const
) {
  test(`options ${JSON.stringify(options)} are refused at start with an error that names ${named}`, () => {
    assert.throws(
      () => createTrivet({ issuer: ISSUER, store: memoryStore(), ...options } as TrivetOptions),
      (error: Error) => error.message.includes(named),
    );
  });
}

test("unsafe.httpIssuer allows a public http issuer", () => {
  createTrivet({ issuer: "http://public.example", store: memoryStore(), unsafe: { httpIssuer: true } });
});

for (
  const [named, options] of [
    ["gateway", { gateway: { mcpServers: {} } }],
    ["admin", { admin: true }],
    ["rateLimits", { rateLimits: { address: "1/1m" } }],
    ["telemetry", { telemetry: {} }],
    ["oauth.passkeys", { oauth: { passkeys: { rpId: "localhost" } } }],
  ] as const
) {
  test(`settings of ${named} that were not passed to its function are refused at start`, () => {
    const given = { store: memoryStore(), ...options } as never;
    const isNamed = (error: unknown) => error instanceof TypeError && error.message.includes(`"${named}"`);
    assert.throws(
      () => createTrivet({ issuer: "http://localhost:8787", ...given as object } as never),
      isNamed,
    );
  });
}

test("a store without atomic commits is refused at start", () => {
  const store = memoryStore();
  const weak = Object.create(store, { guarantees: { value: { ...store.guarantees, atomic: false } } });
  assert.throws(() => createTrivet({ issuer: ISSUER, store: weak }), /\batomic\b/);
  for (const none of [undefined, null, {}, "trivet.db"]) {
    assert.throws(
      () => createTrivet({ issuer: ISSUER, store: none as never }),
      /^Invalid options: .*store/,
    );
  }
});

test("without a store the error names the option and a store for a first try", () => {
  assert.throws(
    () => createTrivet({ issuer: ISSUER } as never),
    /^Invalid options: "store" .*memoryStore\(\).*trivet\/store\/memory/,
  );
});

test("an internal failure gets 500 without its details", async () => {
  const { send, store, key } = await newTrivet();
  await store.close();
  const responses = await Promise.all([
    send("/v1/skills", { headers: { "x-api-key": key } }),
    send("/mcp", call("list_skills", { "x-api-key": key })),
    send("/oauth/token", {
      method: "POST",
      body: new URLSearchParams({ client_id: "worker", grant_type: "client_credentials" }),
    }),
    send("/login", { method: "POST", body: new URLSearchParams({ username: "a", password: "b" }) }),
    send("/oauth/authorize?client_id=worker"),
  ]);
  for (const response of responses) {
    assert.is(response.status, 500);
    const text = await response.text();
    assert.ok(text.length > 0);
    assert.not.match(text, "closed");
    assert.not.match(text, " at ");
  }
});

test.run();
