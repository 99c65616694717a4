/**
 * No grant gives a token a scope that the role of the user does not allow, and a lowered role applies to earlier grants.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { SCOPES } from "../../options/oauth_options.ts";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { toClient } from "../clients/client.ts";
import type { UserRole } from "../records/user_record.ts";
import { defineScopes } from "../grants/scope.ts";
import { newKey, sign } from "../test_keys.ts";
import { APP_URI, ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";
import { addUser, setUserRole } from "./user.ts";

const test = suite("oauth/user_role");
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";
const BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ALL = Object.keys(SCOPES).join(" ");
const clients = [
  toClient({ id: "app", secret: "app secret:&%+", domain: "app.example", scope: ALL, trusted: true }, 0),
  toClient({ id: "tv", grant_types: [DEVICE, "refresh_token"] }, 0),
  toClient({ id: "agent", secret: "s", grant_types: [BEARER], scope: ALL }, 0),
];

async function newRoleServer(
  role?: UserRole,
  options: Partial<AuthorizationServerOptions> = {},
): Promise<TestServer> {
  const server = await newServer({ clients, scopes: SCOPES, ...options });
  if (role !== undefined) assert.ok(await setUserRole(server.store, "alice", role));
  return server;
}

const redeem = async (server: TestServer, code: string) =>
  await (await server.token({ grant_type: "authorization_code", code, redirect_uri: APP_URI })).json();
const refresh = async (server: TestServer, refresh_token: string) =>
  await (await server.token({ grant_type: "refresh_token", refresh_token })).json();
/** The scopes of a token by `verifyToken()` and by introspection, `undefined` when it is invalid. */
async function scopesOf(
  server: TestServer,
  token: string,
): Promise<readonly [string[] | undefined, string | undefined]> {
  const form = { client_id: "app", client_secret: "app secret:&%+", token };
  const { scope } = await (await server.send("/oauth/introspect", { form })).json();
  const principal = await server.service.verifyToken(token);
  return [principal && [...principal.scopes], scope];
}

test("a scope requires the highest role of the scopes that it implies", () => {
  const { scopeRoles } = defineScopes({
    read: "",
    write: { description: "", role: "author" },
    both: { description: "", implies: ["read", "write"] },
    admin: "",
    "clients:register": "",
    root: { description: "", implies: ["admin"] },
  });
  assert.equal(Object.fromEntries(scopeRoles), {
    read: "reader",
    write: "author",
    both: "author",
    admin: "admin",
    "clients:register": "admin",
    root: "admin",
  });
});

for (
  const [role, granted] of [
    [undefined, "profile read write skills:read"],
    ["reader", "profile read write skills:read"],
    ["author", "profile read write skills:read skills:write messages:write"],
    ["admin", ALL],
  ] as const
) {
  test(`a user with the role ${role} can grant ${granted}`, async () => {
    const server = await newRoleServer(role);
    const cookie = await server.signIn();
    const page = await (await server.send(server.authorizePath({ scope: ALL }), { headers: { cookie } }))
      .text();
    for (const scope of ALL.split(" ")) {
      assert.is(page.includes(SCOPES[scope]!.description), granted.split(" ").includes(scope), scope);
    }
    const tokens = await server.tokens({ scope: ALL });
    assert.is(tokens.scope, granted);
    assert.is((await refresh(server, tokens.refresh_token!)).scope, granted);
  });
}

test("a request without any scope that the role allows gets access_denied at the client", async () => {
  const server = await newRoleServer("reader");
  const cookie = await server.signIn();
  for (const scope of ["skills:write", "messages:write admin"]) {
    const response = await server.send(server.authorizePath({ scope }), { headers: { cookie } });
    const { searchParams } = new URL(response.headers.get("location")!);
    assert.equal([searchParams.get("error"), searchParams.get("state")], ["access_denied", "xyz"]);
  }
});

test("defaultRole applies to users without a role", async () => {
  const server = await newRoleServer(undefined, { defaultRole: "author" });
  assert.is((await server.tokens({ scope: "skills:write admin" })).scope, "skills:write");
  await setUserRole(server.store, "alice", "reader");
  assert.is((await server.tokens({ scope: "skills:read skills:write" })).scope, "skills:read");
});

test("addUser() sets a role, and an unknown role is refused", async () => {
  const server = await newRoleServer();
  const user = await addUser(server.store, { username: "bob", password: "x", role: "author" }, 1000);
  assert.is(user.role, "author");
  const role = "root" as UserRole;
  const attempts = [
    () => addUser(server.store, { username: "eve", password: "x", role }, 1000),
    () => setUserRole(server.store, "bob", role),
  ];
  for (const attempt of attempts) assert.instance(await attempt().catch((error) => error), TypeError);
  assert.is(await setUserRole(server.store, "unknown", "admin"), false);
});

test("a lowered role applies immediately to existing tokens, codes, refresh tokens and consents", async () => {
  for (const accessTokenFormat of ["opaque", "jwt"] as const) {
    const server = await newRoleServer("author", { accessTokenFormat });
    const scope = "skills:read skills:write";
    const tokens = await server.tokens({ scope });
    const code = (await server.authorize({ scope })).get("code")!;
    assert.equal(await scopesOf(server, tokens.access_token!), [[
      "skills:read",
      "skills:write",
      "messages:write",
    ], scope]);
    await setUserRole(server.store, "alice", "reader");
    assert.is((await redeem(server, code)).scope, "skills:read");
    assert.is((await refresh(server, tokens.refresh_token!)).scope, "skills:read");
    const cookie = await server.signIn();
    const again = await server.send(server.authorizePath({ scope }), { headers: { cookie } });
    const next = new URL(again.headers.get("location")!).searchParams.get("code")!;
    assert.is((await redeem(server, next)).scope, "skills:read");
    assert.equal(await scopesOf(server, tokens.access_token!), [["skills:read"], "skills:read"]);
  }
});

test("a token of which the role allows less than at the start of a request is no longer valid for it", async () => {
  for (const accessTokenFormat of ["opaque", "jwt"] as const) {
    const server = await newRoleServer("author", { accessTokenFormat });
    const { access_token } = await server.tokens({ scope: "skills:read skills:write" });
    const { isStillValid } = (await server.service.verifyToken(access_token!))!;
    await setUserRole(server.store, "alice", "admin");
    assert.is(await isStillValid!(), true);
    await setUserRole(server.store, "alice", "reader");
    assert.is(await isStillValid!(), false);
  }
});

test("a token is invalid when the lowered role allows none of its scopes", async () => {
  const server = await newRoleServer("author");
  const tokens = await server.tokens({ scope: "skills:write" });
  const code = (await server.authorize({ scope: "skills:write" })).get("code")!;
  await setUserRole(server.store, "alice", "reader");
  assert.is((await redeem(server, code)).error, "invalid_grant");
  assert.is((await refresh(server, tokens.refresh_token!)).error, "invalid_grant");
  assert.equal(await scopesOf(server, tokens.access_token!), [undefined, undefined]);
  await setUserRole(server.store, "alice", "author");
  assert.is(
    (await refresh(server, tokens.refresh_token!)).scope,
    "skills:write",
    "the scope returns with the role",
  );
});

test("in the device grant the page and the token have only the scopes that the role allows", async () => {
  const server = await newRoleServer("reader");
  const start = async (scope: string) =>
    await (await server.send("/oauth/device_authorization", { form: { client_id: "tv", scope } })).json();
  const poll = async (device_code: string) =>
    await (await server.send("/oauth/token", { form: { grant_type: DEVICE, device_code, client_id: "tv" } }))
      .json();
  const cookie = await server.signIn();
  const open = (user_code: string) => server.send("/device", { form: { user_code }, headers: { cookie } });
  const allow = (page: string) =>
    server.send("/device", {
      form: { transaction: transactionOf(page), decision: "approve" },
      headers: { cookie },
    });

  const device = await start("skills:read skills:write");
  const page = await (await open(device.user_code)).text();
  assert.match(page, SCOPES["skills:read"]!.description);
  assert.not.match(page, SCOPES["skills:write"]!.description);
  await allow(page);
  assert.is((await poll(device.device_code)).scope, "skills:read");

  const beyond = await start("skills:write");
  assert.is((await open(beyond.user_code)).status, 403);

  // The role is lowered before the decision, and then between the decision and the token.
  await setUserRole(server.store, "alice", "author");
  const undecided = await start("skills:write");
  const openPage = await (await open(undecided.user_code)).text();
  await setUserRole(server.store, "alice", "reader");
  await allow(openPage);
  assert.is((await poll(undecided.device_code)).error, "access_denied");
  await setUserRole(server.store, "alice", "author");
  const allowed = await start("skills:write");
  await allow(await (await open(allowed.user_code)).text());
  await setUserRole(server.store, "alice", "reader");
  assert.is((await poll(allowed.device_code)).error, "invalid_grant");
});

test("users of authenticateUser have the role that it returns, or else the default role", async () => {
  let role: UserRole | undefined = "author";
  const authenticateUser = () =>
    Promise.resolve({ id: "idp|1", name: "Bob", email: "b@example.com", ...(role && { role }) });
  const server = await newRoleServer(undefined, { authenticateUser });
  const scope = "skills:read skills:write";
  const tokens = await server.tokens({ scope });
  assert.is(tokens.scope, scope);
  // The role of the next login also applies to earlier grants.
  role = undefined;
  await server.signIn();
  assert.is((await refresh(server, tokens.refresh_token!)).scope, "skills:read");
});

test("in the JWT bearer grant the role of the user limits the scopes", async () => {
  const idp = await newKey("ES256", "idp");
  for (
    const [role, outcome] of [[undefined, "skills:read"], ["author", "skills:read skills:write"]] as const
  ) {
    const user = () => Promise.resolve({ id: "idp|1", name: "Bob", email: "", ...(role && { role }) });
    const trustedIssuers = [{ issuer: "https://idp.example", jwks: { keys: [idp.jwk] }, user }];
    const server = await newRoleServer(undefined, { trustedIssuers });
    const ask = async (scope: string) => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: "https://idp.example", sub: "1", aud: ISSUER, iat: now, exp: now + 60 };
      const assertion = await sign(idp, { typ: "JWT", kid: "idp" }, { ...claims, jti: scope });
      const form = { grant_type: BEARER, assertion, client_id: "agent", client_secret: "s", scope };
      return await (await server.send("/oauth/token", { form })).json();
    };
    assert.is((await ask("skills:read skills:write")).scope, outcome);
    assert.is((await ask("admin")).error, "invalid_scope");
  }
});

test.run();
