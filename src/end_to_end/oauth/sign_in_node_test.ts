/**
 * Sign-in at real identity providers, from the bare URL of an MCP server: oidc-provider, Debian's Glewlwyd, another Trivet.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser } from "../../mod.ts";
import { serverSecret } from "../../server_secret.ts";
import {
  addProvider,
  createSecretSealer,
  getProviderToken,
  listLinkedUsers,
  oidc,
  readProviderTokens,
  revokeProviderTokens,
  type SignInProvider,
} from "../../sign_in.ts";
import { isGlewlwydInstalled, startGlewlwyd } from "./test_glewlwyd.ts";
import { isOidcProviderInstalled, OIDC_PROVIDER, startOidcProvider } from "./test_oidc_provider.ts";
import { callFromBareUrl, start } from "./test_sign_in.ts";

const test = suite("sign-in at real identity providers");

async function checkSignIn(
  provider: SignInProvider,
  login: Record<string, string>,
  subject?: string,
): Promise<void> {
  const own = await start("localhost", () => ({ signIn: [provider], passwordLogin: false }));
  try {
    const caller = await callFromBareUrl(own.issuer, login);
    assert.match(caller, /^user_/);
    const [user] = await Array.fromAsync(listLinkedUsers(own.store));
    assert.is(user!.id, caller);
    if (subject !== undefined) assert.is(user!.subject, subject);
    // The next sign-in, in another browser, is the same user.
    assert.is(await callFromBareUrl(own.issuer, login), caller);
  } finally {
    await own.server.close();
  }
}

if (isOidcProviderInstalled) {
  test("an MCP client with nothing but a URL signs its user in at oidc-provider", async () => {
    const { vars: { users: { alice } } } = JSON.parse(
      readFileSync(join(OIDC_PROVIDER, "target.json"), "utf8"),
    );
    const upstream = await startOidcProvider();
    try {
      const { issuer } = upstream;
      const login = { name: alice.name, password: alice.password };
      const own = await start("localhost", () => ({ storedProviders: true }));
      try {
        const registered = await fetch(`${issuer}/reg`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            redirect_uris: [`${own.issuer}/login/work/callback`],
            application_type: "native",
            token_endpoint_auth_method: "client_secret_basic",
          }),
        });
        assert.is(registered.status, 201);
        const { client_id, client_secret } = await registered.json();
        await addProvider(own.store, createSecretSealer(serverSecret(own.store)), {
          kind: "oidc",
          id: "work",
          name: "Work",
          issuer,
          clientId: client_id,
          clientSecret: client_secret,
        });
        const caller = await callFromBareUrl(own.issuer, login);
        const [user] = await Array.fromAsync(listLinkedUsers(own.store));
        assert.equal([user!.id, user!.subject, user!.issuer], [caller, alice.name, issuer]);
        assert.is(await callFromBareUrl(own.issuer, login), caller);
      } finally {
        await own.server.close();
      }
    } finally {
      upstream.stop();
    }
  });
} else skipBecause(test, "oidc-provider is not installed (npm ci in conformance/targets/oidc-provider)");

if (isGlewlwydInstalled) {
  test("an MCP client with nothing but a URL signs its user in at Glewlwyd, whose tokens are kept, refreshed and revoked", async () => {
    const upstream = await startGlewlwyd();
    try {
      const client = { clientId: "trivet", clientSecret: "a secret: 100% & more" };
      const { issuer } = upstream;
      const provider = oidc({
        id: "work",
        name: "Work",
        issuer,
        ...client,
        scope: "openid read",
        keepTokens: true,
      });
      const own = await start("localhost", () => ({ signIn: [provider], passwordLogin: false }));
      try {
        await upstream.addClient({
          id: client.clientId,
          secret: client.clientSecret,
          redirect_uri: `${own.issuer}/login/work/callback`,
        });
        const caller = await callFromBareUrl(own.issuer, {}, upstream);
        const [user] = await Array.fromAsync(listLinkedUsers(own.store));
        assert.equal([user!.id, user!.issuer], [caller, issuer]);
        assert.is(await callFromBareUrl(own.issuer, {}, upstream), caller);
        const access = own.trivet.oauth!.providerAccess;
        const userInfo = async (token?: string) =>
          await fetch(`${issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
        const first = await getProviderToken(access, caller, "work");
        const info = await (await userInfo(first!.access_token)).json();
        assert.is(info.sub, user!.subject);
        // An hour later the token is refreshed.
        const later = { ...access, now: () => Date.now() + 3_600_000 };
        const second = await getProviderToken(later, caller, "work");
        assert.is.not(second!.access_token, first!.access_token);
        const response = await userInfo(second!.access_token);
        assert.is(response.status, 200);
        await response.body?.cancel();
        await revokeProviderTokens(access, caller, await readProviderTokens(access, caller));
        assert.equal(own.events.filter(({ type }) => type === "provider_tokens_ended"), []);
        const refused = await userInfo(second!.access_token);
        assert.is(refused.status, 401);
        await refused.body?.cancel();
      } finally {
        await own.server.close();
      }
    } finally {
      await upstream.stop();
    }
  });
} else skipBecause(test, "Glewlwyd is not installed (apt-get install glewlwyd)");

test("an MCP client with nothing but a URL signs its user in at another Trivet", async () => {
  const CLIENT = { clientId: "other", clientSecret: "a secret of 32 characters or more" };
  const upstream = await start("127.0.0.1", () => ({
    openid: true,
    passwordIterations: 1000,
    clients: [{
      id: CLIENT.clientId,
      secret: CLIENT.clientSecret,
      domain: "unused.example",
      redirect_uris: ["http://localhost/login/work/callback"],
    }],
  }));
  try {
    const alice = await addUser(upstream.store, { username: "alice", password: "wonderland" }, 1000);
    const provider = oidc({ id: "work", name: "Work", issuer: upstream.issuer, ...CLIENT });
    await checkSignIn(provider, { username: "alice", password: "wonderland" }, alice.id);
  } finally {
    await upstream.server.close();
  }
});

test.run();
