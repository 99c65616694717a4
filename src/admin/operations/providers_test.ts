import { suite } from "uvu";
import * as assert from "uvu/assert";
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

test.run();
