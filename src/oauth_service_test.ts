import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as trivet from "./mod.ts";
import * as oauth from "./oauth_service.ts";
import { addClient, authorizationServer } from "./oauth_service.ts";
import { memoryStore } from "./store/drivers/memory.ts";

const test = suite("trivet/oauth alone");
const ISSUER = "https://auth.example/tenant";

async function start() {
  const store = memoryStore();
  const { secret } = await addClient(store, { id: "worker", grant_types: ["client_credentials"] });
  const server = authorizationServer({ issuer: ISSUER, store, accessTokenLifetime: 60 });
  const post = (path: string, form: Record<string, string>): Promise<Response> =>
    server.fetch(
      new Request(ISSUER + path, {
        method: "POST",
        body: new URLSearchParams({ client_id: "worker", client_secret: secret!, ...form }),
      }),
    );
  const issued = await post("/oauth/token", { grant_type: "client_credentials", scope: "read" });
  assert.is(issued.status, 200);
  const { access_token, expires_in } = await issued.json();
  assert.is(expires_in, 60);
  return { server, post, token: access_token as string };
}

test("a token is issued and introspected", async () => {
  const { post, token } = await start();
  const { active, client_id, scope, iss } = await (await post("/oauth/introspect", { token })).json();
  assert.equal({ active, client_id, scope, iss }, {
    active: true,
    client_id: "worker",
    scope: "read",
    iss: ISSUER,
  });
});

test("authenticate(), verifyToken() and protect() guard routes of the application", async () => {
  const { server, token } = await start();
  const request = new Request(`${ISSUER}/orders`, { headers: { authorization: `Bearer ${token}` } });
  assert.is((await server.authenticate(request))?.client, "worker");
  assert.is((await server.verifyToken(token))?.client, "worker");
  assert.not.instance(await server.protect(request, { scopes: ["read"] }), Response);
  assert.is((await server.protect(request, { scopes: ["write"] }) as Response).status, 403);
  assert.is((await server.protect(new Request(`${ISSUER}/orders`)) as Response).status, 401);
});

for (const name of ["registraton", "allowedHost", "url", "skills"]) {
  test(`the option "${name}", which does not exist, is refused: it would have no effect`, () => {
    assert.throws(
      () => authorizationServer({ issuer: ISSUER, store: memoryStore(), [name]: "off" }),
      (error: unknown) => error instanceof TypeError && error.message.includes(`"${name}"`),
    );
  });
}

test("paths of the other services get 404", async () => {
  const { server } = await start();
  for (const path of ["/v1/skills", "/mcp", "/"]) {
    assert.is((await server.fetch(new Request(ISSUER + path))).status, 404, path);
  }
  const metadata = await server.fetch(
    new Request("https://auth.example/.well-known/oauth-authorization-server/tenant"),
  );
  assert.is((await metadata.json()).issuer, ISSUER);
});

test("on loopback other hosts and origins are refused, except at pages", async () => {
  const issuer = "http://127.0.0.1:8787";
  const server = authorizationServer({ issuer, store: memoryStore() });
  const fetch = (path: string, headers: Record<string, string>) =>
    server.fetch(new Request(issuer + path, { headers }));
  assert.is((await fetch("/api/user", { origin: "https://evil.example" })).status, 403);
  assert.is((await fetch("/api/user", { host: "evil.example" })).status, 403);
  assert.is((await fetch("/login", { origin: "https://evil.example" })).status, 200);
});

test("users, sessions, grants and clients are administered by exported functions, from both entries", async () => {
  const store = memoryStore();
  const server = authorizationServer({ issuer: "https://auth.example", store });
  const user = await oauth.addUser(store, { username: "alice", password: "wonderland" });
  const { secret } = await addClient(store, { id: "app", redirect_uris: ["https://app.example/cb"] });
  const logIn = async (password: string) => {
    const body = new URLSearchParams({ username: "alice", password });
    return (await server.fetch(new Request("https://auth.example/login", { method: "POST", body }))).status;
  };
  assert.is(await logIn("wonderland"), 200);
  const [session] = await oauth.listUserSessions(store, user.id);
  assert.is(await oauth.endUserSession(store, user.id, session!.id), true);
  assert.is(await oauth.endUserSessions(store, user.id), 0);
  assert.equal(await oauth.listUserGrants(store, user.id), []);
  assert.is(await oauth.endUserGrant(store, user.id, "unknown"), false);
  assert.is(await oauth.setPassword(store, "alice", "looking-glass"), undefined);
  assert.is(await oauth.lockUser(store, "alice"), true);
  assert.is(await logIn("looking-glass"), 401);
  assert.is(await oauth.unlockUser(store, user.id), true);
  assert.is(await oauth.updateUser(store, "alice", { name: "Alice L." }), true);
  assert.is((await oauth.findAccount(store, user.id))!.name, "Alice L.");
  assert.is(await logIn("looking-glass"), 200);
  const rotated = await oauth.rotateClientSecret(store, "app", { keepOld: 60 });
  assert.is.not(rotated!.secret, secret);
  assert.is((await oauth.updateClient(store, "app", { name: "The App" }))!.name, "The App");
  const names = Object.keys(oauth).filter((name) => !["authorizationServer"].includes(name));
  assert.equal(names.filter((name) => !(name in trivet)), []);
});

test.run();
