import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { addClient, listClients, removeClient, toClient } from "./client.ts";
import { removeUser } from "../users/remove_user.ts";
import { addUser, listUsers } from "../users/user.ts";

const test = suite("oauth/client");

test("addClient() generates an id and a secret, and stores only the digest of the secret", async () => {
  const store = memoryStore();
  const { client, secret } = await addClient(store, { domain: "app.example" });
  assert.match(client.id, /^client_/);
  assert.match(secret!, /^trivet_cs_[A-Za-z0-9_-]{43}$/);
  assert.not.match(JSON.stringify(await store.list([])), secret!);
  assert.equal(client.grant_types, ["authorization_code", "refresh_token", "client_credentials"]);
});

test("addClient() with an existing id is refused and changes nothing", async () => {
  const store = memoryStore();
  await addClient(store, { id: "a", domain: "one.example" });
  const error = await addClient(store, { id: "a", domain: "two.example" }).catch((error) => error);
  assert.instance(error, TypeError);
  assert.match(error.message, 'client "a"');
  const [client] = await Array.fromAsync(listClients(store));
  assert.is(client?.domain, "one.example");
});

test("addClient() refuses an id that is a URL, which identifies a client metadata document", async () => {
  const store = memoryStore();
  const adding = addClient(store, { id: "https://client.example/oauth", secret: "s" });
  assert.instance(await adding.catch((error) => error), TypeError);
  assert.equal(await store.list([]), []);
});

test("a public client has no secret and no client_credentials", async () => {
  const { client, secret } = await addClient(memoryStore(), {
    public: true,
    redirect_uris: ["http://127.0.0.1/cb"],
  });
  assert.is(secret, undefined);
  assert.is(client.secret_digest, undefined);
  assert.equal(client.grant_types, ["authorization_code", "refresh_token"]);
});

for (
  const [registration, named] of [
    [{ id: "", secret: "s" }, /\bid\b.*\b256\b/],
    [{ id: "a b", secret: "s" }, /\bid\b.*\b256\b/],
    [{ id: "x".repeat(257), secret: "s" }, /\bid\b.*\b256\b/],
    [{ id: "a", secret: "ü" }, /\bsecret\b.*\b256\b/],
    [{ id: "a" }, /\bsecret\b.*\bdomain\b.*\bredirect URIs\b/],
    [
      { id: "a", domain: "x.example", grant_types: ["client_credentials"] },
      /\bclient_credentials\b/,
    ],
    [{ id: "a", secret: "s", grant_types: ["authorization_code"] }, /\bauthorization_code\b/],
    [{ id: "a", secret: "s", grant_types: ["password"] }, /\bgrant type password\b/],
    [{ id: "a", jwks: { keys: [] }, jwks_uri: "https://a.example/keys" }, /\bjwks\b.*\bjwks_uri\b/],
    [{ id: "a", jwks_uri: "http://a.example/keys" }, /\bjwks_uri\b/],
    [{ id: "a", jwks_uri: "https://127.0.0.1/keys" }, /\bjwks_uri\b/],
    [{ id: "a", jwks: { keys: [{ kty: "oct", k: "AA" }] } }, /\bjwks\b/],
    [
      { id: "a", domain: "x.example", token_endpoint_auth_method: "private_key_jwt" },
      /\bprivate_key_jwt\b/,
    ],
    [
      { id: "a", domain: "x.example", token_endpoint_auth_method: "tls_client_auth" },
      /\btls_client_auth\b/,
    ],
    [
      { id: "a", domain: "x.example", token_endpoint_auth_method: "client_secret_post" },
      /\bclient_secret_post\b/,
    ],
    [{ id: "a", domain: "x.example", redirect_uris: ["/cb"] }, /"\/cb"/],
  ] as const
) {
  test(`the error for registration ${JSON.stringify(registration).slice(0, 70)} names the invalid member`, () => {
    assert.throws(
      () => toClient(registration as Parameters<typeof toClient>[0], 0),
      (error: Error) => error instanceof TypeError && named.test(error.message),
    );
  });
}

test("listClients() returns all clients, and removeClient() removes one", async () => {
  const store = memoryStore();
  for (let i = 0; i < 250; i++) await addClient(store, { id: `c${i}`, secret: "s" });
  assert.is((await Array.fromAsync(listClients(store))).length, 250);
  assert.is(await removeClient(store, "c7"), true);
  assert.is(await removeClient(store, "c7"), false);
  assert.is((await Array.fromAsync(listClients(store))).length, 249);
});

test("user names that differ only in case or width are equal, and removal frees the name", async () => {
  const store = memoryStore();
  const user = await addUser(store, { username: "Alice", password: "p" }, 1000);
  assert.is(user.name, "Alice");
  for (const username of ["alice", "ALICE", "Ａlice"]) {
    const error = await addUser(store, { username, password: "p" }, 1000).catch((error) => error);
    assert.instance(error, TypeError, username);
    assert.match(error.message, `"${username}"`);
  }
  assert.is((await Array.fromAsync(listUsers(store))).length, 1);
  assert.is(await removeUser(store, "aLiCe"), true);
  assert.is(await removeUser(store, "alice"), false);
  // What refuses a login that is under way expires.
  assert.equal((await store.list([])).map(({ key: [kind] }) => kind), ["signed_out"]);
});

for (const username of ["", " alice", "a\u0000b", "x".repeat(200)]) {
  test(`a user named ${JSON.stringify(username).slice(0, 30)} is refused`, async () => {
    const error = await addUser(memoryStore(), { username, password: "p" }, 1000).catch((error) => error);
    assert.instance(error, TypeError);
    assert.match(error.message, /\buser name must\b/);
  });
}

test("a user must have a password of 1 to 1024 characters", async () => {
  for (const password of ["", "x".repeat(1025)]) {
    const error = await addUser(memoryStore(), { username: "a", password }, 1000).catch((error) => error);
    assert.instance(error, TypeError);
    assert.match(error.message, /\bpassword\b.*\b1024\b/);
  }
});

test.run();
