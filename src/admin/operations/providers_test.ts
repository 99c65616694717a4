import { suite } from "uvu";
import * as assert from "uvu/assert";
import { providerTokensKey } from "../../oauth/records/provider_record.ts";
import type { Commit } from "../../store/store.ts";
import { newAdmin } from "../test_admin.ts";

const test = suite("admin/operations/providers");

test("a provider whose groups decide on a scope that the server does not have is refused", async () => {
  const { call, refuse } = newAdmin(undefined, { scopes: ["read", "write"] });
  const settings = { kind: "oidc", issuer: "https://login.example", client_id: "id" };
  const isRefused = async (name: string, input: object) => (await refuse(name, input))[0];
  assert.is(await isRefused("addProvider", { ...settings, scopes: { wriet: ["Staff"] } }), 400);
  await call("addProvider", { ...settings, scopes: { write: ["Staff"] } });
  assert.is(
    await isRefused("updateProvider", { provider: "oidc", scopes: { read: ["A"], wriet: ["A"] } }),
    400,
  );
  assert.equal((await call("showProvider", { provider: "oidc" })).scopes, { write: ["Staff"] });
  assert.not.ok("scopes" in await call("updateProvider", { provider: "oidc", scopes: null }));
});

test("tokens that are kept while a provider becomes another client end, too", async () => {
  const { store, call } = newAdmin();
  await call("addProvider", { kind: "oidc", issuer: "https://login.example", client_id: "id" });
  const key = providerTokensKey("user_1", "oidc");
  const { commit } = store;
  Object.assign(store, {
    async commit(changes: Commit) {
      if (changes.set?.some(({ key }) => key[0] === "provider")) {
        const value = { issuer: "https://login.example", subject: "1", sealed: "", hasRefreshToken: false };
        await commit.call(store, { set: [{ key, value }] });
      }
      return await commit.call(store, changes);
    },
  });
  await call("updateProvider", { provider: "oidc", client_id: "other" });
  assert.is(await store.get(key), undefined);
});

test.run();
