import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import { defineScopes, expandScopes } from "./scope.ts";
import { register, WEB } from "../endpoints/test_registration.ts";
import { newServer } from "../test_server.ts";

const test = suite("oauth/scope");
const SCOPES = {
  read: "Read",
  write: { description: "Write", implies: ["read"] },
  admin: { description: "Everything", implies: ["write"] },
  profile: "See your name",
};

test("a scope includes the scopes that it implies, also indirectly", () => {
  const table = defineScopes(SCOPES);
  assert.equal([...expandScopes(table, ["admin"])], ["admin", "write", "read"]);
  assert.equal([...expandScopes(table, ["read", "unknown"])], ["read", "unknown"]);
  assert.is(table.descriptions.get("write"), "Write");
});

test("scopes that imply each other include each other", () => {
  const circle = defineScopes({
    a: { description: "", implies: ["b"] },
    b: { description: "", implies: ["a"] },
  });
  assert.equal([...expandScopes(circle, ["b"])].sort(), ["a", "b"]);
});

test("an invalid scope is refused at start", () => {
  assert.throws(() => defineScopes({ "a b": "" }), /scope "a b"/);
  assert.throws(
    () => defineScopes({ a: { description: "", implies: ["b"] } }),
    /scope "a" implies "b"/,
  );
});

test("a client without any scope gets an error that names no list", async () => {
  const client = { id: "app", secret: "app secret:&%+", domain: "app.example", scope: "" };
  const server = await newServer({ clients: [toClient(client, 0)] });
  const response = await server.token({ grant_type: "client_credentials" });
  const { error, error_description } = await response.json();
  assert.equal([response.status, error], [400, "invalid_scope"]);
  assert.not.match(error_description, /:\s*$/);
});

test("RFC 6749 section 3.3: a malformed scope gets invalid_scope", async () => {
  const server = await newServer();
  for (const scope of ["read  write", " read", 'read"', "read\twrite", "r\u00e9ad"]) {
    const response = await server.token({ grant_type: "client_credentials", scope });
    assert.equal(
      [response.status, (await response.json()).error],
      [400, "invalid_scope"],
      JSON.stringify(scope),
    );
  }
});

test("admin, and scopes that imply it, are not among the scopes of every client", () => {
  assert.equal(defineScopes({ ...SCOPES, root: { description: "", implies: ["admin"] } }).commonScopes, [
    "read",
    "write",
    "profile",
  ]);
});

test("RFC 6749 section 3.3: the default scopes are those that only read, or those that the operator marks", async () => {
  assert.equal(
    defineScopes({
      profile: "",
      read: "",
      "notes:read": "",
      "mail.readonly": "",
      "write": "",
      "spread": "",
      "proread": "",
      "all:read": { description: "", implies: ["write"] },
      admin: "",
    }).defaultScopes,
    ["profile", "read", "notes:read", "mail.readonly"],
  );
  const marked = {
    a: { description: "", default: true },
    read: "",
    write: "",
    admin: { description: "", default: true },
  };
  assert.equal(defineScopes(marked).defaultScopes, ["a"], "admin is never a default");
  const server = await newServer();
  assert.is((await server.tokens({ scope: undefined })).scope, "profile read");
  const machine = await (await server.token({ grant_type: "client_credentials" })).json();
  assert.is(machine.scope, "profile read");
});

test("without default scopes a request without scope gets invalid_scope with the known scopes", async () => {
  const server = await newServer({ scopes: { notes: "Your notes", mail: "Your mail" } });
  const response = await server.token({ grant_type: "client_credentials" });
  const { error, error_description } = await response.json();
  assert.equal([response.status, error], [400, "invalid_scope"]);
  assert.match(error_description, /notes mail/);
});

test("RFC 6749 section 3.3: unknown scopes are ignored in every request, and the response has the granted scope", async () => {
  const server = await newServer();
  const scope = "openid read offline_access urn:unheard:of";
  const tokens = await server.tokens({ scope });
  assert.is(tokens.scope, "read");
  const { refresh_token } = tokens;
  const refreshed = await (await server.token({ grant_type: "refresh_token", refresh_token, scope })).json();
  assert.is(refreshed.scope, "read");
  assert.is((await (await server.token({ grant_type: "client_credentials", scope })).json()).scope, "read");
  const nothing = await server.token({ grant_type: "client_credentials", scope: "openid offline_access" });
  assert.equal([nothing.status, (await nothing.json()).error], [400, "invalid_scope"]);
});

test("a dynamically registered client may request all advertised scopes", async () => {
  const server = await newServer();
  const path = "/.well-known/oauth-authorization-server";
  const { scopes_supported } = await (await server.send(path)).json();
  assert.equal(scopes_supported, ["profile", "read", "write"]);
  const scope = [...scopes_supported, "openid", "offline_access"].join(" ");
  const { status, body } = await register(server, { ...WEB, scope });
  assert.equal([status, body.scope], [201, "profile read write"]);
  const { client_id, client_secret } = body;
  const redirect_uri = WEB.redirect_uris[0]!;
  const code = (await server.authorize({ client_id, redirect_uri, scope })).get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri, client_id, client_secret };
  assert.is((await (await server.token(form)).json()).scope, "profile read write");
});

test("of the scope of its registration a client gets what the server still has, else the default scopes", async () => {
  const scopes = { profile: "Name", read: "Read", files: "Files", notes: "Notes" };
  const before = await newServer({ scopes });
  const { files: _, ...left } = scopes;
  const after = await newServer({ store: before.store, scopes: left });
  const redirect_uri = WEB.redirect_uris[0]!;
  const scopeOf = async (scope: string) => {
    const { client_id, client_secret } = (await register(before, { ...WEB, scope })).body;
    const asked = { client_id, redirect_uri, scope: undefined };
    const code = (await after.authorize(asked)).get("code")!;
    const form = { grant_type: "authorization_code", code, redirect_uri, client_id, client_secret };
    return (await (await after.token(form)).json()).scope;
  };
  assert.is(await scopeOf("notes"), "notes");
  assert.is(await scopeOf("files notes"), "notes");
  assert.is(await scopeOf("files"), "profile read");
});

test("a client that registers only unknown scopes is registered without scope", async () => {
  const { status, body } = await register(await newServer(), { ...WEB, scope: "openid offline_access" });
  assert.equal([status, "scope" in body], [201, false]);
});

test("the consent page lists implied scopes", async () => {
  const server = await newServer({
    scopes: { ...SCOPES, write: { description: "Write", implies: ["read"] } },
  });
  const path = server.authorizePath({ scope: "write" });
  const page = await (await server.send(path, { headers: { cookie: await server.signIn() } })).text();
  assert.match(page, /<li>Write<\/li>\s*<li>Read<\/li>/);
});

test("an implied scope may be requested in place of the scope that implies it", async () => {
  const clients = [
    toClient({ id: "app", secret: "app secret:&%+", domain: "app.example", scope: "write" }, 0),
  ];
  const server = await newServer({ scopes: SCOPES, clients });
  const ask = async (scope: string) =>
    await (await server.token({ grant_type: "client_credentials", scope })).json();
  assert.is((await ask("read")).scope, "read");
  assert.is((await ask("profile")).error, "invalid_scope");
  const { refresh_token } = await server.tokens({ scope: "write" });
  const narrowed = await (await server.token({ grant_type: "refresh_token", refresh_token, scope: "read" }))
    .json();
  assert.is(narrowed.scope, "read");
});

test("the scopes of a principal include the implied ones", async () => {
  const server = await newServer({ scopes: SCOPES });
  const { access_token } = await server.tokens({ scope: "write" });
  const principal = await server.service.verifyToken(access_token!);
  assert.equal([...principal!.scopes], ["write", "read"]);
});

test.run();
