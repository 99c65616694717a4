import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { interruptAfter } from "../../store/test_meanwhile.ts";
import { findLinkedUser } from "../sign_in/linked_account.ts";
import { removeUser } from "../users/remove_user.ts";
import { ISSUER } from "../test_server.ts";
import { addUser } from "../users/user.ts";
import {
  addPasskey,
  removeFactors,
  removeTotp,
  renewRecoveryCodes,
  setTotp,
  toFactorName,
} from "./change_factors.ts";
import type { Passkey } from "./factor_record.ts";

import { newAuthenticator } from "./test_authenticator.ts";
import { codesOf, newFactorServer, optionsOf } from "./test_factors.ts";

const test = suite("oauth/factors/change_factors");
const PASSKEY: Passkey = { id: "aWQ", publicKey: "a2V5", name: "Phone", counter: 0, created: 1 };
const TOTP = { sealed: "x", created: 1, step: 1 };

async function left(store: ReturnType<typeof memoryStore>) {
  return [...await store.list(["user_factors"]), ...await store.list(["passkey"])].length;
}

test("removeFactors() removes every factor and the codes of a user, and frees the passkeys", async () => {
  const store = memoryStore();
  assert.not(await removeFactors(store, "u1"));
  await setTotp(store, "u1", TOTP);
  assert.ok(await addPasskey(store, "u1", PASSKEY));
  assert.not(await addPasskey(store, "u2", PASSKEY));
  assert.is((await renewRecoveryCodes(store, "u1", 1))?.length, 10);
  assert.ok(await removeFactors(store, "u1"));
  assert.is(await left(store), 0);
  assert.ok(await addPasskey(store, "u2", PASSKEY));
});

test("a name that is too long is cut without half of a surrogate pair", () => {
  assert.ok(toFactorName("x".repeat(63) + "\u{1f600}").isWellFormed());
});

test("without a factor there are no recovery codes", async () => {
  const store = memoryStore();
  assert.is(await renewRecoveryCodes(store, "u1", 1), undefined);
  await setTotp(store, "u1", TOTP);
  assert.ok(await renewRecoveryCodes(store, "u1", 1, true));
  assert.is(await renewRecoveryCodes(store, "u1", 1, true), undefined);
  await removeTotp(store, "u1");
  assert.is(await left(store), 0);
});

test("a factor whose recovery codes were not stored offers new ones", async () => {
  const server = await newFactorServer();
  const browser = server.newBrowser();
  await browser.enterPassword();
  const form = await browser.get("/account/factors/passkey");
  const credential = await (await newAuthenticator(ISSUER)).create(optionsOf(form.text));
  // The challenge is used, the passkey is stored.
  const restore = interruptAfter(server.store, 2);
  assert.is((await browser.post("/account/factors/passkey", { credential, label: "a" })).status, 503);
  assert.is(restore(), true);
  assert.match((await browser.get("/account/factors")).text, 'action="/account/factors/codes"');
  assert.is(codesOf((await browser.post("/account/factors/codes", {})).text).length, 10);
});

test("recovery codes that were stored are shown, whatever fails after that", async () => {
  const store = memoryStore();
  await setTotp(store, "u1", TOTP);
  const { commit } = store;
  Object.assign(store, {
    async commit(...call: Parameters<typeof commit>) {
      const done = await commit.apply(store, call);
      Object.assign(store, { get: () => Promise.reject(new StoreUnavailableError("interrupted")) });
      return done;
    },
  });
  assert.is((await renewRecoveryCodes(store, "u1", 1, true))?.length, 10);
});

test("of ten concurrent passkeys all are kept", async () => {
  const store = memoryStore();
  const ids = Array.from({ length: 10 }, (_, i) => `id${i}`);
  const added = await Promise.all(ids.map((id) => addPasskey(store, "u1", { ...PASSKEY, id })));
  assert.ok(added.every(Boolean));
  const [entry] = await store.list<{ passkeys: Passkey[] }>(["user_factors"]);
  assert.equal(entry!.value.passkeys.map(({ id }) => id).sort(), ids);
});

test("factors end with their user", async () => {
  const store = memoryStore();
  const { id } = await addUser(store, { username: "alice", password: "wonderland" }, 1000);
  await addPasskey(store, id, PASSKEY);
  assert.ok(await removeUser(store, "alice"));
  assert.is(await left(store), 0);
  const identity = {
    issuer: "https://idp.example",
    subject: "1",
    emailVerified: false,
    groups: [],
    claims: {},
  };
  const linked = await findLinkedUser(store, identity, { provider: "idp", role: undefined, now: 1 });
  await addPasskey(store, linked.id, PASSKEY);
  assert.ok(await removeUser(store, linked.id));
  assert.is(await left(store), 0);
});

test.run();
