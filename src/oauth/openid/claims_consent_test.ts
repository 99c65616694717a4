/**
 * The `claims` parameter releases only what the user allowed: consent to the scope that a claim belongs to.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Grant } from "../records/grant_record.ts";
import { APP_URI, transactionOf } from "../test_server.ts";
import { OPENID_SCOPES } from "./options.ts";
import { newProvider, type TestProvider } from "./test_provider.ts";

const test = suite("oauth/openid/claims_consent");
const CLAIMS = JSON.stringify({ userinfo: { email: null }, id_token: { email: null } });
const PARAMETERS = { scope: "openid", claims: CLAIMS };

const ask = (server: TestProvider, cookie: string, parameters: Record<string, string>) =>
  server.send(server.authorizePath(parameters), { headers: { cookie } });

/** Redeems a code: the e-mail address in the ID token and in UserInfo. */
async function emailsOf(server: TestProvider, code: string | null, form: Record<string, string> = {}) {
  const response = await server.token({
    grant_type: "authorization_code",
    code: code!,
    redirect_uri: APP_URI,
    ...form,
  });
  const tokens = await response.json();
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  const info = await (await server.send("/oauth/userinfo", { headers })).json();
  return { scope: tokens.scope, emails: [(await server.verify(tokens.id_token)).claims.email, info.email] };
}

test("attack: claims that the user has not allowed are asked for, though the scope was allowed before", async () => {
  const server = await newProvider();
  await server.signInWith();
  const cookie = await server.signIn();
  assert.is((await ask(server, cookie, { scope: "openid" })).status, 302, "the remembered consent");
  const silent = await ask(server, cookie, { ...PARAMETERS, prompt: "none" });
  assert.is(new URL(silent.headers.get("location")!).searchParams.get("error"), "consent_required");
  const page = await ask(server, cookie, PARAMETERS);
  assert.is(page.status, 200);
  const text = await page.text();
  assert.match(text, OPENID_SCOPES.email!.description);
  const form = { transaction: transactionOf(text), decision: "approve" };
  const allowed = await server.send("/oauth/authorize", { form, headers: { cookie } });
  const code = new URL(allowed.headers.get("location")!).searchParams.get("code");
  const address = "alice@example.com";
  assert.equal(await emailsOf(server, code), { scope: "openid", emails: [address, address] });
  assert.is((await ask(server, cookie, PARAMETERS)).status, 302, "remembered with the claims");
});

test("claims of granted scopes need no more consent", async () => {
  const server = await newProvider();
  await server.signInWith({ scope: "openid email" });
  const cookie = await server.signIn();
  for (const scope of ["openid email", "openid"]) {
    assert.is((await ask(server, cookie, { ...PARAMETERS, scope })).status, 302, scope);
  }
});

test("attack: claims of a scope that the client may not have, or the user may not grant, are not released", async () => {
  const client = {
    id: "limited",
    secret: "secret of limited",
    redirect_uris: [APP_URI],
    scope: "openid read",
  };
  const server = await newProvider({}, {}, [client]);
  const as = { client_id: "limited", client_secret: "secret of limited" };
  const code = (await server.authorize({ ...PARAMETERS, client_id: "limited" })).get("code");
  assert.equal((await emailsOf(server, code, as)).emails, [undefined, undefined]);
  const email = { description: "See your address", role: "admin" } as const;
  const strict = await newProvider({}, { scopes: { profile: "See your name", ...OPENID_SCOPES, email } });
  const mine = (await strict.authorize(PARAMETERS)).get("code");
  assert.equal((await emailsOf(strict, mine)).emails, [undefined, undefined]);
});

test("attack: a grant of an earlier version, for whose claims the user was not asked, releases none", async () => {
  const server = await newProvider();
  const { tokens } = await server.signInWith(PARAMETERS);
  const [entry] = await server.store.list<Grant>(["grant"]);
  const { key, value, expires } = entry!;
  const { claim_scope, ...openid } = value.openid!;
  assert.is(claim_scope, "email");
  await server.store.commit({ set: [{ key, value: { ...value, openid }, expires }] });
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  assert.not.ok("email" in await (await server.send("/oauth/userinfo", { headers })).json());
  const form = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
  const refreshed = await (await server.token(form)).json();
  assert.not.ok("email" in (await server.verify(refreshed.id_token)).claims);
});

test.run();
