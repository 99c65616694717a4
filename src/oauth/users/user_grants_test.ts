import { suite } from "uvu";
import * as assert from "uvu/assert";
import { beforeNextCommit } from "../../store/test_meanwhile.ts";
import { addClient } from "../clients/client.ts";
import { endUserGrant } from "../grants/end_grants.ts";
import { type Grant, grantKey, userGrantKey } from "../records/grant_record.ts";
import { APP_URI, newServer, type TestServer, transactionOf } from "../test_server.ts";
import { listUsers } from "./user.ts";
import { listUserGrants } from "./user_grants.ts";

const test = suite("oauth/user_grants");
const DAY = 86_400;

async function aliceOf({ store }: TestServer): Promise<string> {
  for await (const { id } of listUsers(store)) return id;
  throw new Error("no user");
}
const refresh = (server: TestServer, refresh_token: string | undefined) =>
  server.token({ grant_type: "refresh_token", refresh_token });
const isActive = async (server: TestServer, token: string | undefined): Promise<boolean> =>
  (await server.send("/api/user", { headers: { authorization: `Bearer ${token}` } })).status !== 401;
const indexOf = async ({ store }: TestServer) => await store.list(["user_grant"]);

test("a grant is listed with its client, scope, resources and last use", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const { refresh_token } = await server.tokens({ scope: "read write" });
  const [grant, ...others] = await listUserGrants(server.store, user);
  assert.equal(others, []);
  const { grant: id, created, used, ...rest } = grant!;
  assert.is(id, refresh_token!.slice("trivet_rt_".length).split(".")[0]);
  assert.is(used, created);
  assert.equal(rest, { client: "app", client_name: "app", scope: "read write" });
  server.advance(3600);
  await refresh(server, refresh_token);
  const [later] = await listUserGrants(server.store, user, new Map([["app", { name: "The App" }]]));
  assert.equal([later!.client_name, later!.created], ["The App", created]);
  assert.ok(later!.used >= created + 3_600_000);
});

test("a client of the store has its name, and a resource is listed", async () => {
  const server = await newServer();
  await addClient(server.store, {
    id: "stored",
    name: "Stored",
    secret: "stored secret",
    redirect_uris: [APP_URI],
  });
  const resource = "https://as.example/mcp";
  const code = (await server.authorize({ client_id: "stored", resource })).get("code")!;
  await server.token({
    client_id: "stored",
    client_secret: "stored secret",
    grant_type: "authorization_code",
    code,
    redirect_uri: APP_URI,
  });
  const [grant] = await listUserGrants(server.store, await aliceOf(server));
  assert.equal([grant!.client_name, grant!.resource], ["Stored", [resource]]);
});

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`${accessTokenFormat}: a grant that is taken back ends its tokens, and the user is asked again`, async () => {
    const server = await newServer({ accessTokenFormat });
    const user = await aliceOf(server);
    const { access_token, refresh_token } = await server.tokens();
    const kept = await server.tokens({ scope: "write" });
    const cookie = await server.signIn();
    const open = async () => (await server.send(server.authorizePath(), { headers: { cookie } })).status;
    assert.is(await open(), 302, "the remembered consent");
    const id = refresh_token!.slice("trivet_rt_".length).split(".")[0]!;
    assert.is(await endUserGrant(server.store, "user_other", id), false);
    assert.is(await endUserGrant(server.store, user, "unknown"), false);
    assert.ok(await isActive(server, access_token));
    assert.is(await endUserGrant(server.store, user, id), true);
    assert.equal([await isActive(server, access_token), await isActive(server, kept.access_token)], [
      false,
      true,
    ]);
    assert.is((await refresh(server, refresh_token)).status, 400);
    assert.is(await open(), 200, "the consent page");
    assert.is((await listUserGrants(server.store, user)).length, 1);
    assert.is((await indexOf(server)).length, 1);
    assert.is(await endUserGrant(server.store, user, id), false);
  });
}

test("consents to other clients stay", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const { refresh_token } = await server.tokens();
  await server.authorize({ client_id: "web", redirect_uri: "https://web.example/cb" });
  await endUserGrant(server.store, user, refresh_token!.slice("trivet_rt_".length).split(".")[0]!);
  assert.equal((await server.store.list(["consent"])).map(({ key }) => key[2]), ["web"]);
});

test("attack: a refresh while the grant is taken back does not bring it back", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const { refresh_token } = await server.tokens();
  const id = refresh_token!.slice("trivet_rt_".length).split(".")[0]!;
  const ended = beforeNextCommit(
    server.store,
    async () => assert.is(await endUserGrant(server.store, user, id), true),
  );
  assert.is((await refresh(server, refresh_token)).status, 400);
  assert.ok(ended.isDone);
  assert.equal([await indexOf(server), await server.store.list(["grant"])], [[], []]);
});

test("a replayed code, a replayed refresh token and a revocation remove the index record", async () => {
  const server = await newServer();
  const code = (await server.authorize()).get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
  await server.token(form);
  assert.is((await indexOf(server)).length, 1);
  await server.token(form);
  assert.equal(await indexOf(server), []);
  const { refresh_token } = await server.tokens();
  const next = await (await refresh(server, refresh_token)).json();
  server.advance(31);
  await refresh(server, next.refresh_token);
  assert.is((await indexOf(server)).length, 1);
  await refresh(server, refresh_token);
  assert.equal(await indexOf(server), []);
  const revoked = await server.tokens();
  await server.send("/oauth/revoke", {
    form: { token: revoked.refresh_token, client_id: "app", client_secret: "app secret:&%+" },
  });
  assert.equal(await indexOf(server), []);
});

test("a device's grant is listed", async () => {
  const server = await newServer({ clients: [] });
  await addClient(server.store, {
    id: "tv",
    public: true,
    grant_types: ["urn:ietf:params:oauth:grant-type:device_code"],
    redirect_uris: [APP_URI],
  });
  const device = await (await server.send("/oauth/device_authorization", {
    form: { client_id: "tv", scope: "read" },
  })).json();
  const headers = { cookie: await server.signIn() };
  const page = await server.send("/device", { form: { user_code: device.user_code }, headers });
  const transaction = transactionOf(await page.text());
  await server.send("/device", { form: { transaction, decision: "approve" }, headers });
  const answer = await server.token({
    client_id: "tv",
    client_secret: undefined,
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: device.device_code,
  });
  assert.is(answer.status, 200);
  const [grant] = await listUserGrants(server.store, await aliceOf(server));
  assert.equal([grant!.client, grant!.scope], ["tv", "read"]);
  const [record] = await server.store.list(["grant"]);
  const [index] = await indexOf(server);
  assert.is(index!.expires, record!.expires, "without a refresh token");
});

test("the index record outlives the grant by a refresh lifetime at most, and is written about once in one", async () => {
  const server = await newServer({ refreshTokenLifetime: 7 * DAY });
  let { refresh_token } = await server.tokens();
  const writes = new Set<string>();
  for (let day = 0; day < 60; day++) {
    const [grant] = await server.store.list(["grant"]);
    const [index] = await indexOf(server);
    assert.ok(index!.expires! >= grant!.expires!, `day ${day}`);
    assert.ok(index!.expires! < grant!.expires! + 7 * DAY * 1000 + 1000);
    writes.add(index!.version);
    server.advance(DAY);
    ({ refresh_token } = await (await refresh(server, refresh_token)).json());
  }
  assert.ok(writes.size >= 5 && writes.size <= 10, `${writes.size} writes`);
  server.advance(15 * DAY);
  assert.equal(await indexOf(server), []);
});

test("a grant of an earlier version stays valid, and is listed after the next refresh", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const { refresh_token } = await server.tokens();
  const [entry] = await server.store.list<Grant>(["grant"]);
  const id = String(entry!.key[1]);
  const { used: _, listed: __, ...old } = entry!.value;
  await server.store.commit({
    set: [{ key: grantKey(id), value: old, expires: entry!.expires }],
    remove: [userGrantKey(user, id)],
  });
  assert.equal(await listUserGrants(server.store, user), []);
  assert.is((await refresh(server, refresh_token)).status, 200);
  assert.is((await listUserGrants(server.store, user))[0]?.grant, id);
});

test.run();
