import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "../crypto/base64url.ts";
import { readCursor, writeCursor } from "../crypto/cursor.ts";
import { userFactorsKey } from "../oauth/factors/factor_record.ts";
import { newFactorServer } from "../oauth/factors/test_factors.ts";
import { toClient } from "../oauth/clients/client.ts";
import { providerKey, type StoredProvider } from "../oauth/records/provider_record.ts";
import { keepProviderTokens, readProviderTokens } from "../oauth/sign_in/provider_tokens.ts";
import { addProvider, createSecretSealer, openProvider } from "../oauth/sign_in/stored_provider.ts";
import { linkIdentity } from "../oauth/sign_in/user_identity.ts";
import { pairwiseSubject } from "../oauth/openid/subject.ts";
import { createProof, newKey } from "../oauth/test_keys.ts";
import { CLIENTS, ISSUER } from "../oauth/test_server.ts";
import { listUsers } from "../oauth/users/user.ts";
import { serverSecret } from "../server_secret.ts";
import { listSecretRecords } from "./read_secrets.ts";
import { rotateServerSecret } from "./rotate_secret.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";

const test = suite("server_secret/rotate_secret");
const FACTOR = "/login/factor?redirect=%2Fdevice";
const DAY = 86_400;
const IDENTITY = {
  issuer: "https://work.example",
  subject: "42",
  name: "Alice",
  emailVerified: false,
  groups: [],
  claims: {},
};

/** Two instances on a store with a settable clock. */
async function newInstances() {
  let offset = 0;
  const now = () => Date.now() + offset;
  const store: Store = Object.assign(memoryStore({ now }), { now });
  const open = () => newFactorServer({ store, now, secret: serverSecret(store), requireDpopNonce: false });
  const instances = [await open(), await open()] as const;
  const advance = (seconds: number) => {
    offset += seconds * 1000;
    // Their browsers have the same time.
    for (const each of instances) each.advance(seconds);
  };
  const pause = (milliseconds: number) => Promise.resolve(advance(milliseconds / 1000));
  return { store, now, instances, advance, pause, open };
}

for (const revokeOld of [false, true]) {
  test(`what users have stays after a rotation${revokeOld ? " that revokes the old secret" : ""}`, async () => {
    const { store, now, instances: [one, two], advance, pause } = await newInstances();
    const browser = one.newBrowser();
    const { secret } = await browser.addTotp();
    const [user] = await Array.fromAsync(listUsers(store));
    const id = user!.id;
    const access = { ...one.service.providerAccess, now };
    await linkIdentity(store, id, IDENTITY, { provider: "work", now: now() });
    await keepProviderTokens(access, id, "work", IDENTITY, { access_token: "kept", refresh_token: "more" });
    const find = serverSecret(store);
    const registration = { kind: "github", clientId: "trivet", clientSecret: "of GitHub" } as const;
    await addProvider(store, createSecretSealer(find), registration);
    const subject = await pairwiseSubject({ secret: find } as never, "app.example", id);
    const before = JSON.stringify([
      await store.get(userFactorsKey(id)),
      await store.list(["provider_tokens"]),
      await store.get(providerKey("github")),
    ]);

    const { resealed } = await rotateServerSecret(store, { pause, revokeOld });
    assert.is(resealed, 3);
    assert.ok(await browser.isSignedIn(), "a session");
    for (const days of [0, 31]) {
      advance(days * DAY + 60);
      const other = two.newBrowser();
      assert.is((await other.enterPassword()).location, FACTOR);
      const done = await other.post(FACTOR, { code: await two.codeOf(secret) });
      assert.is(done.location, "/device", `a second factor after ${days} days`);
      const kept = await readProviderTokens({ ...two.service.providerAccess, now }, id);
      assert.equal(kept[0]?.tokens, { access_token: "kept", refresh_token: "more" });
      const stored = (await store.get<StoredProvider>(providerKey("github")))!.value;
      assert.is((await openProvider(stored, createSecretSealer(serverSecret(store)))).id, "github");
      const again = await pairwiseSubject({ secret: serverSecret(store) } as never, "app.example", id);
      assert.is(again, subject);
    }
    const after = JSON.stringify([
      await store.get(userFactorsKey(id)),
      await store.list(["provider_tokens"]),
      await store.get(providerKey("github")),
    ]);
    for (const sealed of before.match(/"sealed(Secret)?":"[^"]+"/g)!) assert.not.ok(after.includes(sealed));
  });
}

test("refresh tokens stay, a retry across the rotation gets the same tokens, and a replay is still recognized", async () => {
  const { store, instances: [one, two], advance, pause } = await newInstances();
  const tokens = await one.tokens();
  const refresh = async (server: typeof one, refresh_token: string) =>
    await (await server.token({ grant_type: "refresh_token", refresh_token })).json();
  const rotating = rotateServerSecret(store, {
    async pause(milliseconds) {
      await pause(milliseconds - 3000);
      await two.send("/.well-known/jwks.json");
      const answer = await refresh(one, tokens.refresh_token!);
      await pause(3000);
      assert.equal(await refresh(two, tokens.refresh_token!), answer, "within the grace");
      tokens.next = answer.refresh_token;
    },
  });
  await rotating;
  const last = (await refresh(two, tokens.next!)).refresh_token;
  assert.ok(last);
  advance(60);
  assert.is((await refresh(one, tokens.refresh_token!)).error, "invalid_grant");
  assert.ok(one.events.some(({ type }) => type === "refresh_replayed"), "a token of the old secret");
  assert.is((await refresh(two, last)).error, "invalid_grant", "the family ended");
});

test("DPoP nonces, cursors, and a login that has begun go on across a rotation", async () => {
  const { store, pause } = await newInstances();
  const now = () => store.now!();
  const clients = CLIENTS.map((client) => toClient(client, 0));
  const server = await newFactorServer({
    store,
    now,
    clients,
    secret: serverSecret(store),
    requireDpopNonce: true,
  });
  const find = serverSecret(store);
  const key = await newKey();
  const ask = async (nonce?: string) => {
    const dpop = await createProof(key, ISSUER + "/oauth/token", {
      iat: Math.floor(now() / 1000),
      ...(nonce !== undefined && { nonce }),
    });
    return await server.token({ grant_type: "client_credentials" }, { dpop });
  };
  const nonce = (await ask()).headers.get("dpop-nonce")!;
  const cursor = writeCursor(await find(), "list", ["a"]);
  const browser = server.newBrowser();
  const page = await browser.get("/login");
  assert.is(page.status, 200);
  await rotateServerSecret(store, { pause });
  const answer = await ask(nonce);
  assert.is(answer.status, 200);
  assert.is.not(answer.headers.get("dpop-nonce"), null, "a newer nonce, of the new secret");
  assert.equal(readCursor(await find(), "list", cursor), ["a"]);
  assert.equal(readCursor(await find(), "list", writeCursor(await find(), "list", ["b"])), ["b"]);
  await rotateServerSecret(store, { pause, revokeOld: true });
  assert.is(readCursor(await find(), "list", cursor), undefined);
});

for (const revokeOld of [false, true]) {
  const finish = `${revokeOld ? "a new one that revokes it" : "the next one"}, and nothing is lost`;
  test(`a rotation that is killed between two records is finished by ${finish}`, async () => {
    const { store, instances: [one, two], advance, pause } = await newInstances();
    const { secret } = await one.newBrowser().addTotp();
    const find = serverSecret(store);
    await addProvider(store, createSecretSealer(find), { kind: "github", clientId: "a", clientSecret: "b" });
    let commits = 0;
    const dying: Store = Object.assign(Object.create(store), {
      get: store.get.bind(store),
      list: store.list.bind(store),
      now: store.now!.bind(store),
      // The first commit adds the secret, the second seals a record anew.
      commit: (...args: Parameters<Store["commit"]>) =>
        ++commits > 2 ? Promise.reject(new StoreUnavailableError("killed")) : store.commit(...args),
    });
    const failure = await rotateServerSecret(dying, { pause, revokeOld }).catch((error) => error);
    assert.is(failure.message, "killed");
    advance(31 * DAY);
    const login = async () => {
      const browser = two.newBrowser();
      await browser.enterPassword();
      return (await browser.post(FACTOR, { code: await two.codeOf(secret) })).location;
    };
    assert.is(await login(), "/device");
    const stored = async () => (await store.get<StoredProvider>(providerKey("github")))!.value;
    assert.ok(await openProvider(await stored(), createSecretSealer(serverSecret(store))));
    const { isResumed, resealed, secrets } = await rotateServerSecret(store, { pause, revokeOld });
    // One that revokes seals both records with a secret of its own.
    assert.equal([isResumed, resealed, secrets.length], revokeOld ? [false, 2, 1] : [true, 1, 2]);
    advance(60);
    assert.is(await login(), "/device");
    assert.ok(await openProvider(await stored(), createSecretSealer(serverSecret(store))));
  });
}

test("attack: the next secret of an interrupted rotation, read from a leaked backup, is refused after revokeOld", async () => {
  const { store, instances: [one], pause } = await newInstances();
  await one.newBrowser().addTotp();
  const interrupted = () => Promise.reject(new Error("interrupted"));
  await rotateServerSecret(store, { pause: interrupted }).catch(() => {});
  const leaked = await listSecretRecords(store);
  assert.is(leaked.length, 2);
  const { id, isResumed, secrets } = await rotateServerSecret(store, { pause, revokeOld: true });
  assert.equal([isResumed, secrets.map((each) => each.id)], [false, [id]]);
  const { current, accepted } = await serverSecret(store)();
  assert.equal(accepted, [current]);
  for (const { value } of leaked) assert.is.not(encodeBase64url(current), value.secret);
});

test("once a rotation that revokes is done, no instance accepts the old secret any more", async () => {
  const { store, advance } = await newInstances();
  const find = serverSecret(store);
  const cursor = writeCursor(await find(), "list", ["a"]);
  // The instance reads the secrets shortly before each end of a pause.
  const pause = async (milliseconds: number) => {
    advance((milliseconds - 100) / 1000);
    await find();
    advance(0.2);
  };
  await rotateServerSecret(store, { pause, revokeOld: true });
  assert.is(readCursor(await find(), "list", cursor), undefined);
});

test("after many rotations within the retention the newest secret signs, and all are accepted", async () => {
  const { store, pause } = await newInstances();
  for (let i = 0; i < 105; i++) await rotateServerSecret(store, { pause });
  const { id } = await rotateServerSecret(store, { pause });
  const secrets = await listSecretRecords(store);
  assert.is(secrets.at(-1)!.value.id, id);
  const { current, accepted } = await serverSecret(store)();
  assert.is(encodeBase64url(current), secrets.at(-1)!.value.secret);
  assert.is(accepted.length, secrets.length);
  assert.ok(accepted.length > 100);
});

test("a record that was sealed with the old secret at the last moment is sealed anew", async () => {
  const { store, pause } = await newInstances();
  const old = serverSecret(store);
  await old();
  const sealedLate = createSecretSealer(() => old());
  let passes = 0;
  const late: Store = Object.assign(Object.create(store), {
    get: store.get.bind(store),
    commit: store.commit.bind(store),
    now: store.now!.bind(store),
    async list(...args: Parameters<Store["list"]>) {
      const listed = await store.list(...args);
      // After the first pass has read the providers, an instance commits what it sealed long ago.
      if (args[0][0] === "provider" && passes++ === 0) {
        await store.commit({ set: [{ key: providerKey("b"), value: { ...first, id: "b" } }] });
      }
      return listed;
    },
  });
  const first = await addProvider(store, sealedLate, {
    kind: "github",
    id: "a",
    clientId: "a",
    clientSecret: "x",
  });
  const { resealed } = await rotateServerSecret(late, { pause, revokeOld: true });
  assert.is(resealed, 2);
  const stored = (await store.get<StoredProvider>(providerKey("b")))!.value;
  assert.ok(await openProvider(stored, createSecretSealer(serverSecret(store))));
});

test.run();
