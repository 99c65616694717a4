import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "./client.ts";
import { defineScopes, expandScopes } from "./scope.ts";
import { newServer } from "./test_server.ts";

const test = suite("oauth/scope");
const SCOPES = {
  read: "Read",
  write: { description: "Write", implies: ["read"] },
  admin: { description: "Everything", implies: ["write"] },
  profile: "See your name",
};

test("a scope brings along what it implies, and what that implies", () => {
  const table = defineScopes(SCOPES);
  assert.equal([...expandScopes(table, ["admin"])], ["admin", "write", "read"]);
  assert.equal([...expandScopes(table, ["read", "unknown"])], ["read", "unknown"]);
  assert.is(table.descriptions.get("write"), "Write");
});

test("scopes that imply each other in a circle are one another's", () => {
  const circle = defineScopes({
    a: { description: "", implies: ["b"] },
    b: { description: "", implies: ["a"] },
  });
  assert.equal([...expandScopes(circle, ["b"])].sort(), ["a", "b"]);
});

test("a scope that cannot stand is refused at the start", () => {
  assert.throws(() => defineScopes({ "a b": "" }), /scope "a b" must be printable ASCII/);
  assert.throws(
    () => defineScopes({ a: { description: "", implies: ["b"] } }),
    /scope "a" implies "b", which is not defined/,
  );
});

test("RFC 6749 section 3.3: a scope that is no scope is invalid_scope, in its words", async () => {
  const server = await newServer();
  for (const scope of ["read  write", " read", 'read"', "read\twrite", "r\u00e9ad"]) {
    const response = await server.token({ grant_type: "client_credentials", scope });
    assert.equal([response.status, await response.json()], [400, {
      error: "invalid_scope",
      error_description: "scope must be printable ASCII words separated by single spaces",
    }], JSON.stringify(scope));
  }
});

test("a client gets admin, and what implies it, only where its registration names it", () => {
  assert.equal(defineScopes({ ...SCOPES, root: { description: "", implies: ["admin"] } }).commonScopes, [
    "read",
    "write",
    "profile",
  ]);
});

test("what a scope implies may be asked for in its place, when issued and when refreshed", async () => {
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

test("a principal has the implied scopes too", async () => {
  const server = await newServer({ scopes: SCOPES });
  const { access_token } = await server.tokens({ scope: "write" });
  const principal = await server.service.verifyToken(access_token!);
  assert.equal([...principal!.scopes], ["write", "read"]);
});

test.run();
