import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, clientKey } from "../records/client_record.ts";
import { newServer, type TestServer } from "../test_server.ts";
import { addClient } from "./client.ts";
import { rotateClientSecret, updateClient, withoutSecrets } from "./client_changes.ts";

const test = suite("oauth/client_changes");
const URI = "https://stored.example/cb";

const isAccepted = async (server: TestServer, client_secret: string): Promise<boolean> => {
  const form = { grant_type: "client_credentials", client_id: "stored", client_secret, scope: "read" };
  return (await server.token(form)).status === 200;
};
async function newStored(more: Partial<Parameters<typeof addClient>[1]> = {}) {
  const server = await newServer();
  const { secret } = await addClient(server.store, { id: "stored", redirect_uris: [URI], ...more });
  return { server, secret: secret! };
}
const read = async ({ store }: TestServer) => (await store.get<Client>(clientKey("stored")))!.value;
async function problemOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return error.message;
    throw error;
  }
  return "";
}

test("a new secret replaces the old one at once", async () => {
  const { server, secret } = await newStored();
  const rotated = await rotateClientSecret(server.store, "stored");
  assert.match(rotated!.secret, /^trivet_cs_/);
  assert.equal([await isAccepted(server, rotated!.secret), await isAccepted(server, secret)], [true, false]);
  assert.not.match(JSON.stringify(await server.store.list(["client"])), rotated!.secret);
});

test("the old secret can be kept for a while, and is refused afterwards", async () => {
  const { server, secret } = await newStored();
  const { secret: second } = (await rotateClientSecret(server.store, "stored", { keepOld: 3600 }))!;
  server.advance(3590);
  assert.equal([await isAccepted(server, second), await isAccepted(server, secret)], [true, true]);
  assert.is(await isAccepted(server, "trivet_cs_" + "x".repeat(43)), false);
  server.advance(20);
  assert.equal([await isAccepted(server, second), await isAccepted(server, secret)], [true, false]);
});

test("only one former secret is kept", async () => {
  const { server, secret } = await newStored();
  const { secret: second } = (await rotateClientSecret(server.store, "stored", { keepOld: 3600 }))!;
  const { secret: third } = (await rotateClientSecret(server.store, "stored", { keepOld: 3600 }))!;
  assert.equal(
    [await isAccepted(server, secret), await isAccepted(server, second), await isAccepted(server, third)],
    [false, true, true],
  );
  const { secret: fourth } = (await rotateClientSecret(server.store, "stored"))!;
  assert.equal([await isAccepted(server, third), await isAccepted(server, fourth)], [false, true]);
});

test("a secret that can be guessed stays marked while it is valid", async () => {
  const { server } = await newStored({ secret: "guess me" });
  assert.is((await read(server)).weak_secret, true);
  await rotateClientSecret(server.store, "stored", { keepOld: 60 });
  assert.is((await read(server)).weak_secret, true);
  await rotateClientSecret(server.store, "stored");
  assert.is((await read(server)).weak_secret, undefined);
  await rotateClientSecret(server.store, "stored", { secret: "mine" });
  assert.is((await read(server)).weak_secret, true);
  assert.ok(await isAccepted(server, "mine"));
});

test("a rotation is refused for clients without a secret, and for invalid values", async () => {
  const { server } = await newStored({ public: true });
  const { store } = server;
  assert.match(await problemOf(rotateClientSecret(store, "stored")), "has no secret");
  assert.is(await rotateClientSecret(store, "unknown"), undefined);
  await addClient(store, { id: "other" });
  for (const keepOld of [-1, 1.5, NaN, 30 * 86_400 + 1]) {
    assert.match(await problemOf(rotateClientSecret(store, "other", { keepOld })), "keepOld");
  }
  assert.match(await problemOf(rotateClientSecret(store, "other", { secret: "ä" })), "secret");
});

test("members change, are removed, or stay", async () => {
  const { server, secret } = await newStored({
    scope: "read",
    name: "Stored",
    dpop_bound_access_tokens: false,
  });
  const before = await read(server);
  const changed = await updateClient(server.store, "stored", {
    name: "Another",
    scope: null,
    redirect_uris: [URI, "https://stored.example/other"],
    post_logout_redirect_uris: ["https://stored.example/out"],
    subject_type: "pairwise",
  });
  const { scope: _, ...rest } = before;
  assert.equal(changed, {
    ...rest,
    name: "Another",
    redirect_uris: [URI, "https://stored.example/other"],
    post_logout_redirect_uris: ["https://stored.example/out"],
    subject_type: "pairwise",
  });
  assert.equal(await read(server), changed);
  const { post_logout_redirect_uris: __, ...without } = changed!;
  assert.equal(await updateClient(server.store, "stored", { post_logout_redirect_uris: null }), without);
  assert.ok(await isAccepted(server, secret));
  assert.is(await updateClient(server.store, "unknown", { name: "x" }), undefined);
});

test("a change is checked as a registration is, and an invalid one changes nothing", async () => {
  const { server } = await newStored();
  const before = await read(server);
  const invalid = [
    { redirect_uris: ["http://stored.example/cb"] },
    { post_logout_redirect_uris: ["javascript:alert(1)"] },
    { backchannel_logout_uri: "ftp://stored.example/" },
    { token_endpoint_auth_method: "private_key_jwt" },
    { token_endpoint_auth_method: "none" },
    { jwks_uri: "http://stored.example/keys" },
    { request_uris: ["http://stored.example/request"] },
    { domain: "stored.example/path" },
  ] as const;
  for (const changes of invalid) {
    assert.is.not(
      await problemOf(updateClient(server.store, "stored", changes)),
      "",
      JSON.stringify(changes),
    );
  }
  assert.equal(await read(server), before);
});

test("a client that gets keys instead of its secret loses the secret, and jwks_uri replaces jwks", async () => {
  const { server, secret } = await newStored({ grant_types: ["authorization_code"] });
  const jwks = { keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }] };
  const withKeys = await updateClient(server.store, "stored", {
    jwks,
    token_endpoint_auth_method: "private_key_jwt",
  });
  assert.equal([withKeys!.secret_digest, withKeys!.jwks?.keys.length], [undefined, 1]);
  assert.not.ok(await isAccepted(server, secret));
  const jwks_uri = "https://stored.example/keys";
  const moved = await updateClient(server.store, "stored", { jwks_uri });
  assert.equal([moved!.jwks, moved!.jwks_uri], [undefined, jwks_uri]);
});

test("a client whose method is removed keeps its secret, and does not become public", async () => {
  const { server, secret } = await newStored({ grant_types: ["authorization_code"] });
  for (const token_endpoint_auth_method of ["client_secret_post", null] as const) {
    const changed = await updateClient(server.store, "stored", { token_endpoint_auth_method });
    assert.is(changed!.token_endpoint_auth_method, token_endpoint_auth_method ?? "client_secret_basic");
  }
  await updateClient(server.store, "stored", { grant_types: ["client_credentials"] });
  assert.equal([await isAccepted(server, secret), await isAccepted(server, "")], [true, false]);
});

test("a client that registered itself keeps its lifetime and its registration access token", async () => {
  const server = await newServer();
  const registered = await (await server.send("/oauth/register", {
    method: "POST",
    headers: { "content-type": "application/json" },
    form: JSON.stringify({ redirect_uris: [URI], scope: "read", client_uri: "https://stored.example/" }),
  })).json();
  const [before] = await server.store.list<Client>(["client"]);
  await updateClient(server.store, registered.client_id, { name: "Renamed" });
  await rotateClientSecret(server.store, registered.client_id, { keepOld: 60 });
  const [after] = await server.store.list<Client>(["client"]);
  assert.is(after!.expires, before!.expires);
  const { secret_digest: _, previous_secret: __, ...kept } = after!.value;
  const { secret_digest: ___, ...had } = before!.value;
  assert.equal(kept, { ...had, name: "Renamed", set_by_operator: ["name"] });
  const shown = await server.send(new URL(registered.registration_client_uri).pathname, {
    headers: { authorization: `Bearer ${registered.registration_access_token}` },
  });
  const text = await shown.text();
  assert.is(shown.status, 200);
  assert.not.match(text, "previous_secret");
  assert.not.match(text, "digest");
});

test("tokens survive a change, and the user is asked again where it concerns what they saw", async () => {
  const { server, secret } = await newStored();
  const authorizePath = server.authorizePath({ client_id: "stored", redirect_uri: URI });
  const code = (await server.authorize({ client_id: "stored", redirect_uri: URI })).get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri: URI, client_id: "stored" };
  const { access_token } = await (await server.token({ ...form, client_secret: secret })).json();
  const headers = { cookie: await server.signIn() };
  const ask = async () => (await server.send(authorizePath, { headers })).status;
  assert.is(await ask(), 302);
  await updateClient(server.store, "stored", { scope: "read write" });
  assert.is(await ask(), 302);
  await updateClient(server.store, "stored", { name: "Your Bank" });
  assert.is(await ask(), 200);
  const isActive = await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } });
  assert.is.not(isActive.status, 401);
});

test("nothing that is shown proves that one is the client", async () => {
  const { server } = await newStored();
  await rotateClientSecret(server.store, "stored", { keepOld: 60 });
  const shown = withoutSecrets(await read(server));
  assert.not.match(JSON.stringify(shown), /digest/);
});

test.run();
