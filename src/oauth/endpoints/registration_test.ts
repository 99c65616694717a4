import { suite } from "uvu";
import * as assert from "uvu/assert";
import { StoreUnavailableError } from "../../store/store.ts";
import { rotateClientSecret, updateClient } from "../clients/client_changes.ts";
import { type Client, clientKey } from "../records/client_record.ts";
import { register, send, WEB } from "./test_registration.ts";
import { CHALLENGE, ISSUER, newServer, VERIFIER } from "../test_server.ts";

const test = suite("oauth/register: managing a registration");

test("RFC 7592: a client reads, replaces and deletes its registration with its token", async () => {
  const server = await newServer();
  const { body: first } = await register(server, WEB);
  const path = `/oauth/register/${first.client_id}`;
  const token = first.registration_access_token;
  const { client_secret, ...registered } = first;
  const read = await send(server, "GET", path, undefined, token);
  assert.equal([read.status, read.body], [200, registered]);

  const changed = {
    client_id: first.client_id,
    redirect_uris: ["https://client.example/new"],
    client_name: "New",
  };
  const update = await send(server, "PUT", path, { ...changed, client_secret }, token);
  assert.is(update.status, 200);
  assert.equal([update.body.client_name, update.body.redirect_uris], ["New", changed.redirect_uris]);
  assert.is(update.body.registration_access_token, token);
  const cookie = await server.signIn();
  const old = await server.send(
    server.authorizePath({ client_id: first.client_id, redirect_uri: WEB.redirect_uris[0]! }),
    { headers: { cookie } },
  );
  assert.is(old.status, 400, "the previous redirect URI is no longer registered");

  for (
    const wrong of [{ ...changed, client_id: "other" }, { redirect_uris: WEB.redirect_uris }, {
      ...changed,
      client_secret: "other",
    }]
  ) {
    assert.equal([(await send(server, "PUT", path, wrong, token)).body.error], ["invalid_client_metadata"]);
  }
  const end = await send(server, "DELETE", path, undefined, token);
  assert.equal([end.status, end.body], [204, {}]);
  assert.is((await send(server, "GET", path, undefined, token)).status, 401);
});

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`RFC 7592 section 2.3: deleting a registration revokes the client's ${accessTokenFormat} tokens`, async () => {
    const server = await newServer({ accessTokenFormat });
    const { body: client } = await register(server, WEB);
    const { client_id, client_secret, registration_access_token } = client;
    const redirect_uri = WEB.redirect_uris[0]!;
    const answer = await server.authorize({ client_id, redirect_uri, scope: "profile" });
    const form = {
      grant_type: "authorization_code",
      code: answer.get("code")!,
      redirect_uri,
      client_id,
      client_secret,
    };
    const { access_token, refresh_token } = await (await server.token(form)).json();
    const use = async () =>
      (await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } })).status;
    assert.is(await use(), 200);
    await send(server, "DELETE", `/oauth/register/${client_id}`, undefined, registration_access_token);
    assert.is(await use(), 401);
    const refresh = await server.token({
      grant_type: "refresh_token",
      refresh_token,
      client_id,
      client_secret,
    });
    assert.equal([refresh.status, (await refresh.json()).error], [401, "invalid_client"]);
  });
}

test("RFC 7592 section 2: a request without the registration access token of the client gets 401 without metadata", async () => {
  const server = await newServer();
  const [one, other] = [(await register(server, WEB)).body, (await register(server, WEB)).body];
  for (const token of [undefined, "x", other.registration_access_token]) {
    for (const method of ["GET", "DELETE"]) {
      const { response, status, body } = await send(
        server,
        method,
        `/oauth/register/${one.client_id}`,
        undefined,
        token,
      );
      assert.equal([status, body.error], [401, "invalid_token"]);
      assert.match(response.headers.get("www-authenticate")!, /^Bearer/);
    }
  }
  assert.is(
    (await send(server, "GET", "/oauth/register/app", undefined, "x")).status,
    401,
    "an operator's client has no registration access token",
  );
});

test("an update keeps an omitted client_secret, and issues one when there was none", async () => {
  const server = await newServer();
  const { body: first } = await register(server, WEB);
  const put = async (metadata: Record<string, unknown>) =>
    (await send(
      server,
      "PUT",
      `/oauth/register/${first.client_id}`,
      { ...WEB, client_id: first.client_id, ...metadata },
      first.registration_access_token,
    )).body;
  const works = async (client_secret: string) => {
    const form = {
      grant_type: "refresh_token",
      refresh_token: "x",
      client_id: first.client_id,
      client_secret,
    };
    return (await (await server.token(form)).json()).error === "unauthorized_client";
  };
  assert.is(await works(first.client_secret), true);
  assert.not.ok("client_secret" in await put({ client_name: "New" }));
  assert.is(await works(first.client_secret), true);
  assert.not.ok("client_secret" in await put({ token_endpoint_auth_method: "none" }));
  const { client_secret } = await put({ token_endpoint_auth_method: "client_secret_post" });
  assert.equal([await works(client_secret), await works(first.client_secret)], [true, false]);
});

test("an update with a JSON value that is not an object is refused", async () => {
  const server = await newServer();
  const { body } = await register(server, WEB);
  for (const metadata of ["null", "5", "[]", '"x"', "true"]) {
    const path = `/oauth/register/${body.client_id}`;
    const answer = await send(server, "PUT", path, metadata, body.registration_access_token);
    assert.equal([answer.status, answer.body.error], [400, "invalid_client_metadata"], metadata);
  }
});

test("concurrent updates are stored whole or refused with a retry", async () => {
  const server = await newServer();
  const { body: first } = await register(server, WEB);
  const path = `/oauth/register/${first.client_id}`;
  const token = first.registration_access_token;
  const names = Array.from({ length: 8 }, (_, i) => `Name ${i}`);
  const answers = await Promise.all(
    names.map((client_name) =>
      send(server, "PUT", path, { ...WEB, client_id: first.client_id, client_name }, token)
    ),
  );
  const done = answers.filter(({ status }) => status === 200);
  assert.ok(done.length >= 1);
  for (const { status, body } of answers) {
    if (status !== 200) assert.equal([status, body.error], [503, "temporarily_unavailable"]);
  }
  const { body } = await send(server, "GET", path, undefined, token);
  assert.ok(done.some((answer) => answer.body.client_name === body.client_name));
  assert.is(done.length, 1, "all read before the first one writes");
});

test("an unused registration expires, and a used one is extended", async () => {
  const server = await newServer({ registrationLifetime: 1000, accessTokenLifetime: 10 });
  const [used, idle] = [(await register(server, WEB)).body, (await register(server, WEB)).body];
  const isKnown = async ({ client_id, registration_access_token }: Record<string, string>) =>
    (await send(server, "GET", `/oauth/register/${client_id}`, undefined, registration_access_token))
      .status === 200;
  server.advance(900);
  await server.authorize({
    client_id: used.client_id,
    redirect_uri: WEB.redirect_uris[0]!,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  });
  server.advance(500);
  assert.equal([await isKnown(used), await isKnown(idle)], [true, false]);
});

test("a code is not lost when the registration cannot be extended", async () => {
  const server = await newServer({ registrationLifetime: 1000 });
  const { client_id } = (await register(server, WEB)).body;
  server.advance(900);
  const { commit } = server.store;
  server.store.commit = (changes) =>
    changes.set?.some(({ key }) => key[0] === "client")
      ? Promise.reject(new StoreUnavailableError("down"))
      : commit.call(server.store, changes);
  const answer = await server.authorize({
    client_id,
    redirect_uri: WEB.redirect_uris[0]!,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  });
  assert.ok(answer.get("code"));
  assert.is(server.events.filter(({ type }) => type === "consent_given").length, 1);
});

test("a refresh extends the registration", async () => {
  const server = await newServer({ registrationLifetime: 1000 });
  const { client_id } = (await register(server, {
    ...WEB,
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
  })).body;
  const parameters = {
    client_id,
    redirect_uri: WEB.redirect_uris[0]!,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  const code = (await server.authorize(parameters)).get("code")!;
  const form = { client_id, client_secret: undefined, redirect_uri: WEB.redirect_uris[0]! };
  const redeem = { ...form, grant_type: "authorization_code", code, code_verifier: VERIFIER };
  let { refresh_token } = await (await server.token(redeem)).json();
  for (let i = 0; i < 4; i++) {
    server.advance(600);
    const response = await server.token({ ...form, grant_type: "refresh_token", refresh_token });
    assert.is(response.status, 200);
    ({ refresh_token } = await response.json());
  }
});

test("a registration is extended at most once in a tenth of its lifetime", async () => {
  const server = await newServer({ registrationLifetime: 1000 });
  const { client_id } = (await register(server, WEB)).body;
  const use = () =>
    server.authorize({
      client_id,
      redirect_uri: WEB.redirect_uris[0]!,
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
    });
  const expires = async () => (await server.store.get(["client", client_id]))!.expires!;
  const first = await expires();
  server.advance(90);
  await use();
  assert.is(await expires(), first);
  server.advance(20);
  await use();
  assert.ok(Math.abs(await expires() - first - 110_000) < 5000, "a whole lifetime from now");
});

test("an operator's client does not expire", async () => {
  const server = await newServer({ clients: [] });
  const { addClient } = await import("../clients/client.ts");
  await addClient(server.store, { id: "stored", secret: "s", redirect_uris: ["https://client.example/cb"] });
  await server.authorize({ client_id: "stored", redirect_uri: "https://client.example/cb" });
  assert.is((await server.store.get(["client", "stored"]))!.expires, undefined);
});

test("an update does not undo what the operator changed, nor the state of the secret", async () => {
  const server = await newServer();
  const metadata = { ...WEB, scope: "read" };
  const { body: { client_id, client_secret, registration_access_token: token } } = await register(
    server,
    metadata,
  );
  const path = `/oauth/register/${client_id}`;
  const redirect_uris = ["https://client.example/operator"];
  await updateClient(server.store, client_id, {
    redirect_uris,
    scope: "profile",
    trusted: true,
    token_exchange_resources: [`${ISSUER}/mcp`],
    require_pushed_authorization_requests: true,
  });
  await rotateClientSecret(server.store, client_id, { secret: "short", keepOld: 3600 });
  const stored = async () => (await server.store.get<Client>(clientKey(client_id)))!.value;
  const before = await stored();
  const put = await send(server, "PUT", path, { ...metadata, client_id, client_name: "Renamed" }, token);
  assert.equal([put.status, put.body.client_name, put.body.scope], [200, "Renamed", "profile"]);
  assert.equal(put.body.redirect_uris, redirect_uris);
  assert.not.ok("client_secret" in put.body || "set_by_operator" in put.body);
  assert.equal(await stored(), { ...before, name: "Renamed" });
  // Both secrets are valid, as before.
  for (const secret of ["short", client_secret]) {
    const form = { token: "x", client_id, client_secret: secret };
    assert.is((await server.send("/oauth/revoke", { form })).status, 200, secret);
  }
  // What the operator removed stays away.
  await updateClient(server.store, client_id, { require_pushed_authorization_requests: null });
  const asked = { ...metadata, client_id, require_pushed_authorization_requests: true };
  await send(server, "PUT", path, asked, token);
  assert.not.ok("require_pushed_authorization_requests" in await stored());
});

test("attack: a client with a grant of an operator for confidential clients does not become public", async () => {
  const server = await newServer();
  const { body: { client_id, registration_access_token: token } } = await register(server, WEB);
  const grants = [
    "client_credentials",
    "urn:ietf:params:oauth:grant-type:token-exchange",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
  ] as const;
  for (const grant of grants) {
    await updateClient(server.store, client_id, { grant_types: ["authorization_code", grant] });
    const metadata = { ...WEB, client_id, token_endpoint_auth_method: "none" };
    const { status, body } = await send(server, "PUT", `/oauth/register/${client_id}`, metadata, token);
    assert.equal([status, body.error], [400, "invalid_client_metadata"], grant);
    const form = { grant_type: grant, client_id, client_secret: undefined };
    assert.is((await server.token(form)).status, 401, grant);
  }
});

test("an update keeps what only an operator can set, also in a record without the names of the changes", async () => {
  const server = await newServer();
  const { body: { client_id, registration_access_token: token } } = await register(server, WEB);
  await updateClient(server.store, client_id, { scope: "read", introspects: [`${ISSUER}/mcp`] });
  const { key, value } = (await server.store.get<Client>(clientKey(client_id)))!;
  const { set_by_operator, ...earlier } = value;
  assert.equal(set_by_operator, ["scope", "introspects"]);
  await server.store.commit({ set: [{ key, value: earlier }] });
  const put = await send(server, "PUT", `/oauth/register/${client_id}`, { ...WEB, client_id }, token);
  assert.is(put.status, 200);
  assert.equal((await server.store.get<Client>(key))!.value, earlier);
});

test.run();
