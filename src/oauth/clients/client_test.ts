import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { addClient, listClients, removeClient, toClient } from "./client.ts";
import { addUser, listUsers, removeUser } from "../users/user.ts";

const test = suite("oauth/client");

test("addClient() makes an id and a secret, and keeps only the secret's digest", async () => {
  const store = memoryStore();
  const { client, secret } = await addClient(store, { domain: "app.example" });
  assert.match(client.id, /^client_/);
  assert.match(secret!, /^trivet_cs_[A-Za-z0-9_-]{43}$/);
  assert.not.match(JSON.stringify(await store.list([])), secret!);
  assert.equal(client.grant_types, ["authorization_code", "refresh_token", "client_credentials"]);
});

test("addClient() of an id that is taken is refused, and changes nothing", async () => {
  const store = memoryStore();
  await addClient(store, { id: "a", domain: "one.example" });
  const message = await addClient(store, { id: "a", domain: "two.example" }).catch((error) => error.message);
  assert.is(message, 'Cannot register client "a": the id is taken');
  const [client] = await Array.fromAsync(listClients(store));
  assert.is(client?.domain, "one.example");
});

test("addClient() takes no id that is an address: such ids are of documents", async () => {
  const store = memoryStore();
  const adding = addClient(store, { id: "https://client.example/oauth", secret: "s" });
  const message = await adding.catch((error) => error.message);
  assert.match(message, "metadata document");
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
  const [registration, reason] of [
    [{ id: "", secret: "s" }, "1 to 256 printable"],
    [{ id: "a b", secret: "s" }, "1 to 256 printable"],
    [{ id: "x".repeat(257), secret: "s" }, "1 to 256 printable"],
    [{ id: "a", secret: "ü" }, "the secret must be"],
    [{ id: "a" }, "a secret, a domain or redirect URIs"],
    [
      { id: "a", domain: "x.example", grant_types: ["client_credentials"] },
      "client_credentials requires",
    ],
    [{ id: "a", secret: "s", grant_types: ["authorization_code"] }, "authorization_code requires"],
    [{ id: "a", secret: "s", grant_types: ["password"] }, "grant type password"],
    [{ id: "a", jwks: { keys: [] }, jwks_uri: "https://a.example/keys" }, "jwks and jwks_uri"],
    [{ id: "a", jwks_uri: "http://a.example/keys" }, "jwks_uri must"],
    [{ id: "a", jwks_uri: "https://127.0.0.1/keys" }, "jwks_uri must"],
    [{ id: "a", jwks: { keys: [{ kty: "oct", k: "AA" }] } }, "jwks: "],
    [
      { id: "a", domain: "x.example", token_endpoint_auth_method: "private_key_jwt" },
      "private_key_jwt requires",
    ],
    [
      { id: "a", domain: "x.example", token_endpoint_auth_method: "tls_client_auth" },
      "tls_client_auth requires",
    ],
    [
      { id: "a", domain: "x.example", token_endpoint_auth_method: "client_secret_post" },
      "client_secret_post requires",
    ],
    [{ id: "a", domain: "x.example", redirect_uris: ["/cb"] }, "/cb"],
  ] as const
) {
  test(`${JSON.stringify(registration).slice(0, 70)} is refused: ${reason}`, () => {
    assert.throws(
      () => toClient(registration as Parameters<typeof toClient>[0], 0),
      (error: Error) => error.message.includes(reason),
    );
  });
}

test("listClients() gives all of many, and removeClient() takes one", async () => {
  const store = memoryStore();
  for (let i = 0; i < 250; i++) await addClient(store, { id: `c${i}`, secret: "s" });
  assert.is((await Array.fromAsync(listClients(store))).length, 250);
  assert.is(await removeClient(store, "c7"), true);
  assert.is(await removeClient(store, "c7"), false);
  assert.is((await Array.fromAsync(listClients(store))).length, 249);
});

test("users: names that differ only in case or width are one; removal frees the name", async () => {
  const store = memoryStore();
  const user = await addUser(store, { username: "Alice", password: "p" }, 1000);
  assert.is(user.name, "Alice");
  for (const username of ["alice", "ALICE", "Ａlice"]) {
    const message = await addUser(store, { username, password: "p" }, 1000).catch((error) => error.message);
    assert.match(message, "taken");
  }
  assert.is((await Array.fromAsync(listUsers(store))).length, 1);
  assert.is(await removeUser(store, "aLiCe"), true);
  assert.is(await removeUser(store, "alice"), false);
  assert.equal(await store.list([]), []);
});

for (const username of ["", " alice", "a\u0000b", "x".repeat(200)]) {
  test(`a user named ${JSON.stringify(username).slice(0, 30)} is refused`, async () => {
    const message = await addUser(memoryStore(), { username, password: "p" }, 1000).catch((error) =>
      error.message
    );
    assert.match(message, "1 to 128 characters");
  });
}

test("a user needs a password of at most 1024 characters", async () => {
  for (const password of ["", "x".repeat(1025)]) {
    const message = await addUser(memoryStore(), { username: "a", password }, 1000).catch((error) =>
      error.message
    );
    assert.match(message, "1 to 1024 characters");
  }
});

test.run();
