import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readJws } from "../../crypto/jws.ts";
import { TokenRefusal } from "../../http/bearer.ts";
import { toClient } from "../clients/client.ts";
import { APP_URI, ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";

const test = suite("oauth/resource");
const MCP = `${ISSUER}/mcp`;
const OTHER = "https://api.example/v2";
const RESOURCES = [
  { resource: ISSUER },
  { resource: MCP, name: "the tools" },
  { resource: OTHER, scopes: ["read"], accessTokenFormat: "jwt", accessTokenLifetime: 60 },
] as const;

const identifyAt = (server: TestServer, token: string, resource: string) =>
  server.service.identify(
    new Request(resource, { headers: { authorization: `Bearer ${token}` } }),
    {},
    resource,
  );

test("RFC 8707 section 2: a token is accepted at the requested resource only", async () => {
  const server = await newServer({ resources: RESOURCES });
  const { access_token } = await server.tokens({ resource: MCP });
  assert.not.instance(await identifyAt(server, access_token!, MCP), TokenRefusal);
  const refusal = await identifyAt(server, access_token!, `${ISSUER}/api/user`) as TokenRefusal;
  assert.is(refusal.error, "invalid_token");
  const user = await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } });
  assert.is(user.status, 401);
  assert.match(user.headers.get("www-authenticate")!, 'error="invalid_token"');
});

test("resources with different access token formats must be requested one at a time", async () => {
  const server = await newServer({ resources: RESOURCES });
  const form = `grant_type=client_credentials&client_id=web&client_secret=web-secret&scope=read`;
  const ask = async (...resources: string[]) => {
    const query = resources.map((each) => `&resource=${encodeURIComponent(each)}`).join("");
    const response = await server.send("/oauth/token", { form: form + query, method: "POST" });
    const { error } = await response.json();
    return [response.status, error];
  };
  assert.equal(await ask(MCP, OTHER), [400, "invalid_target"]);
  assert.equal((await ask(MCP, ISSUER))[0], 200);
  assert.equal((await ask(OTHER))[0], 200);
});

test("a token that was requested without resource is accepted at every resource below the issuer, and at no other", async () => {
  const server = await newServer({ resources: RESOURCES });
  const { access_token } = await server.tokens();
  for (const resource of [ISSUER, MCP, `${ISSUER}/api/user`]) {
    assert.not.instance(await identifyAt(server, access_token!, resource), TokenRefusal, resource);
  }
  assert.instance(await identifyAt(server, access_token!, OTHER), TokenRefusal);
  assert.instance(await identifyAt(server, access_token!, "https://as.example.evil/mcp"), TokenRefusal);
});

for (
  const spelling of [
    `${ISSUER}/mcp`,
    "https://AS.example/mcp",
    "HTTPS://as.example/mcp/",
    "https://as.example:443/mcp",
  ]
) {
  test(`aud has the server's spelling of the resource: ${spelling}`, async () => {
    const server = await newServer({ resources: RESOURCES, accessTokenFormat: "jwt" });
    const { access_token } = await server.tokens({ resource: spelling });
    assert.is(readJws(access_token!)!.claims.aud, MCP);
  });
}

for (
  const resource of [
    "https://unknown.example/",
    "mcp",
    `${ISSUER}/mcp#part`,
    `${ISSUER}/mcp/../admin`,
    "javascript:alert(1)",
  ]
) {
  test(`an unknown or malformed resource gets invalid_target: ${resource}`, async () => {
    const server = await newServer({ resources: RESOURCES });
    const response = await server.token({ grant_type: "client_credentials", resource });
    assert.is(response.status, 400);
    assert.is((await response.json()).error, "invalid_target");
    const cookie = await server.signIn();
    const refused = await server.send(server.authorizePath({ resource }), { headers: { cookie } });
    assert.is(new URL(refused.headers.get("location")!).searchParams.get("error"), "invalid_target");
  });
}

test("a configured resource must be an absolute URI without a fragment", async () => {
  for (const resource of ["mcp", "/mcp", "https://api.example/#part"]) {
    const message = await newServer({ resources: [{ resource }] }).catch((error) => error.message);
    assert.match(message, `resource "${resource}"`);
  }
});

test("more than 10 resources in a request are refused, also when all are the same", async () => {
  const server = await newServer({ resources: RESOURCES });
  const form = `grant_type=client_credentials&client_id=web&client_secret=web-secret` +
    `&resource=${encodeURIComponent(MCP)}`.repeat(50);
  const response = await server.send("/oauth/token", { form, method: "POST" });
  const { error, error_description } = await response.json();
  assert.equal([response.status, error], [400, "invalid_target"]);
  assert.match(error_description, /\b10$/);
});

test("a resource without scopes does not limit scope, also beside a resource with scopes", async () => {
  const resources = [{ resource: MCP }, { resource: OTHER, scopes: ["read"] }];
  const server = await newServer({ resources });
  const ask = async (...requested: string[]) => {
    const form =
      `grant_type=client_credentials&client_id=app&client_secret=${
        encodeURIComponent("app secret:&%+")
      }&scope=read+write` +
      requested.map((each) => `&resource=${encodeURIComponent(each)}`).join("");
    return (await (await server.send("/oauth/token", { form, method: "POST" })).json()).scope;
  };
  assert.equal([await ask(OTHER), await ask(MCP), await ask(MCP, OTHER)], [
    "read",
    "read write",
    "read write",
  ]);
});

test("RFC 8707 section 2.2: a token request may narrow the resources, and the grant keeps all", async () => {
  const server = await newServer({
    resources: [...RESOURCES.slice(0, 2), { resource: "https://b.example/" }],
    accessTokenFormat: "jwt",
  });
  const cookie = await server.signIn();
  const query = `${server.authorizePath()}&resource=${encodeURIComponent(MCP)}&resource=${
    encodeURIComponent("https://b.example")
  }`;
  const page = await (await server.send(query, { headers: { cookie } })).text();
  assert.match(page, "the tools, https://b.example/");
  const transaction = /name="transaction" value="([^"]+)"/.exec(page)![1]!;
  const answer = await server.send("/oauth/authorize", {
    form: { transaction, decision: "approve" },
    headers: { cookie },
  });
  const code = new URL(answer.headers.get("location")!).searchParams.get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI, resource: MCP };
  const first = await (await server.token(form)).json();
  assert.is(readJws(first.access_token)!.claims.aud, MCP);
  const refresh = (resource?: string, refresh_token = first.refresh_token) =>
    server.token({ grant_type: "refresh_token", refresh_token, resource });
  const second = await (await refresh()).json();
  assert.equal(readJws(second.access_token)!.claims.aud, [MCP, "https://b.example/"]);
  const refused = await refresh(ISSUER, second.refresh_token);
  assert.equal([refused.status, (await refused.json()).error], [400, "invalid_target"]);
  assert.is(
    (await refresh("https://b.example/", second.refresh_token)).status,
    200,
    "the refusal did not consume the refresh token",
  );
});

test("RFC 8707 section 2.2: a grant for the issuer, named or not, covers the resources below it and no other", async () => {
  for (const named of [{ resource: ISSUER }, {}]) {
    const server = await newServer({ resources: RESOURCES });
    const { refresh_token } = await server.tokens(named);
    const refused = await server.token({ grant_type: "refresh_token", refresh_token, resource: OTHER });
    assert.equal([refused.status, (await refused.json()).error], [400, "invalid_target"]);
    const narrowed = await server.token({ grant_type: "refresh_token", refresh_token, resource: MCP });
    assert.is(narrowed.status, 200);
    const { access_token } = await narrowed.json();
    assert.not.instance(await identifyAt(server, access_token, MCP), TokenRefusal);
    assert.instance(await identifyAt(server, access_token, ISSUER), TokenRefusal);
  }
});

test("a resource sets the format, the lifetime and the scopes of its tokens", async () => {
  const server = await newServer({ resources: RESOURCES });
  const body =
    await (await server.token({ grant_type: "client_credentials", scope: "read write", resource: OTHER }))
      .json();
  assert.equal([body.expires_in, body.scope], [60, "read"]);
  const { aud, scope, exp, iat } = readJws(body.access_token)!.claims as Record<string, number>;
  assert.equal([aud, scope, exp! - iat!], [OTHER, "read", 60]);
  const none = await server.token({ grant_type: "client_credentials", scope: "profile", resource: OTHER });
  assert.equal([none.status, (await none.json()).error], [400, "invalid_scope"]);
});

test("attack: a grant gives no token for a resource that the operator removed, whose limits went with it", async () => {
  const before = await newServer({ resources: RESOURCES });
  const { refresh_token } = await before.tokens({ resource: OTHER, scope: "read write" });
  const { store } = before;
  const refresh = async (server: TestServer) => {
    const response = await server.token({ grant_type: "refresh_token", refresh_token });
    const { error, scope, expires_in } = await response.json();
    return error ?? [scope, expires_in];
  };
  assert.is(await refresh(await newServer({ store, resources: RESOURCES.slice(0, 2) })), "invalid_target");
  // Nothing is lost: an instance that has the resource, or has it again, refreshes.
  assert.equal(await refresh(await newServer({ store, resources: RESOURCES })), ["read", 60]);
});

test("attack: a token is exchanged for none for a resource that the operator removed", async () => {
  const grant_type = "urn:ietf:params:oauth:grant-type:token-exchange";
  const clients = [toClient({ id: "gateway", secret: "g", grant_types: [grant_type] }, 0)];
  const before = await newServer({ resources: RESOURCES });
  const { access_token } = await before.tokens({ resource: MCP });
  const after = await newServer({
    store: before.store,
    resources: [RESOURCES[0], RESOURCES[2]],
    clients: [...clients, toClient({ id: "app", secret: "s" }, 0)],
  });
  const form = {
    grant_type,
    subject_token: access_token,
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    client_id: "gateway",
    client_secret: "g",
  };
  assert.is((await (await after.token(form)).json()).error, "invalid_target");
});

test("a grant for several resources gives tokens for those that the server still has", async () => {
  const before = await newServer({ resources: [...RESOURCES.slice(0, 2), { resource: OTHER }] });
  const page = `${before.authorizePath({ resource: MCP })}&resource=${encodeURIComponent(OTHER)}`;
  const cookie = await before.signIn();
  const shown = await (await before.send(page, { headers: { cookie } })).text();
  const form = { transaction: transactionOf(shown), decision: "approve" };
  const answer = await before.send("/oauth/authorize", { form, headers: { cookie } });
  const both = new URL(answer.headers.get("location")!).searchParams.get("code")!;
  const after = await newServer({ store: before.store, resources: RESOURCES.slice(0, 2) });
  const response = await after.token({ grant_type: "authorization_code", code: both, redirect_uri: APP_URI });
  const { access_token, expires_in } = await response.json();
  assert.is(expires_in, 7200);
  assert.not.instance(await identifyAt(after, access_token, MCP), TokenRefusal);
});

test("RFC 9728: each resource below the issuer has metadata at its own URL", async () => {
  const server = await newServer({ resources: RESOURCES });
  for (const [path, resource] of [["", ISSUER], ["/mcp", MCP]]) {
    const response = await server.send(`/.well-known/oauth-protected-resource${path}`);
    assert.is(response.headers.get("content-type"), "application/json");
    const document = await response.json();
    assert.is(document.resource, resource);
    assert.equal(document.authorization_servers, [ISSUER]);
    assert.equal(document.bearer_methods_supported, ["header"]);
    assert.equal(document.scopes_supported, ["profile", "read", "write"]);
  }
  assert.is((await server.send("/.well-known/oauth-protected-resource/v2")).status, 404);
});

test("RFC 8414 section 3.1 and RFC 9728 section 3.1: the well-known segment is inserted before the path of the issuer", async () => {
  const issuer = "https://as.example/tenant/a";
  const server = await newServer({ issuer, resources: [{ resource: `${issuer}/mcp` }] });
  const metadata = await (await server.send("/.well-known/oauth-authorization-server/tenant/a")).json();
  assert.is(metadata.issuer, issuer);
  assert.is(metadata.token_endpoint, `${issuer}/oauth/token`);
  const document = await (await server.send("/.well-known/oauth-protected-resource/tenant/a/mcp")).json();
  assert.is(document.resource, `${issuer}/mcp`);
});

test.run();
