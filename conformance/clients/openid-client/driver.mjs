import * as openid from "openid-client";
import { base, clientId, clientSecret, drive, redirectUri, scope, signIn } from "../drive.mjs";

const discover = () =>
  openid.discovery(
    new URL(base),
    clientId,
    undefined,
    openid.ClientSecretBasic(clientSecret),
    { algorithm: "oauth2", execute: [openid.allowInsecureRequests] },
  );

async function getTokens(config) {
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  return await openid.authorizationCodeGrant(config, await signIn(url), checks);
}

await drive({
  code: async () => await getTokens(await discover()),
  client_credentials: async () => await openid.clientCredentialsGrant(await discover(), { scope }),
  device: async () => {
    const config = await discover();
    const device = await openid.initiateDeviceAuthorization(config, { scope });
    return await openid.pollDeviceAuthorizationGrant(config, device);
  },
  resource: async () => {
    const config = await discover();
    const { access_token } = await getTokens(config);
    const url = new URL("/resource", base);
    return await (await openid.fetchProtectedResource(config, access_token, url, "GET")).json();
  },
});
