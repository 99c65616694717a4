// The library has no metadata, state or PKCE: the application adds what it needs. This driver adds nothing.
import { AuthorizationCode, ClientCredentials } from "simple-oauth2";
import { base, clientId, clientSecret, drive, redirectUri, scope, signIn } from "../drive.mjs";

const client = { id: clientId, secret: clientSecret };
const auth = { tokenHost: base, tokenPath: "/as/token" };

async function getToken() {
  const grant = new AuthorizationCode({ client, auth: { ...auth, authorizePath: "/as/authorize" } });
  const callback = await signIn(grant.authorizeURL({ redirect_uri: redirectUri, scope }));
  return await grant.getToken({ code: callback.searchParams.get("code"), redirect_uri: redirectUri });
}

await drive({
  code: getToken,
  client_credentials: () => new ClientCredentials({ client, auth }).getToken({ scope }),
  refresh: async () => {
    const token = await getToken();
    return await (await token.refresh()).refresh();
  },
});
