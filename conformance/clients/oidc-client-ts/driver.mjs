import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from "oidc-client-ts";
import { base, clientId, clientSecret, drive, redirectUri, scope, signIn } from "../drive.mjs";

const client = new OidcClient({
  authority: base,
  client_id: clientId,
  client_secret: clientSecret,
  client_authentication: "client_secret_basic",
  redirect_uri: redirectUri,
  scope,
  stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
});

async function getTokens() {
  const { url } = await client.createSigninRequest({});
  return await client.processSigninResponse((await signIn(url)).href);
}

await drive({
  code: getTokens,
  refresh: async () => {
    let tokens = await getTokens();
    for (let round = 0; round < 2; round++) {
      const { refresh_token, profile, session_state } = tokens;
      const state = { refresh_token, profile, session_state, scope };
      tokens = { ...tokens, ...await client.useRefreshToken({ state }) };
    }
    return tokens;
  },
});
