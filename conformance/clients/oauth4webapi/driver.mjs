import * as oauth from "oauth4webapi";
import { base, clientId, clientSecret, drive, redirectUri, scope, signIn } from "../drive.mjs";

const insecure = { [oauth.allowInsecureRequests]: true };
const client = { client_id: clientId };
const authentication = oauth.ClientSecretBasic(clientSecret);

async function discover() {
  const issuer = new URL(base);
  const response = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
  return await oauth.processDiscoveryResponse(issuer, response);
}

async function getTokens() {
  const server = await discover();
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(server.authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  const callback = oauth.validateAuthResponse(server, client, await signIn(url), state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    callback,
    redirectUri,
    verifier,
    insecure,
  );
  return await oauth.processAuthorizationCodeResponse(server, client, response);
}

await drive({
  code: getTokens,
  client_credentials: async () => {
    const server = await discover();
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authentication,
      new URLSearchParams({ scope }),
      insecure,
    );
    return await oauth.processClientCredentialsResponse(server, client, response);
  },
  resource: async () => {
    const { access_token } = await getTokens();
    const url = new URL("/resource", base);
    const headers = new Headers();
    const response = await oauth.protectedResourceRequest(access_token, "GET", url, headers, null, insecure);
    return await response.json();
  },
});
