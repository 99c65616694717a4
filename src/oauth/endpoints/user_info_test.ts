import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newServer } from "../test_server.ts";

const test = suite("oauth/user_info");

test("a valid token gets id, name and email as JSON", async () => {
  for (const accessTokenFormat of ["opaque", "jwt"] as const) {
    const server = await newServer({ accessTokenFormat });
    const { access_token } = await server.tokens({ scope: "profile" });
    const response = await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } });
    assert.is(response.status, 200);
    assert.is(response.headers.get("content-type"), "application/json");
    const { id, ...rest } = await response.json();
    assert.match(id, /^user_/);
    assert.equal(rest, { name: "Alice Liddell", email: "alice@example.com" });
  }
});

test("RFC 6750 section 3: a request without a token gets 401 in plain text and a challenge with a realm and no error", async () => {
  const server = await newServer();
  for (
    const headers of [{}, { authorization: "Basic YTpi" }, { authorization: "Bearer" }, {
      authorization: "Bearer a b",
    }]
  ) {
    const response = await server.send("/api/user", { headers: headers as Record<string, string> });
    assert.is(response.status, 401);
    assert.is(response.headers.get("content-type"), "text/plain; charset=utf-8");
    assert.is(response.headers.get("www-authenticate"), 'Bearer realm="trivet"');
  }
});

test("RFC 6750 section 2: a token sent in two ways gets 400 invalid_request", async () => {
  const server = await newServer();
  const { access_token } = await server.tokens({ scope: "profile" });
  const headers = { authorization: `Bearer ${access_token}` };
  const both = await server.send(`/api/user?access_token=${access_token}`, { headers });
  assert.equal([both.status, /^Bearer error="invalid_request"/.test(both.headers.get("www-authenticate")!)], [
    400,
    true,
  ]);
});

test("RFC 6750 section 3.1: an unknown or expired token gets 401 invalid_token in plain text", async () => {
  const server = await newServer();
  const { access_token } = await server.tokens();
  server.advance(7201);
  for (const token of [access_token!, "nothing", "a.b.c", "trivet_at_" + "x".repeat(43)]) {
    const response = await server.send("/api/user", { headers: { authorization: `Bearer ${token}` } });
    assert.is(response.status, 401);
    assert.is(response.headers.get("content-type"), "text/plain; charset=utf-8");
    assert.match(response.headers.get("www-authenticate")!, 'error="invalid_token"');
    assert.not.match(await response.text(), token);
  }
});

test("RFC 6750 section 2.3: a token in the query is ignored", async () => {
  const server = await newServer();
  const { access_token } = await server.tokens({ scope: "profile" });
  const response = await server.send(`/api/user?access_token=${access_token}`);
  assert.equal([response.status, response.headers.get("www-authenticate")], [401, 'Bearer realm="trivet"']);
});

test("a token without a user gets 403 insufficient_scope", async () => {
  const server = await newServer();
  const { access_token } = await (await server.token({ grant_type: "client_credentials" })).json();
  const response = await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } });
  assert.is(response.status, 403);
  assert.match(response.headers.get("www-authenticate")!, 'error="insufficient_scope"');
});

test("a token without profile gets 403 insufficient_scope with that scope, and no data of the user", async () => {
  for (const accessTokenFormat of ["opaque", "jwt"] as const) {
    const server = await newServer({ accessTokenFormat });
    const { access_token } = await server.tokens({ scope: "read write" });
    const response = await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } });
    assert.equal([response.status, response.headers.get("content-type")], [403, "text/plain; charset=utf-8"]);
    assert.match(response.headers.get("www-authenticate")!, /error="insufficient_scope".*scope="profile"/);
    assert.not.match(await response.text(), /alice/i);
  }
});

test("a token whose scope implies profile, and a token that was requested without scope, are accepted", async () => {
  const scopes = { profile: "Name", write: { description: "Write", implies: ["profile"] } };
  const server = await newServer({ scopes });
  for (const scope of ["write", undefined]) {
    const { access_token } = await server.tokens({ scope });
    const headers = { authorization: `Bearer ${access_token}` };
    assert.is((await server.send("/api/user", { headers })).status, 200, String(scope));
  }
});

test("a token of a removed user gets 401", async () => {
  const { removeUser } = await import("../users/remove_user.ts");
  const server = await newServer();
  const { access_token } = await server.tokens();
  await removeUser(server.store, "alice");
  assert.is(
    (await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } })).status,
    401,
  );
});

test("a parameter whose name only ends in access_token does not count as a second token", async () => {
  const server = await newServer();
  const { access_token } = await server.tokens({ scope: "profile" });
  const headers = { authorization: `Bearer ${access_token}` };
  assert.is((await server.send("/api/user?not_access_token=x", { headers })).status, 200);
});

test.run();
