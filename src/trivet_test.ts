import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "./store/drivers/memory.ts";
import { addClient } from "./oauth/clients/client.ts";
import { createApiKey } from "./skills/api_key.ts";
import { tool } from "./mcp/definition/definition.ts";
import { client, modernHeaders, modernParams, readEvents } from "./mcp/test_exchange.ts";
import type { TrivetOptions } from "./options.ts";
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

test("one handler answers for all three services, and for /", async () => {
  const { send, key } = await newTrivet();
  assert.is((await send("/")).status, 200);
  assert.is((await send("/login")).status, 200);
  assert.is((await send("/v1/skills", { headers: { "x-api-key": key } })).status, 200);
  assert.is((await send("/mcp", call("list_skills"))).status, 200);
  for (const path of ["/nothing", "/.well-known/nothing", "/oauthx", "//", "/favicon.ico"]) {
    assert.is((await send(path)).status, 404, path);
  }
});

test("who listens to the tool server hears that a skill came or went", async () => {
  const { trivet, send, key } = await newTrivet();
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
  await events.cancel();
});

test("an access token opens the Skills service as far as its scopes go", async () => {
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

test("an access token and an API key open tools that ask for scopes", async () => {
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

test("tools see uploaded skills with a token, and none without", async () => {
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
  assert.match(await (await send("/mcp", call("list_skills"))).text(), "No skills are available");
});

test("an issuer with a path has everything below it", async () => {
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

test("a service that is left out is not there", async () => {
  const { send } = await newTrivet({ oauth: false, skills: false });
  assert.is((await send("/login")).status, 404);
  assert.is((await send("/v1/skills")).status, 404);
  const init = {
    ...call("x"),
    body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
  };
  assert.equal((await (await send("/mcp", init)).json()).result.capabilities, { logging: {} });
  assert.not.match(await (await send("/")).text(), "Know-how");
});

test("two instances on one store: a token, a cursor and a key of one are good on the other", async () => {
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
  const [options, message] of [
    [{ issuer: "http://public.example" }, '"issuer" must be an https URL'],
    [{ issuer: "https://a.example/?x" }, "without query"],
    [{ issuer: "https://a.example/#x" }, "fragment"],
    [{ issuer: "https://u@a.example" }, "user"],
    [{ issuer: "nonsense" }, '"issuer"'],
    [{ oauth: { accessTokenLifetime: 0 } }, '"oauth.accessTokenLifetime" must be a whole number'],
    [{ oauth: { codeLifetime: 1.5 } }, '"oauth.codeLifetime"'],
    [{ oauth: { scopes: { "a b": "" } } }, 'scope "a b"'],
    [{ oauth: { clients: [{ id: "x" }] } }, "a secret, a domain or redirect URIs"],
    [{ skills: { uploadLimit: -1 } }, '"skills.uploadLimit"'],
    [{ mcp: { bodyLimit: 1 } }, '"mcp.bodyLimit"'],
  ] as const
) {
  test(`options ${JSON.stringify(options)} are refused at start: ${message}`, () => {
    assert.throws(
      () => createTrivet({ issuer: ISSUER, store: memoryStore(), ...options } as TrivetOptions),
      (error: Error) => error.message.includes(message),
    );
  });
}

test("an http issuer in public needs a switch that says unsafe", () => {
  createTrivet({ issuer: "http://public.example", store: memoryStore(), unsafe: { httpIssuer: true } });
});

test("a store that cannot keep single use is refused", () => {
  const store = memoryStore();
  const weak = Object.create(store, { guarantees: { value: { ...store.guarantees, atomic: false } } });
  assert.throws(() => createTrivet({ issuer: ISSUER, store: weak }), /redeemed twice/);
});

test("whatever fails inside, the caller gets a 500 without a word of it", async () => {
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
