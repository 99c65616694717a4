import { suite } from "uvu";
import * as assert from "uvu/assert";
import { layeredStore } from "../store/drivers/layered.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { CACHED } from "../store/store.ts";
import { createApiKey, listApiKeys, removeApiKey, updateApiKey, verifyApiKey } from "./api_key.ts";

const test = suite("skills/api_key");

test("a key identifies its workspace and scopes", async () => {
  const store = memoryStore();
  const { key, secret } = await createApiKey(store, {
    name: "ci",
    workspace: "team",
    scopes: ["skills:read"],
  });
  assert.match(secret, /^trivet_key_[A-Za-z0-9_-]{43}$/);
  const { isStillValid, ...principal } = (await verifyApiKey(store, secret))!;
  assert.equal(principal, { client: key.id, workspace: "team", scopes: new Set(["skills:read"]) });
  assert.ok(await isStillValid!());
  await removeApiKey(store, key.id);
  assert.not.ok(await isStillValid!());
});

test("a key that has lost a scope is no longer what the caller was authorized by", async () => {
  const store = memoryStore();
  const { key: { id }, secret } = await createApiKey(store, { name: "ci", scopes: ["skills:read"] });
  const { isStillValid } = (await verifyApiKey(store, secret))!;
  await updateApiKey(store, id, { name: "other", scopes: ["skills:write", "skills:read"] });
  assert.ok(await isStillValid!());
  await updateApiKey(store, id, { scopes: ["skills:write"] });
  assert.not.ok(await isStillValid!());
});

test("a key without workspace and scopes reads and writes the default workspace", async () => {
  const store = memoryStore();
  const { secret } = await createApiKey(store, { name: "x" });
  const principal = await verifyApiKey(store, secret);
  assert.is(principal?.workspace, "default");
  assert.equal([...principal!.scopes], ["skills:read", "skills:write"]);
});

test("an unknown, partial or empty secret is not valid", async () => {
  const store = memoryStore();
  const { secret } = await createApiKey(store, { name: "x" });
  for (const other of ["", "trivet_key_", secret.slice(0, -1), secret + "A", secret.toUpperCase()]) {
    assert.is(await verifyApiKey(store, other), undefined);
  }
});

test("createApiKey() does not wait for cached copies to expire", async () => {
  // A commit that waits for cached copies takes an hour here.
  const store = layeredStore(memoryStore(), { lifetime: 3_600_000 });
  await store.get(["api_key", "unknown"], CACHED);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => timer = setTimeout(resolve, 20_000));
  const made = await Promise.race([createApiKey(store, { name: "x" }), late]);
  clearTimeout(timer);
  assert.ok(made && await verifyApiKey(store, made.secret));
});

test("the store does not contain the secret", async () => {
  const store = memoryStore();
  const { secret } = await createApiKey(store, { name: "x" });
  assert.not.match(JSON.stringify(await store.list([])), secret.slice("trivet_key_".length));
});

test("all keys are listed, and a removed key is not valid", async () => {
  const store = memoryStore();
  const made = [];
  for (let i = 0; i < 130; i++) made.push(await createApiKey(store, { name: `k${i}` }));
  assert.equal(
    (await Array.fromAsync(listApiKeys(store))).map(({ name }) => name).sort(),
    made.map(({ key }) => key.name).sort(),
  );
  const { key, secret } = made[129]!;
  assert.is(await removeApiKey(store, key.id), true);
  assert.is(await removeApiKey(store, key.id), false);
  assert.is(await verifyApiKey(store, secret), undefined);
  assert.ok(await verifyApiKey(store, made[0]!.secret));
});

test.run();
