import { suite } from "uvu";
import * as assert from "uvu/assert";
import { listSecretRecords } from "../../server_secret/read_secrets.ts";
import { serverSecret } from "../../server_secret.ts";
import { createSigningKeys } from "../../oauth/tokens/signing_keys.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { newAdmin } from "../test_admin.ts";

const test = suite("admin/keys_of_server");

/** @param maxTokenLifetime seconds */
function createKeys(store: Store, maxTokenLifetime = 7200) {
  return createSigningKeys({
    store,
    now: Date.now,
    signingAlgorithms: ["ES256"],
    signingKeyLifetime: 90 * 86_400,
    signingKeyNotice: 86_400,
    maxTokenLifetime,
  });
}

test("signing keys are listed, rotated, and replaced after a compromise, and no answer has a key", async () => {
  const { call, refuse, store, events } = newAdmin();
  assert.equal((await call("rotateSigningKeys")).data, []);
  const keys = createKeys(store);
  const { kid } = await keys.current();
  const [only] = (await call("listSigningKeys")).data;
  assert.equal([only.id, only.state, only.accepted_until], [kid, "current", null]);
  const rotated = await call("rotateSigningKeys", { notice_seconds: 3600 });
  assert.equal(rotated.data.map(({ state }: { state: string }) => state), ["current", "next"]);
  const replaced = await call("rotateSigningKeys", { revoke_old: true });
  assert.is(replaced.data.length, 1);
  assert.is.not(replaced.data[0].id, kid);
  const stored = JSON.stringify(await store.list(["signing_key"]));
  for (const secret of stored.match(/"d":"[^"]+"/g)!) assert.not(JSON.stringify(replaced).includes(secret));
  assert.is((await refuse("rotateSigningKeys", { algorithms: ["RS256"] }))[0], 400);
  assert.is((await refuse("rotateSigningKeys", { algorithms: ["none"] }))[0], 400);
  const subjects = events.map((event) => event.type === "admin_changed" && [event.operation, event.subject]);
  assert.equal(subjects.at(-1), ["rotateSigningKeys", replaced.data[0].id]);
});

test("a key that is rotated is published as long as the tokens of the server are valid", async () => {
  const { call, store } = newAdmin(memoryStore(), { maxTokenLifetime: 5 * 86_400 });
  const keys = createKeys(store, 5 * 86_400);
  await keys.current();
  const [old, next] = (await call("rotateSigningKeys", { notice_seconds: 0 })).data;
  assert.is(Date.parse(old.accepted_until) - Date.parse(next.signs_from), (5 * 86_400 + 3600) * 1000);
});

test("the server secret is rotated, and the answer has its id only", async () => {
  let at = Date.now();
  // Each look at the clock is half a minute later, so that the rotation does not wait.
  const now = () => at += 30_000;
  const { call, store } = newAdmin(Object.assign(memoryStore({ now: () => at }), { now }));
  await serverSecret(store)();
  const { id, resumed, resealed, secrets } = await call("rotateServerSecret", { keep_days: 7 });
  assert.equal([resumed, resealed, secrets.length], [false, 0, 2]);
  assert.equal([secrets[1].id, secrets[1].state, secrets[1].accepted_until], [id, "current", null]);
  const days = (Date.parse(secrets[0].accepted_until) - at) / 86_400_000;
  assert.ok(days > 6.9 && days <= 7, `${days} days`);
  for (const { value } of await listSecretRecords(store)) {
    assert.not(JSON.stringify(secrets).includes(value.secret));
  }
});

test.run();
