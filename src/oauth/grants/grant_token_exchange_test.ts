import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readJws } from "../../crypto/jws.ts";
import { toClient } from "../clients/client.ts";
import { createProof, newKey } from "../test_keys.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";

const test = suite("oauth/grant_token_exchange");
const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const MCP = `${ISSUER}/mcp`;
const clients = [
  toClient({
    id: "app",
    secret: "app secret:&%+",
    domain: "app.example",
    grant_types: ["authorization_code", "refresh_token", "client_credentials", GRANT],
  }, 0),
  toClient({
    id: "gateway",
    secret: "g",
    grant_types: [GRANT, "client_credentials"],
    scope: "read",
    // Any spelling of the resource.
    introspects: [`${MCP}/`],
    token_exchange_resources: [`${ISSUER}/`],
  }, 0),
  toClient({ id: "plain", secret: "p" }, 0),
];
const GATEWAY = { client_id: "gateway", client_secret: "g" };

async function exchange(
  server: TestServer,
  subject_token: string,
  form: Record<string, string | undefined> = {},
  headers = {},
) {
  const response = await server.token({
    grant_type: GRANT,
    subject_token,
    subject_token_type: ACCESS_TOKEN,
    ...form,
  }, headers);
  return { status: response.status, body: await response.json() };
}

test("RFC 8693 section 2: a service exchanges the token that it received for a token of its own", async () => {
  const server = await newServer({ clients, accessTokenFormat: "jwt" });
  const { access_token } = await server.tokens({ scope: "read write", resource: MCP });
  server.advance(100);
  const { status, body } = await exchange(server, access_token!, { ...GATEWAY, resource: `${ISSUER}/` });
  assert.is(status, 200);
  assert.equal([body.issued_token_type, body.token_type, body.scope, "refresh_token" in body], [
    ACCESS_TOKEN,
    "Bearer",
    "read",
    false,
  ]);
  const [before, after] = [readJws(access_token!)!.claims, readJws(body.access_token)!.claims] as Record<
    string,
    unknown
  >[];
  assert.equal([after!.sub, after!.client_id, after!.aud, after!.act], [before!.sub, "gateway", ISSUER, {
    sub: "gateway",
  }]);
  assert.ok((after!.exp as number) <= (before!.exp as number), "not valid for longer");
});

test("section 4.1: act names the actor and nests the previous actors", async () => {
  const server = await newServer({ clients, accessTokenFormat: "jwt" });
  const { access_token } = await server.tokens({ resource: MCP });
  const actor_token =
    (await (await server.token({ grant_type: "client_credentials", ...GATEWAY })).json()).access_token;
  const actor = { actor_token, actor_token_type: ACCESS_TOKEN };
  const first = await exchange(server, access_token!, { ...GATEWAY, ...actor });
  const second = await exchange(server, first.body.access_token, GATEWAY);
  assert.equal(readJws(second.body.access_token)!.claims.act, { sub: "gateway", act: { sub: "gateway" } });
});

test("revoking the original grant revokes exchanged tokens", async () => {
  const server = await newServer({ clients });
  const { access_token, refresh_token } = await server.tokens({ resource: MCP, scope: "read" });
  const { body } = await exchange(server, access_token!, { ...GATEWAY, resource: MCP });
  assert.ok(
    await server.service.identify(
      new Request(MCP, { headers: { authorization: `Bearer ${body.access_token}` } }),
      {},
      MCP,
    ),
  );
  await server.send("/oauth/revoke", {
    form: { token: refresh_token, client_id: "app", client_secret: "app secret:&%+" },
  });
  const form = { token: body.access_token, client_id: "gateway", client_secret: "g" };
  assert.equal(await (await server.send("/oauth/introspect", { form })).json(), { active: false });
});

test("a client may exchange only tokens that were issued to it or to resources that it serves", async () => {
  const server = await newServer({ clients });
  const { access_token } = await server.tokens({ scope: "read" });
  assert.equal(
    (await exchange(server, access_token!, GATEWAY)).body.error,
    "invalid_request",
    "the audience is the whole server, not a resource of the gateway",
  );
  assert.is((await exchange(server, access_token!)).status, 200, "its own");
  assert.is(
    (await exchange(server, access_token!, { client_id: "plain", client_secret: "p" })).body.error,
    "unauthorized_client",
  );
});

for (
  const [name, form, error] of [
    ["more scope than the token has", { scope: "write" }, "invalid_scope"],
    ["an unknown resource", { resource: "https://unknown.example" }, "invalid_target"],
    ["an unknown audience", { audience: "unknown" }, "invalid_target"],
    ["an unknown subject_token", { subject_token: "trivet_at_x" }, "invalid_request"],
    ["no subject_token", { subject_token: undefined }, "invalid_request"],
    ["no subject_token_type", { subject_token_type: undefined }, "invalid_request"],
    ["an ID token", { subject_token_type: "urn:ietf:params:oauth:token-type:id_token" }, "invalid_request"],
    [
      "a refresh token as the requested type",
      { requested_token_type: "urn:ietf:params:oauth:token-type:refresh_token" },
      "invalid_request",
    ],
    ["actor_token_type without actor_token", { actor_token_type: ACCESS_TOKEN }, "invalid_request"],
    ["an unknown actor_token", { actor_token: "x", actor_token_type: ACCESS_TOKEN }, "invalid_request"],
  ] as const
) {
  test(`a token exchange with ${name} gets ${error}`, async () => {
    const server = await newServer({ clients });
    const { access_token } = await server.tokens({ scope: "read" });
    const { status, body } = await exchange(server, access_token!, form);
    assert.equal([status, body.error], [400, error]);
  });
}

test("RFC 8693 section 1.1: a client_credentials token of another client is not exchanged, since the subject would change", async () => {
  const server = await newServer({ clients });
  const own = async (form = {}): Promise<string> =>
    (await (await server.token({ grant_type: "client_credentials", scope: "read", ...form })).json())
      .access_token;
  const ofApp = await own({ resource: MCP });
  const { status, body } = await exchange(server, ofApp, GATEWAY);
  assert.equal([status, body.error], [400, "invalid_request"]);
  assert.is((await exchange(server, ofApp)).status, 200, "its own token");
});

test("a DPoP-bound token is exchanged with a proof of its key only", async () => {
  const server = await newServer({ clients });
  const key = await newKey();
  const TOKEN = ISSUER + "/oauth/token";
  const bound =
    await (await server.token({ grant_type: "client_credentials" }, { dpop: await createProof(key, TOKEN) }))
      .json();
  assert.is((await exchange(server, bound.access_token)).body.error, "invalid_request");
  assert.is(
    (await exchange(server, bound.access_token, {}, { dpop: await createProof(await newKey(), TOKEN) })).body
      .error,
    "invalid_request",
  );
  const good = await exchange(server, bound.access_token, {}, { dpop: await createProof(key, TOKEN) });
  assert.equal([good.status, good.body.token_type], [200, "DPoP"]);
});

test("RFC 8693 section 2.2.2: an exchange for a resource outside the audience of the subject token is refused", async () => {
  const resources = [{ resource: ISSUER }, { resource: MCP }, { resource: "https://notes.example/" }];
  const server = await newServer({ clients, resources });
  const narrow = await server.tokens({ resource: "https://notes.example/" });
  for (const target of [{ resource: MCP }, { audience: MCP }, { resource: ISSUER }]) {
    const { status, body } = await exchange(server, narrow.access_token!, target);
    assert.equal([status, body.error], [400, "invalid_target"]);
  }
  const same = await exchange(server, narrow.access_token!, { resource: "https://notes.example" });
  assert.is(same.status, 200);
  const whole = await server.tokens({ scope: "read" });
  assert.is(
    (await exchange(server, whole.access_token!, { resource: MCP })).status,
    200,
    "a part of the server",
  );
  const foreign = await exchange(server, whole.access_token!, { resource: "https://notes.example/" });
  assert.is(foreign.body.error, "invalid_target");
});

test("token_exchange_resources allows a client these further resources only", async () => {
  const resources = [{ resource: ISSUER }, { resource: MCP }, { resource: "https://notes.example/" }];
  const server = await newServer({ clients, resources });
  const { access_token } = await server.tokens({ resource: MCP });
  assert.is((await exchange(server, access_token!, { ...GATEWAY, resource: ISSUER })).status, 200);
  assert.is(
    (await exchange(server, access_token!, { ...GATEWAY, resource: "https://notes.example/" })).body.error,
    "invalid_target",
  );
});

test("RFC 9396 section 7: the response has the authorization_details of the new token", async () => {
  const pay = { check: () => undefined, describe: () => "pay" };
  const server = await newServer({ clients, authorizationDetailTypes: { pay } });
  const details = [{ type: "pay", amount: 5 }];
  const form = { grant_type: "client_credentials", authorization_details: JSON.stringify(details) };
  const { access_token } = await (await server.token(form)).json();
  assert.equal((await exchange(server, access_token)).body.authorization_details, details);
  const { access_token: without } = await (await server.token({ grant_type: "client_credentials" })).json();
  assert.not.ok("authorization_details" in (await exchange(server, without)).body);
});

test("RFC 8693 section 1.1: an actor token must belong to the requesting client and come with its key", async () => {
  const server = await newServer({ clients });
  const { access_token } = await server.tokens({ resource: MCP });
  const foreign = { actor_token: access_token, actor_token_type: ACCESS_TOKEN, ...GATEWAY };
  const refused = await exchange(server, access_token!, foreign);
  assert.equal([refused.status, refused.body.error], [400, "invalid_request"]);
  const [key, other] = [await newKey(), await newKey()];
  const proof = async (by: typeof key) => ({ dpop: await createProof(by, ISSUER + "/oauth/token") });
  const bound = await (await server.token({ grant_type: "client_credentials" }, await proof(key))).json();
  const actor = { actor_token: bound.access_token, actor_token_type: ACCESS_TOKEN };
  assert.is((await exchange(server, access_token!, actor)).body.error, "invalid_request");
  assert.is((await exchange(server, access_token!, actor, await proof(other))).body.error, "invalid_request");
  assert.is((await exchange(server, access_token!, actor, await proof(key))).status, 200);
});

test("the number of nested actors is limited", async () => {
  const server = await newServer({ clients });
  let { access_token: token } = await server.tokens({ scope: "read" });
  for (let i = 0; i < 10; i++) token = (await exchange(server, token!)).body.access_token;
  assert.is((await exchange(server, token!)).body.error, "invalid_request");
});

test("an opaque token is exchanged for a valid opaque token, and token_issued is reported", async () => {
  const server = await newServer({ clients });
  const { access_token } = await server.tokens({ scope: "profile" });
  const { body } = await exchange(server, access_token!);
  assert.match(body.access_token, /^trivet_at_/);
  const headers = { authorization: `Bearer ${body.access_token}` };
  const user = await server.send("/api/user", { headers });
  assert.equal([user.status, (await user.json()).name], [200, "Alice Liddell"]);
  const event = server.events.at(-1) as { grant_type: string; client: string };
  assert.equal([event.grant_type, event.client], [GRANT, "app"]);
});

test("a token without a scope that is allowed for the client is not exchanged", async () => {
  const server = await newServer({ clients });
  const { access_token } = await server.tokens({ scope: "write", resource: MCP });
  const { status, body } = await exchange(server, access_token!, GATEWAY);
  assert.equal([status, body.error], [400, "invalid_scope"]);
});

test.run();
