import { suite } from "uvu";
import * as assert from "uvu/assert";
import { secretDigest } from "../../crypto/secret.ts";
import { layeredStore } from "../../store/drivers/layered.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { until } from "../../test_until.ts";
import { grantKey } from "../records/grant_record.ts";
import { accessTokenKey } from "../records/token_record.ts";
import { newServer, type TestServer } from "../test_server.ts";
import { readRefreshToken } from "../tokens/refresh_token.ts";
import { setUserRole } from "../users/user.ts";
import { lockUser, unlockUser } from "../users/user_changes.ts";

const test = suite("oauth/revoke and introspect");

const APP = { client_id: "app", client_secret: "app secret:&%+" };
const WEB = { client_id: "web", client_secret: "web-secret" };
const revoke = (server: TestServer, token: string, form: Record<string, string | undefined> = APP) =>
  server.send("/oauth/revoke", { form: { token, ...form } });
const introspect = async (server: TestServer, token: string, form: Record<string, string> = APP) => {
  const response = await server.send("/oauth/introspect", { form: { token, ...form } });
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "application/json");
  return await response.json();
};
const userStatus = async (server: TestServer, token: string) =>
  (await server.send("/api/user", { headers: { authorization: `Bearer ${token}` } })).status;

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`RFC 7662 section 2.2: a live ${accessTokenFormat} access token is introspected with all members`, async () => {
    const server = await newServer({ accessTokenFormat });
    const { access_token } = await server.tokens({ scope: "read write" });
    const { iat, exp, sub, auth_time, ...rest } = await introspect(server, access_token!, WEB);
    assert.equal(rest, {
      active: true,
      scope: "read write",
      client_id: "app",
      token_type: "Bearer",
      aud: "https://as.example",
      iss: "https://as.example",
      acr: "password",
    });
    assert.is(exp - iat, 7200);
    assert.ok(Math.abs(auth_time - iat) <= 1);
    assert.match(sub, /^user_/);
    assert.ok(Math.abs(exp - Date.now() / 1000 - 7200) < 5);
    server.advance(7201);
    assert.equal(await introspect(server, access_token!, WEB), { active: false });
  });

  test(`RFC 7009: a revoked ${accessTokenFormat} access token is invalid at every endpoint, and its refresh token stays valid`, async () => {
    const server = await newServer({ accessTokenFormat });
    const { access_token, refresh_token } = await server.tokens({ scope: "profile" });
    assert.is(await userStatus(server, access_token!), 200);
    const response = await revoke(server, access_token!);
    assert.is(response.status, 200);
    assert.equal([response.headers.get("content-type"), await response.json()], ["application/json", {}]);
    assert.is(await userStatus(server, access_token!), 401);
    assert.equal(await introspect(server, access_token!), { active: false });
    assert.is((await introspect(server, refresh_token!)).active, true);
    assert.is(server.events.filter(({ type }) => type === "token_revoked").length, 1);
  });

  test(`a revoked refresh token and its ${accessTokenFormat} access token are one event`, async () => {
    const server = await newServer({ accessTokenFormat });
    const { access_token, refresh_token } = await server.tokens();
    for (const token of [refresh_token, access_token]) assert.is((await revoke(server, token!)).status, 200);
    assert.is(server.events.filter(({ type }) => type === "token_revoked").length, 1);
  });

  test(`RFC 7009 section 2.1: revoking a refresh token revokes its ${accessTokenFormat} access tokens`, async () => {
    const server = await newServer({ accessTokenFormat });
    const first = await server.tokens({ scope: "profile" });
    const form = { grant_type: "refresh_token", refresh_token: first.refresh_token };
    const second = await (await server.token(form)).json();
    // A wrong hint must not prevent the revocation (RFC 7009 section 2.1).
    const hinted = { ...APP, token_type_hint: "access_token" };
    assert.is((await revoke(server, second.refresh_token, hinted)).status, 200);
    for (const { access_token, refresh_token } of [first, second]) {
      assert.is(await userStatus(server, access_token), 401);
      assert.equal(await introspect(server, refresh_token), { active: false });
      const again = await server.token({ grant_type: "refresh_token", refresh_token });
      assert.equal([again.status, (await again.json()).error], [400, "invalid_grant"]);
    }
  });
}

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`attack: an access token (${accessTokenFormat}) that was revoked while its user was locked stays invalid after the unlock`, async () => {
    const server = await newServer({ accessTokenFormat });
    const { access_token } = await server.tokens({ scope: "profile" });
    await lockUser(server.store, "alice");
    const foreign = await revoke(server, access_token!, WEB);
    assert.equal([foreign.status, (await foreign.json()).error], [400, "invalid_grant"]);
    assert.is((await revoke(server, access_token!)).status, 200);
    await unlockUser(server.store, "alice");
    assert.equal(await introspect(server, access_token!), { active: false });
    assert.is(await userStatus(server, access_token!), 401);
  });

  test(`attack: an access token (${accessTokenFormat}) that was revoked while the role of its user was too low stays invalid`, async () => {
    const scopes = { read: "Read", write: { description: "Write", role: "author" } } as const;
    const server = await newServer({ accessTokenFormat, scopes });
    await setUserRole(server.store, "alice", "author");
    const { access_token } = await server.tokens({ scope: "write" });
    assert.is((await introspect(server, access_token!)).active, true);
    await setUserRole(server.store, "alice", "reader");
    assert.is((await revoke(server, access_token!)).status, 200);
    await setUserRole(server.store, "alice", "author");
    assert.equal(await introspect(server, access_token!), { active: false });
  });

  test(`revoking an expired or revoked access token (${accessTokenFormat}) gets 200`, async () => {
    const server = await newServer({ accessTokenFormat });
    const [first, second] = [await server.tokens(), await server.tokens()];
    for (let i = 0; i < 2; i++) assert.is((await revoke(server, first.access_token!)).status, 200);
    server.advance(7201);
    assert.is((await revoke(server, second.access_token!, WEB)).status, 200);
  });
}

test("RFC 7009 section 2.2: revoking an unknown or already invalid token gets 200", async () => {
  const server = await newServer();
  const { refresh_token } = await server.tokens();
  assert.is((await revoke(server, refresh_token!)).status, 200);
  const unknown = `trivet_rt_${"x".repeat(22)}.${"y".repeat(43)}`;
  for (const token of [refresh_token!, "nonsense", "a.b.c", "trivet_at_x", unknown]) {
    assert.is((await revoke(server, token)).status, 200);
  }
});

test("the token of another client is refused and stays valid", async () => {
  const server = await newServer();
  const { access_token, refresh_token } = await server.tokens({ scope: "profile" });
  for (const token of [access_token!, refresh_token!]) {
    const response = await revoke(server, token, WEB);
    assert.equal([response.status, (await response.json()).error], [400, "invalid_grant"]);
  }
  assert.is(await userStatus(server, access_token!), 200);
  assert.equal(await introspect(server, refresh_token!, WEB), { active: false });
});

test("both endpoints authenticate the client, require the token parameter, and refuse repeated parameters", async () => {
  const server = await newServer();
  for (const path of ["/oauth/revoke", "/oauth/introspect"]) {
    const cases: [Record<string, string> | string, number, string][] = [
      [{ token: "x", client_id: "app", client_secret: "wrong" }, 401, "invalid_client"],
      [{ token: "x" }, 401, "invalid_client"],
      [APP, 400, "invalid_request"],
      ["token=a&token=b&client_id=app", 400, "invalid_request"],
    ];
    for (const [form, status, error] of cases) {
      const response = await server.send(path, { form });
      const outcome = [response.status, (await response.json()).error];
      assert.equal(outcome, [status, error], `${path} ${JSON.stringify(form)}`);
    }
    assert.is((await server.send(path)).status, 405);
  }
  const publicClient = await server.send("/oauth/introspect", { form: { token: "x", client_id: "native" } });
  assert.is(publicClient.status, 401);
  assert.is((await revoke(server, "x", { client_id: "native" })).status, 200);
});

test("a forged refresh token with the id of a grant revokes nothing", async () => {
  const server = await newServer();
  const { refresh_token, access_token } = await server.tokens({ scope: "profile" });
  const forged = refresh_token!.split(".")[0] + "." + "x".repeat(43);
  assert.is((await revoke(server, forged)).status, 200);
  assert.is(await userStatus(server, access_token!), 200);
  assert.is((await introspect(server, refresh_token!)).active, true);
  assert.equal(server.events.filter(({ type }) => type === "token_revoked"), []);
});

for (const type of ["refresh_token", "access_token"]) {
  test(`no instance with a cache accepts a token (${type}) after the first of two revocations at once is acknowledged`, async () => {
    const inner = memoryStore();
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => newServer({ store: layeredStore(inner, { lifetime: 200 }) })),
    ) as [TestServer, TestServer, TestServer];
    const tokens = await first.tokens();
    const key = type === "refresh_token"
      ? grantKey(readRefreshToken(tokens.refresh_token!)!)
      : accessTokenKey(secretDigest(tokens.access_token!));
    assert.is((await introspect(third, tokens.access_token!)).active, true);
    const revoking = revoke(first, tokens[type]!);
    await until(async () => !await inner.get(key), "the first revocation is in the store");
    assert.is((await revoke(second, tokens[type]!)).status, 200);
    assert.equal(await introspect(third, tokens.access_token!), { active: false });
    assert.is((await revoking).status, 200);
  });
}

test("a rotation between the read and the commit of a revocation does not keep the grant", async () => {
  const inner = memoryStore();
  let meanwhile: (() => Promise<unknown>) | undefined;
  const store: Store = {
    guarantees: inner.guarantees,
    get: (key) => inner.get(key),
    list: (prefix, options) => inner.list(prefix, options),
    async commit(commit) {
      const work = commit.remove?.some((key) => key[0] === "grant") ? meanwhile : undefined;
      meanwhile = work ? undefined : meanwhile;
      await work?.();
      return await inner.commit(commit);
    },
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  const server = await newServer({ store });
  const { refresh_token } = await server.tokens({ scope: "profile" });
  let rotated: Record<string, string> = {};
  meanwhile = async () =>
    rotated = await (await server.token({ grant_type: "refresh_token", refresh_token })).json();
  assert.is((await revoke(server, refresh_token!)).status, 200);
  assert.is(await userStatus(server, rotated.access_token!), 401);
  assert.equal(await introspect(server, rotated.refresh_token!), { active: false });
});

test("concurrent rotation and revocation leave no valid token", async () => {
  const statuses = new Set<number>();
  for (let turns = 0; turns < 60; turns++) {
    const server = await newServer();
    const { refresh_token } = await server.tokens({ scope: "profile" });
    const rotate = () => server.token({ grant_type: "refresh_token", refresh_token });
    const revokeIt = () => revoke(server, refresh_token!);
    const [first, second] = turns % 2 === 0 ? [rotate, revokeIt] : [revokeIt, rotate];
    const began = first();
    for (let i = 0; i < turns; i++) await Promise.resolve();
    const both = await Promise.all([began, second()]);
    const [rotated, revoked] = turns % 2 === 0 ? both : both.toReversed() as typeof both;
    statuses.add(rotated.status);
    assert.is(revoked.status, 200);
    const body = await rotated.json();
    // A revocation before the rotation makes it fail; one after it revokes the new tokens.
    if (rotated.status === 200) {
      assert.is(await userStatus(server, body.access_token), 401);
      assert.equal(await introspect(server, body.refresh_token), { active: false });
    } else assert.is(body.error, "invalid_grant");
  }
  assert.equal([...statuses].sort(), [200, 400]);
});

test.run();
